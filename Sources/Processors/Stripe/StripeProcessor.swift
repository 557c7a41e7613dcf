// Stripe as a payment processor: signature, then meaning. Pure; any thread.

internal import Cryptography
public import Domain
internal import JSON

/// One app's Stripe settings, without its secrets.
public struct StripeSettings: Sendable, Equatable {
  /// Which events count.
  public enum Livemode: String, Sendable, CaseIterable {
    case any, live, test

    /// - Parameter live: what the event says of itself; nil counts as either.
    func accepts(_ live: Bool?) -> Bool {
      switch self {
      case .any: true
      case .live: live != false
      case .test: live != true
      }
    }
  }

  /// Whether events of connected accounts count (https://docs.stripe.com/connect/webhooks).
  public enum Accounts: Sendable, Equatable {
    case own
    case any
    case ownAnd([String])

    /// - Parameter account: the connected account; nil is the app's own.
    func accepts(_ account: String?) -> Bool {
      guard let account else { return true }
      switch self {
      case .own: return false
      case .any: return true
      case .ownAnd(let accounts): return accounts.contains(account)
      }
    }
  }

  /// How far the signature's time may be from now, either way.
  public var toleranceMilliseconds: Int64
  /// Which kind of event makes receipts; the other kind is kept.
  public var livemode: Livemode
  /// Metadata keys that may carry the user, in order.
  public var userKeys: [String]
  public var accounts: Accounts
  /// Where its API is, without a slash at the end.
  public var apiBase: String

  /// The defaults: 5 min, any mode, `ply_user_id` then `user_id`, no connected accounts, Stripe's own API.
  public init(
    toleranceMilliseconds: Int64 = 300_000, livemode: Livemode = .any,
    userKeys: [String] = ["ply_user_id", "user_id"], accounts: Accounts = .own,
    apiBase: String = "https://api.stripe.com"
  ) {
    self.toleranceMilliseconds = toleranceMilliseconds
    self.livemode = livemode
    self.userKeys = userKeys
    self.accounts = accounts
    self.apiBase = apiBase
  }
}

/// The kinds of Stripe's objects that a purchase is known by; Purchasely's `stripe_object_type`.
extension PurchaseKey {
  static func subscription(_ id: String) -> PurchaseKey {
    PurchaseKey(processor: StripeProcessor.name, type: StripeObjectType.subscription, id: id)
  }

  static func checkoutSession(_ id: String) -> PurchaseKey {
    PurchaseKey(processor: StripeProcessor.name, type: StripeObjectType.checkoutSession, id: id)
  }
}

enum StripeObjectType {
  static let subscription = PurchaseKey.ObjectType(rawValue: "subscription")
  static let checkoutSession = PurchaseKey.ObjectType(rawValue: "checkout_session")
}

/// Stripe's webhooks (https://docs.stripe.com/webhooks).
public struct StripeProcessor: PaymentProcessor {
  public static let name: ProcessorName = "stripe"
  /// How the ids of Stripe's own prices begin (https://docs.stripe.com/api/prices,
  /// https://docs.stripe.com/api/plans); a merchant's own names (`stripe.monthly_premium_123`) do not.
  static let pricePrefixes = ["price_", "plan_"]

  /// Stripe sends events of 30 days again (https://docs.stripe.com/webhooks), and lists those for a backfill.
  public static let repeatMilliseconds: Int64 = 30 * 86_400_000

  public static func rules(isAsked: Bool) -> ProcessorRules {
    ProcessorRules(
      isAsked: isAsked, pricePrefixes: pricePrefixes, repeatMilliseconds: repeatMilliseconds)
  }

  static let signatureHeader = "Stripe-Signature"

  private let settings: StripeSettings
  private let apiKey: String?
  private let verifier: StripeSignatureVerifier

  /// - Parameters:
  ///   - webhookSecrets: whole, with their `whsec_`; without any no webhook is genuine.
  ///   - apiKey: for asking Stripe; nil asks nothing.
  /// - Throws: when the cryptographic library refuses a key, which it does only without memory.
  public init(_ settings: StripeSettings, webhookSecrets: [String], apiKey: String? = nil) throws {
    self.settings = settings
    self.apiKey = apiKey
    verifier = try StripeSignatureVerifier(
      secrets: webhookSecrets, toleranceMilliseconds: settings.toleranceMilliseconds)
  }

  public var queries: (any ProcessorQueries)? {
    apiKey.map { StripeQueries(settings, apiKey: $0, base: settings.apiBase) }
  }

  public func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity {
    verifier.verify(headers: request.headers(Self.signatureHeader), body: request.body, now: now)
  }

  public func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    let reading = JSONDocument.read(body) { root in StripeEnvelope(root).map { read($0, now: now) } }
    // Genuine, and no JSON object: kept for a person to look at.
    return (reading ?? nil) ?? EventReading(id: nil, type: "", content: .nothing(.unparsed))
  }

  private func read(_ envelope: StripeEnvelope, now: Timestamp) -> EventReading {
    let reader = StripeReader(settings: settings, envelope: envelope, now: now)
    return EventReading(
      id: OutsideText.identifier(envelope.id), type: OutsideText.identifier(reader.type) ?? "",
      content: reader.content())
  }
}
