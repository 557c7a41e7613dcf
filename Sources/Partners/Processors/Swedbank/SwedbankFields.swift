// The fields of Swedbank Pay's resources that the relay reads. Each is a view of an answer's bytes, valid as
// long as the document is open. Pure; any thread.

internal import Domain
internal import Formats

/// The answer to a request about a payment order.
struct SwedbankResource {
  private let root: JSONNode

  /// - Returns: nil unless it is an object.
  init?(_ root: JSONNode) {
    guard root.isObject else { return nil }
    self.root = root
  }

  /// The API writes `paymentOrder`; its documentation and old versions also `paymentorder`.
  var order: JSONNode? {
    let order = root.member("paymentOrder") ?? root.member("paymentorder")
    return order?.isObject == true ? order : nil
  }

  func id(at base: SwedbankBase) -> SwedbankOrderPath? {
    SwedbankOrderPath(order?.member("id")?.string, at: base)
  }

  /// The URL of the first operation with this relation; nil if the resource does not offer it.
  func href(_ relation: String) -> String? { Self.href(relation, in: root) }

  /// - Parameter node: an object with `operations`.
  static func href(_ relation: String, in node: JSONNode) -> String? {
    var href: String?
    node.member("operations")?.forEachElement { operation in
      guard href == nil, operation.member("rel")?.string == relation else { return }
      href = operation.member("href")?.string
    }
    return href
  }

  /// The resource `paid`, which an answer has only if it was expanded.
  var paid: JSONNode? { order?.member("paid") }

  /// Whether a paid order needs no capture; nil if that is unknown. Swedbank Pay recommends to look at the
  /// operations; a sale has none for it, and is captured at once. An amount of zero may be missing: then an
  /// authorisation is captured if there is something to reverse.
  var isCaptured: Bool? {
    let remaining = order?.member("remainingCaptureAmount")?.int64
    if let remaining, remaining > 0 { return false }
    if href(SwedbankRelation.capture) != nil { return false }
    switch paid?.member("transactionType")?.string ?? order?.member("transactionType")?.string {
    case "Sale": return true
    case "Authorization":
      return remaining != nil || (order?.member("remainingReversalAmount")?.int64 ?? 0) > 0
    default: return nil
    }
  }

  /// Whether it only checks a card, for later payments.
  var isVerification: Bool {
    order?.member("operation")?.string == "Verify"
      || paid?.member("transactionType")?.string == "Verification"
  }

  /// The types of the tokens that the payment generated; nil if the answer lists none.
  var tokenTypes: [String]? {
    guard let tokens = paid?.member("tokens"), tokens.isArray else { return nil }
    var types: [String] = []
    tokens.forEachElement { types.append($0.member("type")?.string ?? "") }
    return types.isEmpty ? nil : types
  }

  /// The stored cards of a payer; nil if the answer lists none.
  var payerTokens: JSONNode? {
    root.member("payerOwnedPaymentTokens")?.member("paymentTokens")
  }
}

/// The relations of operations
/// (https://developer.swedbankpay.com/checkout-v3/technical-reference/operations).
enum SwedbankRelation {
  static let setInstrument = "update-paymentorder-setinstrument"
  static let deleteToken = "delete-paymenttokens"
  static let capture = "capture"
}

/// What a client's payment order says about the payment, once it has its shape.
struct OrderDraft: Sendable {
  var facts: PaymentFacts
  /// The references of what is bought, each once.
  var prices: [PriceID] = []
  /// The payer's reference as the client wrote it; nil without one.
  var payerReference: String?
  /// Whether a token pays, so no card is entered.
  var usesToken = false

  private static let pricesMax = 100
  /// Types of order items that are no product.
  static let fees: Set = ["SHIPPING_FEE", "PAYMENT_FEE", "DISCOUNT", "VALUE_CODE"]

  /// - Parameter price: of the line that the relay adds; nil if the order has its own.
  init(_ order: JSONNode, reference: String, price: PriceID? = nil) {
    let currency = order.member("currency")?.string ?? ""
    let amount = order.member("amount").flatMap(RequestShape.integer)
    let money = SwedbankMoney.amount(amount, currency)
    facts = PaymentFacts(amount: money?.text, currency: money?.currency.code, reference: reference)
    payerReference = order.member("payer")?.member("payerReference")?.string
    var prices: [PriceID] = []
    order.member("orderItems")?.forEachElement { item in
      guard prices.count < Self.pricesMax, !Self.fees.contains(item.member("type")?.string ?? ""),
        let price = UntrustedText.identifier(item.member("reference")?.string).map(PriceID.init),
        !prices.contains(price)
      else { return }
      prices.append(price)
    }
    self.prices = price.map { [$0] } ?? prices
    var usesToken = false
    order.forEachMember { name, value in
      // `generatePaymentToken` and the like are flags.
      let isFlag = name.string?.hasPrefix("generate") == true
      if value.isString, !isFlag, TokenMask.isToken(name: name) { usesToken = true }
    }
    self.usesToken = usesToken
  }
}

// MARK: - SwedbankMoney

// Amounts of money in Swedbank Pay's objects. Pure; any thread.

/// An amount is an integer in the smallest unit of ISO 4217
/// (https://developer.swedbankpay.com/checkout-v3/technical-reference/amount).
enum SwedbankMoney {
  /// - Returns: nil without an amount, or for a currency that is not three capital letters.
  static func amount(_ amount: Int64?, _ currency: String) -> Money? {
    guard let amount, let currency = Currency(currency) else { return nil }
    return Money(minorUnits: amount, currency)
  }
}
