// What a payment's start decides about its capture. Pure; any thread.

internal import Domain
internal import Formats

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
