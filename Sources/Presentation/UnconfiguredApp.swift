// An app that the configuration does not have (any more), while the database has receipts of it that have not
// ended. Nothing moves them on, and whoever looks must be told. Pure; any thread.

public import Domain
internal import Platform

/// An app with open receipts that is not configured.
public struct UnconfiguredApp: Sendable, Equatable {
  public let slug: String
  public let waiting: Int64
  public let pending: Int64

  /// - Returns: nil when no receipt of it is open.
  public init?(slug: String, _ counts: [ReceiptState: Int64]) {
    self.slug = slug
    waiting = counts[.waiting] ?? 0
    pending = counts[.pending] ?? 0
    guard waiting + pending > 0 else { return nil }
  }

  /// Every app with open receipts that is not configured, by slug.
  /// - Parameter counts: receipts by app and state.
  public static func all(
    _ counts: [(app: String, state: ReceiptState, count: Int64)], configured: some Sequence<String>
  ) -> [UnconfiguredApp] {
    let configured = Set(configured)
    var byApp: [String: [ReceiptState: Int64]] = [:]
    for (app, state, count) in counts where !configured.contains(app) {
      byApp[app, default: [:]][state] = count
    }
    return byApp.compactMap { UnconfiguredApp(slug: $0.key, $0.value) }.sorted { $0.slug < $1.slug }
  }

  /// What follows on the app's name.
  public var sentence: String {
    let counts = [(waiting, "waiting"), (pending, "pending")].filter { $0.0 > 0 }
      .map { "\(CountText.grouped($0.0)) \($0.1)" }.joined(separator: " and ")
    let (noun, verb) = waiting + pending == 1 ? ("receipt", "is") : ("receipts", "are")
    return "is not configured: its \(counts) \(noun) \(verb) kept, and nothing is decided or delivered"
  }

  public var advice: String {
    "Configure the app again, then reload receiptd: its receipts continue at once."
  }
}
