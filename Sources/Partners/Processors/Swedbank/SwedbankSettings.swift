// One app's Swedbank Pay settings, without its secret. Values; any thread.

public import Domain
internal import Formats

/// One app's Swedbank Pay settings, without its secret.
public struct SwedbankSettings: Sendable, Equatable {
  /// Which requests of the SDKs are served beside those that start a payment.
  public struct Allowed: Sendable, Equatable {
    /// Change or abort a payment order: `PATCH patch`.
    public var patch: Bool
    /// Read a payment order: `POST expand`.
    public var expand: Bool
    /// Send tokens to the app. Without it, every answer hides their values.
    public var expandTokens: Bool
    /// Which tokens a payment generated, without their values: `POST tokens`.
    public var tokens: Bool
    /// List and delete a payer's stored cards: `payers/…`.
    public var payerTokens: Bool
    /// Start a payment with a token.
    public var usePaymentToken: Bool

    public init(
      patch: Bool = true, expand: Bool = false, expandTokens: Bool = false, tokens: Bool = false,
      payerTokens: Bool = false, usePaymentToken: Bool = false
    ) {
      self.patch = patch
      self.expand = expand
      self.expandTokens = expandTokens
      self.tokens = tokens
      self.payerTokens = payerTokens
      self.usePaymentToken = usePaymentToken
    }
  }

  /// The base URL of the API: scheme, host and port, without a trailing slash.
  public var apiBase: String
  /// The merchant's id at Swedbank Pay. It replaces what a client sends.
  public var payeeID: String
  /// The name that the payer sees; nil to leave what a client sends.
  public var payeeName: String?
  /// Scheme, host and port at which Swedbank Pay reaches the relay, without a trailing slash.
  public var publicOrigin: String
  public var allow: Allowed
  /// The time to the end of an answer of the API.
  public var timeout: Duration
  /// How long after its start a payment without a callback is fetched.
  public var settleAfter: Duration
  /// Whether the relay captures an authorised payment (`capture: "auto"`). Otherwise the merchant does.
  public var capturesItself: Bool
  /// What customers may pay, by the reference of an order's line. Empty: the app names the amounts.
  public var prices: [PriceID: SwedbankPrice]
  /// What the types of those problems begin with that the SDKs do not know.
  public var problemTypes = RelayProblem.types

  /// The defaults: Swedbank Pay's production API, only `patch` is allowed, 20 s, 15 min, no capture, no
  /// prices.
  public init(
    apiBase: String = Self.productionBase, payeeID: String, payeeName: String? = nil, publicOrigin: String,
    allow: Allowed = Allowed(), timeout: Duration = .seconds(20),
    settleAfter: Duration = Self.settleAfterDefault,
    capturesItself: Bool = false, prices: [PriceID: SwedbankPrice] = [:]
  ) {
    self.apiBase = apiBase
    self.payeeID = payeeID
    self.payeeName = payeeName
    self.publicOrigin = publicOrigin
    self.allow = allow
    self.timeout = timeout
    self.settleAfter = settleAfter
    self.capturesItself = capturesItself
    self.prices = prices
  }

  /// https://developer.swedbankpay.com/checkout-v3/get-started/fundamental-principles
  public static let productionBase = "https://api.payex.com"
  /// Callbacks come within moments.
  public static let settleAfterDefault: Duration = .minutes(15)

  /// The networks from which Swedbank Pay sends callbacks: the new one, and the two old addresses
  /// (https://developer.swedbankpay.com/checkout-v3/technical-reference/callback).
  public static let callbackSenders = ["20.91.170.120/29", "51.107.183.58", "91.132.170.1"]

  /// The same for every spelling of the same address and payee.
  var account: AccountID {
    AccountID("\(SwedbankBase(apiBase).origin) \(payeeID.lowercased())")
  }

  /// What the join needs to know of the app's payments.
  public var rules: ProcessorRules { SwedbankProcessor.rules(isAsked: true, self) }
}
