// Reads the request that creates a payment order, and reports everything that is wrong with it. Pure.

internal import Formats

/// The members of a `paymentorder` with their faults.
struct SandboxSwedbankOrderReader {
  /// Far beyond any payment, so that sums cannot overflow.
  static let amountMax: Int64 = 1_000_000_000_000
  private static let referenceLengthMax = 30
  private static let instruments = ["CreditCard", "Invoice-PayExFinancingSe", "Swish"]
  private static let tokenSwitches = [
    ("generatePaymentToken", "payment"), ("generateRecurrenceToken", "recurrence"),
    ("generateUnscheduledToken", "unscheduled"),
  ]

  private let order: JSONValue
  private(set) var faults: [SandboxSwedbankProblem.Item] = []

  /// - Parameter order: the value of `paymentorder`.
  init(_ order: JSONValue) { self.order = order }

  /// The order in its first state.
  /// - Parameters:
  ///   - version: that the request's media type names; nil without one.
  ///   - uuids: of the order and of its payment.
  mutating func order(
    version: SandboxSwedbankOrder.Version?, creator: String, uuids: (order: String, payment: String),
    number: Int64,
    now: Int64
  ) throws(SandboxSwedbankProblem) -> SandboxSwedbankOrder {
    let urls = object("urls")
    let payee = object("payeeInfo")
    let payer = order["payer"]
    let operation = text("operation", order)
    if !["Purchase", "Verify"].contains(operation) { fault("operation", "is not Purchase or Verify") }
    let currency = text("currency", order)
    let isCode = currency.utf8.count == 3 && currency.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    if !isCode { fault("currency", "is not a currency code of ISO 4217") }
    let amount = amount("amount")
    let vatAmount = self.amount("vatAmount")
    if vatAmount > amount { fault("vatAmount", "is more than the amount") }
    if operation == "Purchase", amount == 0 { fault("amount", "must be more than 0") }
    checkURLs(urls)
    let reference = checkPayee(payee)
    let available = instruments()
    let instrument = order["instrument"]?.stringValue ?? available.first ?? ""
    if !available.contains(instrument) { fault("instrument", "is not available") }
    // Documented: this product name makes an order one of version 3.0.
    let isThree = order["productName"]?.stringValue == "Checkout3"
    let created = SandboxSwedbankOrder(
      uuid: uuids.order, version: version ?? (isThree ? .v3 : .v2), created: now, updated: now,
      operation: operation, currency: currency, amount: amount, vatAmount: vatAmount,
      description: text("description", order, mayBeEmpty: true), language: text("language", order),
      payeeReference: reference, orderReference: payee["orderReference"]?.stringValue,
      callbackURL: urls["callbackUrl"]?.stringValue, completeURL: text("completeUrl", urls, in: "urls."),
      cancelURL: urls["cancelUrl"]?.stringValue,
      payerReference: payer?["payerReference"]?.stringValue ?? order["payerReference"]?.stringValue,
      creator: creator, orderItems: order["orderItems"], availableInstruments: available,
      instrument: instrument,
      tokenTypes: Self.tokenSwitches.filter { order[$0.0]?.boolValue == true }.map(\.1), number: number,
      paymentUUID: uuids.payment)
    _ = text("userAgent", order)
    guard faults.isEmpty else { throw .input(faults) }
    return created
  }

  /// The new amounts of an `UpdateOrder`.
  mutating func amounts() throws(SandboxSwedbankProblem) -> (amount: Int64, vatAmount: Int64) {
    let (amount, vatAmount) = (amount("amount"), self.amount("vatAmount"))
    if amount == 0 || vatAmount > amount { fault("amount", "must be more than 0 and the VAT amount") }
    guard faults.isEmpty else { throw .input(faults) }
    return (amount, vatAmount)
  }

  private mutating func fault(_ name: String, _ description: String) {
    faults.append(SandboxSwedbankProblem.Item(name: "paymentorder.\(name)", description: description))
  }

  private mutating func object(_ name: String) -> JSONValue {
    if let value = order[name], value.members != nil { return value }
    fault(name, "is missing")
    return [:]
  }

  private mutating func text(
    _ name: String, _ object: JSONValue, in prefix: String = "", mayBeEmpty: Bool = false
  ) -> String {
    let text = object[name]?.stringValue
    if text == nil || text == "" && !mayBeEmpty { fault(prefix + name, "is missing or not a text") }
    return text ?? ""
  }

  private mutating func amount(_ name: String) -> Int64 {
    if let amount = order[name]?.integerValue, (0...Self.amountMax).contains(amount) { return amount }
    fault(name, "is not an amount in the smallest unit of the currency")
    return 0
  }

  private mutating func checkURLs(_ urls: JSONValue) {
    let hosts = urls["hostUrls"]?.elements ?? []
    if hosts.isEmpty || hosts.contains(where: { !Self.isURL($0.stringValue) }) {
      fault("urls.hostUrls", "is not a list of URLs")
    }
    for name in ["completeUrl", "cancelUrl", "paymentUrl", "callbackUrl", "termsOfServiceUrl"] {
      guard let value = urls[name] else { continue }
      if !Self.isURL(value.stringValue) { fault("urls.\(name)", "is not an absolute URL") }
    }
  }

  private static func isURL(_ text: String?) -> Bool {
    guard let text, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
    return text.hasPrefix("https://") || text.hasPrefix("http://")
  }

  /// - Returns: the merchant's reference. A number is refused, as by the real API.
  private mutating func checkPayee(_ payee: JSONValue) -> String {
    _ = text("payeeId", payee, in: "payeeInfo.")
    let reference = payee["payeeReference"]?.stringValue ?? ""
    if !Self.isReference(reference) {
      fault("payeeInfo.payeeReference", "is not a text of 1 to 30 letters and digits")
    }
    return reference
  }

  static func isReference(_ text: String) -> Bool {
    (1...referenceLengthMax).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "A")...UInt8(ascii: "Z"):
          true
        default: false
        }
      }
  }

  private mutating func instruments() -> [String] {
    guard let restricted = order["restrictedToInstruments"] else { return Self.instruments }
    let names = restricted.elements?.compactMap(\.stringValue) ?? []
    if names.isEmpty || names.count != restricted.elements?.count {
      fault("restrictedToInstruments", "is not a list of instruments")
    }
    return names
  }
}
