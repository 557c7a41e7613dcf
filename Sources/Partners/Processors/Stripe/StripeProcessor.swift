// Stripe as a payment processor: checks the signature, then interprets the event. Pure; any thread.

internal import Cryptography
public import Domain
public import Formats

/// One app's Stripe settings, without its secrets.
public struct StripeSettings: Sendable, Equatable {
  /// Which events are accepted.
  public enum Livemode: String, Sendable, CaseIterable {
    case any, live, test

    /// - Parameter live: the event's `livemode`; nil matches both modes.
    func accepts(_ live: Bool?) -> Bool {
      switch self {
      case .any: true
      case .live: live != false
      case .test: live != true
      }
    }
  }

  /// Whether events of connected accounts are accepted (https://docs.stripe.com/connect/webhooks).
  public enum Accounts: Sendable, Equatable {
    case own
    case any
    case ownAnd([String])

    /// - Parameter account: another account than the app's own.
    func accepts(_ account: String) -> Bool {
      switch self {
      case .own: return false
      case .any: return true
      case .ownAnd(let accounts): return accounts.contains(account)
      }
    }
  }

  /// The most that the signature's timestamp may differ from now, in either direction.
  public var tolerance: Duration
  /// The mode whose events make receipts; events of the other mode are only stored.
  public var livemode: Livemode
  /// Metadata keys that may contain the user, in order.
  public var userKeys: [String]
  public var accounts: Accounts
  /// The app's own account, `acct_…`, which events of an organisation name; nil if it is not configured.
  public var account: String?
  /// The sales that belong to the app; nil for all.
  public var sells: StripeSelection?
  /// The sales that do not, even if `sells` matches them.
  public var except = StripeSelection()
  /// The price to report for a product (`prod_…`) or a lookup key (`lookup:KEY`) with inline prices.
  public var priceMap: [String: PriceID] = [:]
  /// Whether the app has a key with which the object of a thin event is fetched.
  public var fetches = false
  /// What is no user's id. The app's setting.
  public var userIDs = UserIDRules()
  /// The base URL of its API, without a trailing slash.
  public var apiBase: String

  /// The defaults: 5 min, any mode, `ply_user_id` then `user_id`, no connected accounts, Stripe's own API.
  public init(
    tolerance: Duration = .minutes(5), livemode: Livemode = .any,
    userKeys: [String] = ["ply_user_id", "user_id"], accounts: Accounts = .own,
    apiBase: String = "https://api.stripe.com"
  ) {
    self.tolerance = tolerance
    self.livemode = livemode
    self.userKeys = userKeys
    self.accounts = accounts
    self.apiBase = apiBase
  }
}

extension StripeSettings {
  /// Whether events of this account count.
  /// - Parameter named: the accounts that an event names; none means the app's own.
  func accepts(accounts named: [String]) -> Bool {
    named.allSatisfy { $0 == account || accounts.accepts($0) }
  }

  var sales: StripeSales { StripeSales(sells: sells, except: except) }
}

/// The Stripe object types that identify a purchase; Purchasely's `stripe_object_type`.
extension PurchaseKey {
  static func subscription(_ id: ObjectID) -> PurchaseKey {
    PurchaseKey(processor: StripeProcessor.name, type: StripeObjectType.subscription, id: id)
  }

  static func checkoutSession(_ id: SessionID) -> PurchaseKey {
    PurchaseKey(processor: StripeProcessor.name, type: StripeObjectType.checkoutSession, id: ObjectID(id))
  }
}

enum StripeObjectType {
  static let subscription = PurchaseKey.ObjectType("subscription")
  static let checkoutSession = PurchaseKey.ObjectType("checkout_session")
  /// No purchases: what thin events name. They are keys until they are fetched.
  static let invoice = PurchaseKey.ObjectType("invoice")
  static let customer = PurchaseKey.ObjectType("customer")
}

/// Stripe's webhooks (https://docs.stripe.com/webhooks).
public struct StripeProcessor: PaymentProcessor {
  public static let name: ProcessorName = "stripe"
  /// Prefixes of Stripe's price ids (https://docs.stripe.com/api/prices, https://docs.stripe.com/api/plans);
  /// a merchant's own names (`stripe.monthly_premium_123`) do not have them.
  static let pricePrefixes = ["price_", "plan_"]

  /// Stripe can resend events for 30 days (https://docs.stripe.com/webhooks), and lists them for a backfill.
  public static let repeatPeriod: Duration = .days(30)

  public static func unreadable(in body: [UInt8]) -> ReadingFault? {
    let noObject = ReadingFault(field: "body", maySell: true)
    let found = JSONDocument.read(body) { root -> ReadingFault? in
      guard let envelope = StripeEnvelope(root) else { return noObject }
      return fault(in: envelope)
    }
    guard let found else { return noObject }
    return found
  }

