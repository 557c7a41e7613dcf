// An app that is not in the configuration while the database has open receipts of it. These receipts make no
// progress, so operators must be notified. Pure; called from any thread.

public import Domain
internal import Platform

/// An app with open receipts that is not configured.
public struct UnconfiguredApp: Sendable, Equatable {
  public let slug: AppSlug
  public let waiting: Int64
  public let pending: Int64

  /// - Returns: nil if the app has no open receipt.
  public init?(slug: AppSlug, _ counts: [ReceiptState: Int64]) {
    self.slug = slug
    waiting = counts[.waiting] ?? 0
    pending = counts[.pending] ?? 0
    guard waiting + pending > 0 else { return nil }
  }

  /// All apps with open receipts that are not configured, sorted by slug.
  /// - Parameter counts: receipts by app and state.
  public static func all(
    _ counts: [(app: AppSlug, state: ReceiptState, count: Int64)], configured: some Sequence<AppSlug>
  ) -> [UnconfiguredApp] {
    let configured = Set(configured)
    var byApp: [AppSlug: [ReceiptState: Int64]] = [:]
    for (app, state, count) in counts where !configured.contains(app) {
      byApp[app, default: [:]][state] = count
    }
    return byApp.compactMap { UnconfiguredApp(slug: $0.key, $0.value) }.sorted { $0.slug < $1.slug }
  }

  /// The predicate after the app's name.
  public var sentence: String {
    let counts = [(waiting, "waiting"), (pending, "pending")].filter { $0.0 > 0 }
      .map { "\(CountText.grouped($0.0)) \($0.1)" }.joined(separator: " and ")
    let (noun, verb) = waiting + pending == 1 ? ("receipt", "is") : ("receipts", "are")
    return "is not configured: its \(counts) \(noun) \(verb) kept, and nothing is decided or delivered"
  }

  public var advice: String {
    "Configure the app again, then reload receiptd: its receipts continue at once. If the app is gone: "
      + "receiptctl receipts cancel --app \(slug) --state pending --state waiting --why TEXT"
  }
}
