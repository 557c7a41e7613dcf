// The bodies of apps' requests. Everything is checked before Afterpay is called, and every fault names its
// member. Pure; any thread.

public import Domain
internal import Formats

/// Why a request is refused.
struct AfterpayRefusal: Error {
  let answer: BackendAnswer

  init(_ answer: BackendAnswer) { self.answer = answer }

  /// - Parameter member: the wrong member, which is in the slug.
  init(_ member: String, _ detail: String) {
    answer = AfterpayAnswers.invalid("invalid-\(member)", detail)
  }
}

/// The members of a body.
struct AfterpayRequest {
  private let object: JSONValue

  /// - Parameter known: the members that the body may have.
  init(_ request: BackendRequest, known: [String]) throws(AfterpayRefusal) {
    guard Self.isJSON(request.contentType) else {
      throw AfterpayRefusal(
        AfterpayAnswers.problem(
          "unsupported-media-type", "Unsupported media type", 415, "Send `Content-Type: application/json`."))
    }
    guard let object = try? JSONValue(parsing: request.body), case .object(let members) = object else {
      throw AfterpayRefusal("json", "The body is not a JSON object.")
    }
    if let odd = members.first(where: { member in !known.contains { member.name == $0 } }) {
      let names = known.map { "`\($0)`" }.joined(separator: ", ")
      let name = UntrustedText.identifier(odd.name).map { "`\($0)`" } ?? "A member's name"
      throw AfterpayRefusal("member", "\(name) is not known here. The members are \(names).")
    }
    self.object = object
  }

  private static func isJSON(_ contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased()
    return type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
  }

  /// A member; nil if it is absent or null, as encoders write absent values.
  subscript(name: String) -> JSONValue? {
    guard let value = object[name], value != .null else { return nil }
    return value
  }

  /// A text that is not empty; nil if it is absent.
  func text(_ name: String, _ slug: String) throws(AfterpayRefusal) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = UntrustedText.identifier(value.stringValue) else {
      throw AfterpayRefusal(
        slug, "`\(name)` must be a text of 1 to \(UntrustedText.identifierBytesMax) bytes.")
    }
    return text
  }

  func flag(_ name: String, _ slug: String) throws(AfterpayRefusal) -> Bool {
    switch self[name] {
    case nil: false
    case .bool(let flag): flag
    default: throw AfterpayRefusal(slug, "`\(name)` must be true or false.")
    }
  }
}

/// The order to start a payment.
struct AfterpayCheckout {
  /// The forms of Afterpay's page.
  enum Mode: String {
    case standard, express
  }

  var email: String
  /// Nil for an amount that the app named.
  var price: PriceID?
  var amount: Money
  var mode: Mode?
  var isCashAppPay: Bool

  init(_ request: BackendRequest, _ settings: AfterpaySettings) throws(AfterpayRefusal) {
    let body = try AfterpayRequest(request, known: ["price", "amount", "email", "mode", "isCashAppPay"])
    email = try Self.email(body)
    (price, amount) = try Self.amount(body, settings)
    isCashAppPay = try body.flag("isCashAppPay", "is-cash-app-pay")
    if let name = try body.text("mode", "mode") {
      guard let mode = Mode(rawValue: name) else {
        throw AfterpayRefusal("mode", "`mode` must be `standard` or `express`; leave it out for the first.")
      }
      self.mode = mode
    }
    guard isCashAppPay else { return }
    if mode == .express {
      throw AfterpayRefusal("mode", "Cash App Pay has no express checkout: leave `mode` out.")
    }
    if !settings.hasCashAppPay {
      throw AfterpayRefusal(
        "is-cash-app-pay", "Cash App Pay is available in the USA only, and this merchant is not there.")
    }
  }

  /// Afterpay checks the address; this finds what cannot be one.
  private static func email(_ body: AfterpayRequest) throws(AfterpayRefusal) -> String {
    guard let email = try body.text("email", "email") else {
      throw AfterpayRefusal("email", "Send the customer's `email`.")
    }
    let parts = email.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts.contains(where: \.isEmpty), !email.contains(" ") else {
      throw AfterpayRefusal("email", "`email` must be an email address.")
    }
    return email
  }

  private static func amount(
    _ body: AfterpayRequest, _ settings: AfterpaySettings
  ) throws(AfterpayRefusal) -> (PriceID?, Money) {
    if body["amount"] != nil {
      guard settings.amountsAreClients else {
        throw AfterpayRefusal(
          "amount", "This app's amounts are configured here: send a `price`, no `amount`.")
      }
      if body["price"] != nil { throw AfterpayRefusal("amount", "Send either `price` or `amount`.") }
      guard let text = body["amount"]?.stringValue, let amount = Money(text, settings.currency),
        amount.minorUnits > 0
      else {
        let example = Money(minorUnits: 5000, settings.currency).text
        throw AfterpayRefusal(
          "amount", "`amount` must be a text with an amount in \(settings.currency), such as \"\(example)\".")
      }
      return (nil, amount)
    }
    guard let price = try body.text("price", "price").map(PriceID.init) else {
      throw AfterpayRefusal(
        "price", "Send the `price` to pay" + (settings.amountsAreClients ? ", or an `amount`." : "."))
    }
    guard let amount = settings.prices[price] else {
      throw AfterpayRefusal(
        AfterpayAnswers.problem(
          "unknown-price", "Unknown price", 422,
          "No price with this name is configured. Check it against `afterpay.prices` in the configuration."))
    }
    return (price, amount)
  }
}

/// The order to capture a payment.
struct AfterpayCaptureRequest {
  var token: AfterpayToken
  var grantID: String?

  init(_ request: BackendRequest) throws(AfterpayRefusal) {
    let body = try AfterpayRequest(request, known: ["token", "grantId"])
    guard let text = try body.text("token", "token") else {
      throw AfterpayRefusal("token", "Send the `token` that the checkout returned.")
    }
    guard let token = AfterpayToken(text) else { throw Self.malformedToken }
    self.token = token
    grantID = try body.text("grantId", "grant-id")
  }

  static let malformedToken = AfterpayRefusal(
    "token", "The token does not have the form of Afterpay's tokens.")
  static let missingGrant = AfterpayRefusal(
    "grant-id", "This payment was started for Cash App Pay: send the `grantId` of the customer's approval.")
}

// MARK: - AfterpayToken

// The token of an Afterpay checkout, which identifies its payment. Pure; any thread.

/// A checkout's token, in the form that the relay accepts.
public struct AfterpayToken: Sendable, Hashable {
  public let text: String

  /// - Returns: nil unless it is 1–255 letters, digits and `. _ ~ + = -` without two dots in a row, because
  ///   it becomes a part of a path. One of Afterpay's: `002.ilqqjf2udmu2rp3xcu7cb6mzup6tefwb3d5yk6czrfvjw`.
  public init?(_ text: String) {
    guard let text = UntrustedText.identifier(text), text.utf8.allSatisfy(Self.isAllowed),
      !text.contains("..")
    else { return nil }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "._~+=-".utf8.contains(byte)
    }
  }

  /// The purchase that the checkout starts.
  public var key: PurchaseKey {
    PurchaseKey(processor: AfterpayProcessor.name, type: AfterpayProcessor.payment, id: ObjectID(text))
  }
}