  private static func fault(in envelope: StripeEnvelope) -> ReadingFault? {
    let settings = StripeSettings(accounts: .any)
    let reader = StripeReader(settings: settings, envelope: envelope, now: Timestamp(unixMilliseconds: 0))
    do throws(ReadingFault) {
      _ = try reader.reading()
      return nil
    } catch {
      return error
    }
  }

  public static func mentions(in body: [UInt8]) -> Mentions { StripeMentions.read(body) }

  public static var summaryTypes: Set<String> { StripeSummary.types }

  public static func summary(in body: [UInt8]) -> PurchaseSummary? { StripeSummary.read(body) }

  public static let help = ProcessorHelp(
    webhookSecretKey: "webhook_secrets",
    webhookSecretOrigin: "the endpoint's signing secret in Stripe's dashboard",
    apiKeyRights: "It must be a restricted key that may read events, checkout sessions, subscriptions, "
      + "customers and webhook endpoints",
    eventsKept: "\(StripeQueries.keptDays) days")

  public static func rules(isAsked: Bool) -> ProcessorRules {
    ProcessorRules(
      isAsked: isAsked, pricePrefixes: pricePrefixes, repeatPeriod: repeatPeriod)
  }

  static let signatureHeader = "Stripe-Signature"

  private let settings: StripeSettings
  private let apiKey: String?
  private let checkout: StripeCheckoutSettings?
  private let verifier: StripeSignatureVerifier

  /// - Parameters:
  ///   - webhookSecrets: including the prefix `whsec_`; without any, no webhook is genuine.
  ///   - apiKey: for lookups and checkouts; nil disables them.
  ///   - checkout: nil if the app has no Checkout Sessions.
  /// - Throws: when the cryptographic library rejects a key, which happens only when it is out of memory.
  public init(
    _ settings: StripeSettings, webhookSecrets: [String], apiKey: String? = nil,
    checkout: StripeCheckoutSettings? = nil
  ) throws {
    self.settings = settings
    self.apiKey = apiKey
    self.checkout = checkout
    verifier = try StripeSignatureVerifier(
      secrets: webhookSecrets, tolerance: settings.tolerance)
  }

  public var queries: (any ProcessorQueries)? {
    apiKey.map { StripeQueries(settings, apiKey: $0, base: settings.apiBase) }
  }

  public var checkouts: (any HostedCheckouts)? {
    guard let checkout, let apiKey else { return nil }
    return StripeCheckouts(
      checkout, apiKey: apiKey, base: settings.apiBase, metadata: settings.sells?.metadata ?? [:])
  }

  public var signatureAgeMax: Duration? { settings.tolerance }

  /// Whether its receipts are of Stripe's test mode.
  var isOfTestMode: Bool { settings.livemode == .test }

  public func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity {
    verifier.verify(headers: request.headers(Self.signatureHeader), body: request.body, now: now)
  }

  public func foreignRule(in body: [UInt8]) -> String? {
    let rule = JSONDocument.read(body) { root -> String? in
      guard let envelope = StripeEnvelope(root) else { return nil }
      return StripeReader(settings: settings, envelope: envelope, now: Timestamp(unixMilliseconds: 0))
        .foreignRule
    }
    return rule ?? nil
  }

  public func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    let reading = JSONDocument.read(body) { root in StripeEnvelope(root).map { read($0, now: now) } }
    // Genuine, but not a JSON object: stored for the operator.
    return (reading ?? nil) ?? EventReading(id: nil, type: "", content: .nothing(.unparsed))
  }

  private func read(_ envelope: StripeEnvelope, now: Timestamp) -> EventReading {
    let reader = StripeReader(settings: settings, envelope: envelope, now: now)
    return EventReading(
      id: UntrustedText.identifier(envelope.id).map(EventID.init),
      type: UntrustedText.identifier(reader.type) ?? "",
      content: reader.content)
  }
}

// MARK: - StripePortal

// The pages of Stripe's dashboard. Their URLs are not part of Stripe's API: if one changes, Stripe shows its
// own page for what it does not find. Pure; any thread.

extension StripeProcessor {
  private static let portal = "https://dashboard.stripe.com"
  /// The beginnings of ids with a page, and its folder.
  private static let portalFolders = [
    ("sub_", "subscriptions"), ("cus_", "customers"), ("pi_", "payments"), ("ch_", "payments"),
    ("in_", "invoices"), ("evt_", "events"), ("price_", "prices"), ("prod_", "products"),
  ]
  private static let testSession = "cs_test_"

  public func portalPage(of id: String, beside others: [String]) -> String? {
    let isPlain = id.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
    }
    guard isPlain, id.utf8.count <= UntrustedText.identifierBytesMax else { return nil }
    // Only a checkout session's id shows its mode.
    let isTest = isOfTestMode || ([id] + others).contains { $0.hasPrefix(Self.testSession) }
    let base = isTest ? "\(Self.portal)/test" : Self.portal
    if id.hasPrefix("cs_") { return "\(base)/search?query=\(id)" }
    return Self.portalFolders.first { id.hasPrefix($0.0) }.map { "\(base)/\($0.1)/\(id)" }
  }
}
