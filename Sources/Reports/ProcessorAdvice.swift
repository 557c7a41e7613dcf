// What to do when a payment processor refuses an app's credentials, as text. Pure; called from any thread.

public import Domain
internal import Platform

/// How to correct an app's access to the API of a processor.
public struct ProcessorAdvice: Sendable, Equatable {
  /// The processor's display name.
  public let label: String
  private let processor: ProcessorName
  private let key: String
  private let settings: [String]
  private let rights: String
  private let refresh: SecretRefresh?

  /// - Parameters:
  ///   - label: the processor's display name.
  ///   - key: the key of its section with the key for its API.
  ///   - settings: the other keys that its API judges.
  ///   - rights: what the key must be allowed to do, as a sentence without its full stop.
  ///   - refresh: how a corrected key takes effect; nil if its source is unknown.
  public init(
    _ processor: ProcessorName, label: String, key: String, settings: [String], rights: String,
    refresh: SecretRefresh?
  ) {
    self.processor = processor
    self.label = label
    self.key = key
    self.settings = settings
    self.rights = rights
    self.refresh = refresh
  }

  /// Sentences: `Correct apps.ios.pay (api_key, api_base), then run: receiptctl reload. About api_key: …`,
  /// the last without its full stop.
  public func correction(of app: AppSlug) -> String {
    let keys = ([key] + settings).joined(separator: ", ")
    return "Correct apps.\(app).\(processor) (\(keys)), \(SecretRefresh.command(refresh, of: key)). "
      + "About \(key): \(rights)"
  }
}

/// The calls to a processor that failed, and the payments that it did not report, in one period.
public struct ProcessorTroubles: Sendable, Equatable {
  /// How often the processor refused the credentials, or the request itself.
  public var refused: Int64 = 0
  /// Failed calls, by reason.
  public var failures: [String: Int64] = [:]
  /// Payments that were found paid although no callback had reported them.
  public var unreported: Int64 = 0

  /// - Parameter counts: by reason, as `Metrics.processorTroubles` counts them.
  public init(_ counts: [String: Int64]) {
    for (reason, count) in counts where count > 0 {
      switch reason {
      case "credentials", "refused": refused += count
      case Self.unreportedReason: unreported += count
      default: failures[reason, default: 0] += count
      }
    }
  }

  /// The results of lookups that are failed calls.
  public static let lookupResults = ["failed", "refused"]
  /// Why a processor could not serve an app's request.
  public static let backendReasons = ["credentials", "failed", "timeout", "unreachable", "unreadable"]
  /// The reason of `unreported` among the counts.
  public static let unreportedReason = "unreported"

  public var failed: Int64 { failures.values.reduce(0, +) }

  /// `timeout 8, unreachable 2`
  public var reasons: String {
    failures.sorted { $0.key < $1.key }.map { "\($0.key) \(CountText.grouped($0.value))" }
      .joined(separator: ", ")
  }
}
