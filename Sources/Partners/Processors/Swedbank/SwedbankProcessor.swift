// Swedbank Pay as a payment processor. Its callbacks are not signed and have no state: they are hints, for
// which the relay fetches the payment order. Pure; any thread.

internal import Cryptography
public import Domain
internal import Formats

/// Swedbank Pay's callbacks (https://developer.swedbankpay.com/checkout-v3/technical-reference/callback).
public struct SwedbankProcessor: PaymentProcessor {
  public static let name: ProcessorName = "swedbank"

  /// The relay chooses the address of callbacks when it creates an order, so it ends in a secret.
  public static let hasPathToken = true

  public static let help = ProcessorHelp(
    webhookSecretKey: "merchant_token",
    webhookSecretOrigin: "the access token of the merchant in Swedbank Pay's admin portal",
    apiKeyKey: "merchant_token", apiSettings: ["payee_id", "api_base"],
    apiKeyRights: "It must be an access token of this payee, for payment orders, made in the environment of "
      + "api_base", idFolder: SwedbankOrderPath.folder)

  /// What the ids of Swedbank Pay begin with. It knows no prices: the references of order items are the
  /// merchant's names.
  private static let idPrefix = "/psp/"

  public static func rules(isAsked: Bool) -> ProcessorRules {
    rules(isAsked: isAsked, SwedbankSettings(payeeID: "", publicOrigin: ""))
  }

  static func rules(isAsked: Bool, _ settings: SwedbankSettings) -> ProcessorRules {
    ProcessorRules(
      isAsked: isAsked, pricePrefixes: [idPrefix],
      ownPrices: settings.prices.isEmpty ? nil : Set(settings.prices.keys), namesPrices: false,
      followsUpAfter: isAsked ? settings.settleAfter : nil,
      capturesItself: isAsked && settings.capturesItself, account: settings.account)
  }

  public static let backendEndpoints = SwedbankBackend.Endpoint.all

  public static let backendType: (any MerchantBackend.Type)? = SwedbankBackend.self

  private let settings: SwedbankSettings
  private let app: AppSlug
  private let access: Access?
  private let isSender: @Sendable (_ address: String) -> Bool

  /// What needs the merchant's token.
  private struct Access: Sendable {
    let merchantToken: String
    let secrets: SwedbankSecrets
  }

  /// - Parameters:
  ///   - app: whose callbacks these are.
  ///   - merchantToken: the access token for the API; nil to read stored callbacks only.
  ///   - isSender: whether callbacks may come from a client's address, which is a text.
  /// - Throws: when the cryptographic library refuses the token, which happens only when it is out of memory.
  public init(
    _ settings: SwedbankSettings, app: AppSlug, merchantToken: String?,
    isSender: @escaping @Sendable (_ address: String) -> Bool
  ) throws {
    self.settings = settings
    self.app = app
    self.isSender = isSender
    access = try merchantToken.map { token in
      Access(merchantToken: token, secrets: try SwedbankSecrets(merchantToken: token, app: app))
    }
  }

  public var queries: (any ProcessorQueries)? {
    access.map { SwedbankQueries(settings, merchantToken: $0.merchantToken) }
  }

  public var backend: (any MerchantBackend)? {
    access.map {
      SwedbankBackend(settings, app: app, merchantToken: $0.merchantToken, secrets: $0.secrets)
    }
  }

  public var captures: (any PaymentCaptures)? {
    access.map { SwedbankCaptures(settings, merchantToken: $0.merchantToken, secrets: $0.secrets) }
  }

  /// The path first: a caller without its secret learns nothing, not even that there is such an app.
  public func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity {
    guard let access, access.secrets.isPathToken(request.pathToken) else { return .refused(.path) }
    return isSender(request.address) ? .hint : .refused(.sender)
  }

  /// The payment order that a callback names. `payment` and `transaction` are never used, and `number` counts
  /// attempts, so it says nothing.
  public func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    let api = SwedbankBase(settings.apiBase)
    let order = JSONDocument.read(body) { root in SwedbankResource(root)?.id(at: api) }
    guard let order = order ?? nil else {
      return EventReading(id: nil, type: "", content: .nothing(.unparsed))
    }
    // A callback has no id, and two about different changes may have the same bytes. Each is an event.
    let digest = Hex.encode(SHA256.digest(body).prefix(8).map(\.self))
    return EventReading(
      id: EventID("callback_\(now.unixMilliseconds)_\(digest)"), type: "callback",
      content: .fetchFirst(order.key, sessionID: nil, isWorthKeeping: false))
  }
}
