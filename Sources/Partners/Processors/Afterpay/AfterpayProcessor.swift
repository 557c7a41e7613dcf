// Afterpay and Cash App Pay (https://developers.cash.app/afterpay). Payments start at the relay, and end with
// the answer to the relay's own capture; Afterpay sends no webhooks. Pure; any thread.

public import Domain
internal import Formats

/// Afterpay as a payment processor.
public struct AfterpayProcessor: PaymentProcessor {
  public static let name: ProcessorName = "afterpay"
  public static let hasWebhooks = false

  /// The only type of its purchases; the id is the checkout's token.
  static let payment = PurchaseKey.ObjectType("payment")

  public static let help = ProcessorHelp(
    webhookSecretKey: "secret",
    webhookSecretOrigin: "the secret key that Afterpay issued with the merchant id", apiKeyKey: "secret",
    apiSettings: ["merchant_id", "api_base"],
    apiKeyRights: "It must be the secret key of this merchant id, for the environment of api_base")

  /// When a payment that the relay has not heard of since is first asked about: by then it cannot be captured
  /// any more.
  private static let settleAfter: Duration = .hours(4)

  /// A payment for an amount that the app named has no price.
  public static func rules(isAsked: Bool) -> ProcessorRules {
    ProcessorRules(
      isAsked: isAsked, namesPrices: false, followsUpAfter: isAsked ? settleAfter : nil)
  }

  private let settings: AfterpaySettings
  private let secret: String?

  /// - Parameter secret: the merchant's secret key; nil to read stored purchases only.
  public init(_ settings: AfterpaySettings, secret: String?) {
    self.settings = settings
    self.secret = secret
  }

  /// Afterpay sends no webhooks, so nobody is the right sender.
  public func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity { .refused(.sender) }

  public func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    EventReading(id: nil, type: "", content: .nothing(.unparsed))
  }

  public var queries: (any ProcessorQueries)? { secret.map { AfterpayQueries(settings, secret: $0) } }

  public static var backendEndpoints: [BackendEndpoint] { AfterpayBackend.endpoints }

  public static let backendType: (any MerchantBackend.Type)? = AfterpayBackend.self

  public var backend: (any MerchantBackend)? { secret.map { AfterpayBackend(settings, secret: $0) } }

  public var captures: (any PaymentCaptures)? { secret.map { AfterpayCaptures(settings, secret: $0) } }
}
