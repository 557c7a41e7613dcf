// Input of an app that was refused, or that could not be read: what, why, and what to do. The one value
// behind the lines of stats and doctor, the dashboard's overview and the alerts. It names no user, object or
// secret (R7). Pure; called from any thread.

public import Domain
internal import Platform

/// Input that made no context and no purchase.
public struct LostInput: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    /// Webhooks that were refused.
    case webhooks
    /// Contexts, and other requests of the app's clients, that were refused.
    case contexts
    /// Stored events that may report a payment, and could not be read.
    case events
  }

  public let kind: Kind
  public let app: AppSlug
  public let count: Int64
  /// By reason, as the label of the metric; of events, by their type and the field that could not be read.
  public let reasons: [String: Int64]
  /// Whether nothing of this kind was accepted meanwhile. Anybody can send what is refused, so a part of it
  /// may mean nothing.
  public let isTotal: Bool
  /// When the oldest came, if that is known.
  public let since: Timestamp?
  /// One sentence without its full stop.
  public let what: String
  /// What to do, as the end of a sentence.
  public let next: String

  private init(
    _ kind: Kind, _ app: AppSlug, _ reasons: [String: Int64], accepted: Int64?, since: Timestamp? = nil,
    what: String, next: String
  ) {
    (self.kind, self.app, self.reasons, self.since) = (kind, app, reasons, since)
    count = reasons.values.reduce(0, +)
    isTotal = kind == .events || accepted == 0
    self.what = what + (accepted == 0 ? ", and none was accepted" : "")
    self.next = next
  }

  /// `what: next`
  public var line: String { "\(what): \(next)" }

  /// - Parameters:
  ///   - refusals: by processor, by reason.
  ///   - accepted: how many were accepted meanwhile; nil if that is not known.
  ///   - time: the time in which these are counted, such as `in the last hour`.
  ///   - advice: what to do about a processor's; nil if it is not configured.
  /// - Returns: nil if none was refused.
  public static func webhooks(
    of app: AppSlug, _ refusals: [ProcessorName: [String: Int64]], accepted: Int64?, _ time: String,
    advice: (ProcessorName) -> WebhookAdvice?
  ) -> LostInput? {
    let reasons = refusals.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    let refused = RefusedWebhooks(reasons)
    guard refused.count > 0 else { return nil }
    let remedies = refusals.sorted { $0.key < $1.key }.map { processor, counts in
      advice(processor).map { RefusedWebhooks(counts).remedy($0, of: app) }
        ?? "apps.\(app).\(processor) is not in the configuration"
    }
    return LostInput(
      .webhooks, app, reasons, accepted: accepted,
      what: "\(CountText.of(refused.count, "webhook")) of \(app) refused \(refused.cause) \(time) "
        + "(\(refused.reasons))", next: remedies.joined(separator: "; "))
  }

  /// - Parameters: as for webhooks.
  public static func contexts(
    of app: AppSlug, _ reasons: [String: Int64], accepted: Int64?, _ time: String
  ) -> LostInput? {
    let refused = RefusedWebhooks(reasons)
    guard refused.count > 0 else { return nil }
    var remedies: [String] = []
    for remedy in Set(reasons.keys.map(remedy(ofReason:))).sorted() { remedies.append(remedy(app)) }
    remedies.append("then look again: receiptctl doctor --only contexts")
    return LostInput(
      .contexts, app, reasons, accepted: accepted,
      what: "\(CountText.of(refused.count, "request")) of the clients of \(app) refused \(time) "
        + "(\(refused.reasons))", next: remedies.joined(separator: "; "))
  }

  /// - Parameters:
  ///   - reasons: by type and field, such as `checkout.session.completed: data.object.payment_status`.
  ///   - since: when the oldest came.
  public static func events(of app: AppSlug, _ reasons: [String: Int64], since: Timestamp) -> LostInput? {
    let refused = RefusedWebhooks(reasons)
    guard refused.count > 0 else { return nil }
    return LostInput(
      .events, app, reasons, accepted: nil, since: since,
      what:
        "\(CountText.of(refused.count, "event")) of \(app) that may be paid purchases could not be read in "
        + "the last 24 h (\(refused.reasons)), so \(refused.count == 1 ? "it" : "they") made no receipt",
      next:
        "look at receiptctl events list --app \(app) --outcome unparsed; after an update of receiptd, run: "
        + "receiptctl events reprocess --app \(app) --outcome unparsed")
  }

  /// What to do about refused clients.
  private enum ClientRemedy: Int, Comparable {
    case credentials, user, keys, rate, content

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    func callAsFunction(_ app: AppSlug) -> String {
      switch self {
      case .credentials:
        "compare apps.\(app).client with the key or the token that the app sends; if they differ, correct "
          + "them, then run: receiptctl reload"
      case .user: "let the app name no other user than its token's"
      case .keys: "see in receiptd's log why the keys of apps.\(app).client.tokens cannot be fetched"
      case .rate:
        "if all clients share one address, set listen.proxies; if the load is real, raise "
          + "limits.contexts_per_address and limits.contexts_per_user, then restart receiptd"
      case .content: "correct what the app sends; the answer's detail names the field"
      }
    }
  }

  private static func remedy(ofReason reason: String) -> ClientRemedy {
    switch reason {
    case "limited": .rate
    case "keys_unavailable": .keys
    case "wrong_user": .user
    case "key", "malformed", "algorithm", "unknown_key", "signature", "no_expiry", "expired", "not_yet_valid",
      "issuer", "audience", "user":
      .credentials
    default: .content
    }
  }
}
