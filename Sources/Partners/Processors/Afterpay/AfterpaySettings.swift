// One app's Afterpay settings. Pure; any thread.

public import Domain
internal import Formats

/// One app's Afterpay settings, without its secret.
public struct AfterpaySettings: Sendable, Equatable {
  /// The base URL of its API, without a trailing slash.
  public var apiBase: String
  public var merchantID: String
  public var region: AfterpayRegion
  /// The currency of every payment. Afterpay accepts only that of the merchant's account.
  public var currency: Currency
  /// Where Afterpay sends the customer after the checkout: URLs, possibly with the app's own scheme.
  public var confirmURL: String
  public var cancelURL: String
  /// What a customer may pay for, by the name that the app sends.
  public var prices: [PriceID: Money]
  /// Whether the app may name an amount instead of a price.
  public var amountsAreClients: Bool
  /// How long after its start a payment may be captured.
  public var captureWithin: Duration
  /// Afterpay's own limit (https://developers.cash.app/afterpay).
  public static let captureWithinMax: Duration = .minutes(180)
  /// The time to the end of an answer.
  public var timeout: Duration
  /// The same for the call that captures. An app's request waits for the outcome for as long.
  public var captureTimeout: Duration
  /// The origin of the page that opens an express checkout. The default is the page that Afterpay's SDKs
  /// load.
  public var popupOriginURL: String
  /// The name and the version of this program, for `User-Agent`: `receiptd/1.0`.
  public var product: String
  /// The merchant's website, for `User-Agent`; nil for the origin of `confirmURL`.
  public var website: String?

  /// The defaults: Afterpay's production host, 180 min to capture, and the time-outs that Afterpay asks for
  /// (https://developers.cash.app/afterpay/api-reference/reference/payments/capture-full-payment).
  public init(
    apiBase: String = "https://global-api.afterpay.com", merchantID: String, region: AfterpayRegion,
    currency: Currency, confirmURL: String, cancelURL: String, prices: [PriceID: Money] = [:],
    amountsAreClients: Bool = false, captureWithin: Duration = Self.captureWithinMax,
    timeout: Duration = .seconds(20), captureTimeout: Duration = .seconds(70),
    popupOriginURL: String = "https://static.afterpay.com", product: String = "receiptd",
    website: String? = nil
  ) {
    self.apiBase = apiBase
    self.merchantID = merchantID
    self.region = region
    self.currency = currency
    self.confirmURL = confirmURL
    self.cancelURL = cancelURL
    self.prices = prices
    self.amountsAreClients = amountsAreClients
    self.captureWithin = captureWithin
    self.timeout = timeout
    self.captureTimeout = captureTimeout
    self.popupOriginURL = popupOriginURL
    self.product = product
    self.website = website
  }

  /// Which of the merchant's accounts its answers are about.
  var account: String { "\(merchantID) at \(apiBase)" }

  /// Whether a payment was started in this account. Any other account refuses it and does not find it, which
  /// proves nothing.
  func isAccount(of payment: PaymentFacts) -> Bool {
    AfterpayDetails(payment).account.map { $0 == account } ?? true
  }

  /// Whether Cash App Pay is available: only in the USA, and in US dollars
  /// (https://developers.afterpay.com/afterpay-online/docs/cashapp).
  var hasCashAppPay: Bool { region.country == "US" && currency.code == "USD" }

  /// Afterpay identifies callers by program, merchant and website
  /// (https://developers.cash.app/afterpay/api-reference/reference/introduction/request-headers).
  var userAgent: String {
    let program = "\(product) (Receipt Relay; Linux; Merchant/\(Self.visible(merchantID)))"
    guard let website = website ?? Self.origin(of: confirmURL) else { return program }
    return "\(program) \(Self.visible(website))"
  }

  /// A header's value has no blanks and no control characters inside a word (RFC 9110 §5.5).
  private static func visible(_ text: String) -> String {
    String(decoding: text.utf8.filter { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ")") }, as: UTF8.self)
  }

  private static func origin(of url: String) -> String? {
    guard let scheme = ["https://", "http://"].first(where: url.hasPrefix) else { return nil }
    let host = url.dropFirst(scheme.count).prefix { !["/", "?", "#"].contains($0) }
    return host.isEmpty ? nil : scheme + host
  }

  /// The headers of every call.
  /// - Parameter secret: the merchant's secret key.
  func headers(secret: String) -> [(name: String, value: String)] {
    [
      // RFC 7617 §2.
      ("Authorization", "Basic " + Base64.encode(Array("\(merchantID):\(secret)".utf8))),
      ("User-Agent", userAgent), ("Accept", "application/json"),
    ]
  }
}

/// A country in which Afterpay works, and the language of its checkout there.
public struct AfterpayRegion: Sendable, Hashable {
  /// ISO 3166-1: `US`.
  public let country: String
  /// ISO 639-1: `en`.
  public let language: String

  /// - Parameter text: a country (`US`), or a language and a country (`fr-CA`), as in Afterpay's SDKs.
  /// - Returns: nil for a country in which Afterpay does not work, or a language that it does not have there.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count <= 2, let last = parts.last else { return nil }
    let country = last == "UK" ? "GB" : last
    guard let languages = Self.languages[country], let usual = languages.first else { return nil }
    let language = parts.count == 2 ? parts[0] : usual
    guard languages.contains(language) else { return nil }
    self.init(country: country, language: language)
  }

  private init(country: String, language: String) {
    self.country = country
    self.language = language
  }

  public static let unitedStates = AfterpayRegion(country: "US", language: "en")

  /// The countries, in alphabetic order.
  public static var countries: [String] { languages.keys.sorted() }

  /// The codes of the currencies, in alphabetic order.
  public static var currencyCodes: [String] { Set(currencies.values).sorted() }

  /// `en_US`
  public var identifier: String { "\(language)_\(country)" }

  /// The text that a configuration has: the country, with the language if it is not the usual one.
  public var text: String {
    language == Self.languages[country]?.first ? country : "\(language)-\(country)"
  }

  /// The code of the currency in which Afterpay works there.
  public var currencyCode: String { Self.currencies[country] ?? "" }

  /// The languages of each country, the usual one first.
  private static let languages: [String: [String]] = [
    "AU": ["en"], "CA": ["en", "fr"], "ES": ["es"], "FR": ["fr"], "GB": ["en"], "IT": ["it"], "NZ": ["en"],
    "US": ["en"],
  ]

  private static let currencies = [
    "AU": "AUD", "CA": "CAD", "ES": "EUR", "FR": "EUR", "GB": "GBP", "IT": "EUR", "NZ": "NZD", "US": "USD",
  ]
}
