// Afterpay's objects, as far as the relay reads them. The only code that turns Afterpay's answers into
// values. A member of an unexpected type reads as absent. Pure; any thread.

internal import Domain
internal import Formats

/// What Afterpay answered.
enum AfterpayReply {
  /// A JSON object, with the status 200, 201 or 400–499.
  case object(status: Int, JSONValue)
  /// Nothing that can be used.
  case trouble(BackendTrouble)
  /// There was no room for the call.
  case busy

  init(_ reply: BackendReply) {
    switch reply {
    case .busy: self = .busy
    case .unreachable: self = .trouble(.unreachable)
    case .noAnswer(let isTimeout): self = .trouble(isTimeout ? .timeout : .unreachable)
    case .answer(let status, _, let body): self = Self.read(status, body)
    }
  }

  private static func read(_ status: Int, _ body: [UInt8]) -> AfterpayReply {
    switch status {
    case 401, 403: .trouble(.credentials)
    case 408, 425, 429, 500...: .trouble(.failed)
    case 200, 201, 400...499:
      if let object = try? JSONValue(parsing: body), case .object = object {
        .object(status: status, object)
      } else {
        .trouble(.unreadable)
      }
    default: .trouble(.unreadable)
    }
  }
}

/// An error object: `{"errorCode":…,"errorId":…,"message":…,"httpStatusCode":…}`.
struct AfterpayError {
  var status: Int
  var code: String
  var message: String?
  var id: String?

  /// The most characters of a message that are repeated.
  private static let messageMax = 1000

  /// - Returns: nil unless the object has an error code.
  init?(_ status: Int, _ object: JSONValue) {
    guard let code = UntrustedText.identifier(object["errorCode"]?.stringValue) else { return nil }
    self.status = status
    self.code = code
    message = object["message"]?.stringValue.map { String($0.prefix(Self.messageMax)) }
    id = UntrustedText.identifier(object["errorId"]?.stringValue)
  }

  /// The members of a problem document that repeat it.
  var members: [JSONValue.Member] {
    [.init(name: "errorCode", value: .string(code))]
      + (message.map { [.init(name: "message", value: .string($0))] } ?? [])
  }
}

/// A Payment object
/// (https://developers.cash.app/afterpay/api-reference/reference/data-models/payment-object).
struct AfterpayPayment {
  enum Status: String {
    case approved = "APPROVED"
    case declined = "DECLINED"
  }

  /// Afterpay's id of the order, as text.
  var id: String?
  var token: String?
  var status: Status
  /// `CAPTURED`, `AUTH_APPROVED`, `VOIDED`, …
  var state: String?
  var amount: Money?
  /// The sum of its refunds; nil if there is none, or none that can be read.
  var refunded: Money?

  /// - Returns: nil unless the object has one of the documented statuses.
  init?(_ object: JSONValue) {
    guard let status = object["status"]?.stringValue.flatMap(Status.init) else { return nil }
    self.status = status
    id = UntrustedText.identifier(object["id"]?.stringValue) ?? Self.number(object["id"])
    token = object["token"]?.stringValue
    state = object["paymentState"]?.stringValue
    amount = Money(object["originalAmount"])
    guard case .array(let refunds) = object["refunds"] else { return }
    let amounts = refunds.compactMap { Money($0["amount"]) }
    guard amounts.count == refunds.count, let first = amounts.first else { return }
    refunded = amounts.dropFirst().reduce(first) { $0?.adding($1) }
  }

  private static func number(_ value: JSONValue?) -> String? {
    guard case .integer(let number) = value else { return nil }
    return String(number)
  }

  /// Whether it is about the payment of this token. An answer always is, unless it names another.
  func isAbout(_ key: PurchaseKey) -> Bool { token == nil || token.map(ObjectID.init) == key.id }

  /// Whether the money was captured. Afterpay's older answers have no payment state.
  var isCaptured: Bool {
    status == .approved && [nil, "CAPTURED", "PARTIALLY_CAPTURED"].contains(state)
  }

  /// Whether all of the money went back.
  var isRefunded: Bool {
    guard let amount, let refunded, refunded.currency == amount.currency else { return false }
    return amount.minorUnits > 0 && refunded.minorUnits >= amount.minorUnits
  }
}

extension Money {
  /// Reads `{"amount":"50.00","currency":"USD"}`.
  init?(_ object: JSONValue?) {
    guard let text = object?["amount"]?.stringValue,
      let currency = object?["currency"]?.stringValue.flatMap(Currency.init)
    else { return nil }
    self.init(text, currency)
  }

  /// The same form.
  var object: JSONValue { ["amount": .string(text), "currency": .string(currency.code)] }
}

// MARK: - AfterpayDetails

// What a payment's start decides about its capture. Pure; any thread.

/// What the relay keeps of a payment's start, beside the facts that every processor has.
struct AfterpayDetails: Equatable {
  /// Whether it was started for Cash App Pay, whose capture needs a grant.
  var isCashAppPay: Bool
  /// Whether it was started as an express checkout, whose capture repeats the amount.
  var isExpress: Bool
  /// The account in which it was started: another account knows nothing of it. Nil if that is unknown.
  var account: String?

  /// As `stored` returned it. Without details, or with an invalid text, it is an ordinary checkout.
  init(_ facts: PaymentFacts) {
    let json = facts.details.flatMap { try? JSONValue(parsing: Array($0.utf8)) } ?? .null
    self.init(
      isCashAppPay: json["cash_app_pay"] == true, isExpress: json["express"] == true,
      account: json["account"]?.stringValue)
  }

  init(isCashAppPay: Bool, isExpress: Bool, account: String?) {
    self.isCashAppPay = isCashAppPay
    self.isExpress = isExpress
    self.account = account
  }

  /// For `PaymentFacts.details`.
  var stored: String {
    let members: JSONValue = ["cash_app_pay": .bool(isCashAppPay), "express": .bool(isExpress)]
    return (account.map { members.adding("account", .string($0)) } ?? members).text
  }
}
