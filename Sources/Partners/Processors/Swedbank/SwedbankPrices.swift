// What customers may pay at Swedbank Pay: the server's amounts, against which an app's order is checked
// before it is sent. Pure; any thread.

public import Domain
internal import Formats

/// What one of the merchant's prices costs.
public struct SwedbankPrice: Sendable, Hashable {
  /// With VAT.
  public var amount: Money
  /// The VAT within it, in minor units.
  public var vat: Int64

  public init(amount: Money, vat: Int64) {
    self.amount = amount
    self.vat = vat
  }

  /// The rate of the VAT as Swedbank Pay writes it: 2500 for 25 %. VAT is rounded to a minor unit, so the
  /// next half per cent counts if it gives the same VAT.
  var vatPercent: Int64 {
    let net = Double(amount.minorUnits - vat)
    guard net > 0 else { return 0 }
    let exact = Double(vat) / net * 10_000
    let usual = (exact / 50).rounded() * 50
    let rounded = (net * usual / 10_000).rounded()
    return Int64(rounded == Double(vat) ? usual : exact.rounded())
  }

  /// One line of an order (https://developer.swedbankpay.com/checkout-v3/technical-reference/order-items).
  /// - Parameter name: the text for the payer.
  func line(_ price: PriceID, name: String) -> JSONValue {
    [
      "reference": .string(price.text), "name": .string(name.isEmpty ? price.text : name),
      "type": "PRODUCT", "class": "Product", "quantity": 1, "quantityUnit": "pcs",
      "unitPrice": .integer(amount.minorUnits), "vatPercent": .integer(vatPercent),
      "amount": .integer(amount.minorUnits), "vatAmount": .integer(vat),
    ]
  }
}

/// The prices of an app. An altered app can change neither an amount nor what it is paid for.
struct SwedbankPriceList {
  let prices: [PriceID: SwedbankPrice]

  /// What an order costs.
  private struct Total {
    var amount: Int64 = 0
    var vat: Int64 = 0

    /// - Returns: false beyond `Int64`.
    mutating func add(_ price: SwedbankPrice, times quantity: Int64) -> Bool {
      let (amount, isLong) = price.amount.minorUnits.multipliedReportingOverflow(by: quantity)
      let (vat, isLongVAT) = price.vat.multipliedReportingOverflow(by: quantity)
      let (sum, isLarge) = self.amount.addingReportingOverflow(amount)
      let (vatSum, isLargeVAT) = self.vat.addingReportingOverflow(vat)
      (self.amount, self.vat) = (sum, vatSum)
      return !isLong && !isLongVAT && !isLarge && !isLargeVAT
    }
  }

  /// Checks an order that has its shape. Nothing is paid with a verification of a card.
  /// - Returns: the price of an order without lines, for which the relay adds one; nil if it has lines, or if
  ///   there is nothing to check.
  /// - Throws: the first member that is not the server's.
  func check(_ order: JSONNode) throws(ShapeFault) -> PriceID? {
    guard !prices.isEmpty, order.member("operation")?.isString("Verify") != true else { return nil }
    var lines = 0
    order.member("orderItems")?.forEachElement { _ in lines += 1 }
    guard lines > 0 else { return try price(of: order) }
    try checkLines(of: order)
    return nil
  }

  private func price(of order: JSONNode) throws(ShapeFault) -> PriceID {
    let currency = order.member("currency")?.string
    let amount = Self.integer("amount", of: order)
    let vat = Self.integer("vatAmount", of: order)
    let equal = prices.filter {
      $0.value.amount.minorUnits == amount && $0.value.amount.currency.code == currency
    }
    let fitting = equal.filter { $0.value.vat == vat }.keys
    guard let price = fitting.first else {
      throw Self.fault(equal.isEmpty ? "amount" : "vatAmount", "is not that of a configured price")
    }
    guard fitting.count == 1 else {
      throw Self.fault("orderItems", "is required, because several configured prices have this amount")
    }
    return price
  }

  private func checkLines(of order: JSONNode) throws(ShapeFault) {
    var total = Total()
    var fault: ShapeFault?
    var index = 0
    order.member("orderItems")?.forEachElement { line in
      defer { index += 1 }
      guard fault == nil else { return }
      do throws(ShapeFault) {
        try check(line, at: "orderItems[\(index)]", currency: order.member("currency")?.string, &total)
      } catch {
        fault = error
      }
    }
    if let fault { throw fault }
    for (name, sum) in [("amount", total.amount), ("vatAmount", total.vat)]
    where Self.integer(name, of: order) != sum {
      throw Self.fault(name, "is not the sum of the order items, which is \(sum)")
    }
  }

  private func check(
    _ line: JSONNode, at place: String, currency: String?, _ total: inout Total
  ) throws(ShapeFault) {
    guard let name = line.member("reference")?.string, let price = prices[PriceID(name)] else {
      throw Self.fault("\(place).reference", "is not a configured price")
    }
    // A fee or a discount is no price of the purchase.
    guard let type = line.member("type")?.string, !OrderDraft.fees.contains(type) else {
      throw Self.fault("\(place).type", "must be PRODUCT, SERVICE or OTHER, because the app has fixed prices")
    }
    guard price.amount.currency.code == currency else {
      throw Self.fault("currency", "is not that of \(place), \(price.amount.currency)")
    }
    guard let quantity = Self.integer("quantity", of: line), quantity > 0 else {
      throw Self.fault("\(place).quantity", "must be 1 or more")
    }
    var own = Total()
    guard own.add(price, times: quantity), total.add(price, times: quantity) else {
      throw Self.fault("\(place).quantity", "is too large")
    }
    for (name, value) in [
      ("unitPrice", price.amount.minorUnits), ("amount", own.amount), ("vatAmount", own.vat),
    ]
    where Self.integer(name, of: line) != value {
      throw Self.fault("\(place).\(name)", "is not that of the configured price, which is \(value)")
    }
  }

  private static func integer(_ name: String, of node: JSONNode) -> Int64? {
    node.member(named: name).flatMap(RequestShape.integer)
  }

  private static func fault(_ path: String, _ message: String) -> ShapeFault {
    ShapeFault(path: "paymentorder.\(path)", message: message)
  }
}
