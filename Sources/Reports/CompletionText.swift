// What an operator supplies to a receipt: how it would be sent, and what the audit keeps. Pure; called from
// any thread. Nothing is sanitized or escaped.

public import Domain
public import Formats
public import Store

public enum CompletionText {
  /// A receipt's content as it would be sent, as names and values.
  public static func plan(_ record: PurchaseRecord) -> [(name: String, value: String)] {
    let purchase = record.purchase
    var plan = [
      (name: "user", value: purchase.userID?.text ?? "-"),
      (name: "price", value: record.receipt?.priceID?.text ?? known(purchase.prices)),
    ]
    guard let context = purchase.context else {
      return plan + [(name: "context", value: "none: it is sent without ply_context")]
    }
    let source = purchase.contextSourceText.map { ", \($0)" } ?? ""
    let price = context.priceID.map { ", names the price \($0)" } ?? ", names no price"
    plan.append(
      (name: "context", value: "\(purchase.contextID?.text ?? "inside the event")\(price)\(source)"))
    return plan
  }

  /// What would be sent, as names and values; `was` is what the value replaces, and nil if it stays.
  public static func difference(
    _ old: PurchaseRecord, _ planned: PurchaseRecord
  ) -> [(name: String, was: String?, value: String)] {
    zip(plan(old), plan(planned)).map { before, after in
      (after.name, before.value == after.value ? nil : before.value, after.value)
    }
  }

  private static func known(_ prices: [PriceID]) -> String {
    prices.isEmpty ? "-" : prices.map(\.text).joined(separator: ", ")
  }

  /// What was supplied and what it replaced. Of a user it has only the fact, because user ids are not kept in
  /// the audit.
  public static func details(
    _ old: Purchase, user: UserID?, price: PriceID?, context: ContextID?
  ) -> JSONValue {
    var members = supplied(user, price, context)
    if let price, old.prices != [price] {
      let before = old.prices.isEmpty ? nil : known(old.prices)
      members += [
        .init(name: "price_before", value: .optional(before)),
        .init(name: "price", value: .string(price.text)),
      ]
    }
    if let user, let known = old.userID, known != user {
      members.append(.init(name: "user_replaced", value: .bool(true)))
    }
    return .object(members)
  }

  /// What was supplied to each of several receipts.
  public static func details(user: UserID?, price: PriceID?) -> JSONValue {
    var members = supplied(user, price, nil)
    if let price { members.append(.init(name: "price", value: .string(price.text))) }
    return .object(members)
  }

  private static func supplied(
    _ user: UserID?, _ price: PriceID?, _ context: ContextID?
  ) -> [JSONValue.Member] {
    let names: [JSONValue] = [
      user.map { _ in "user" }, price.map { _ in "price" }, context.map { _ in "context" },
    ].compactMap { $0 }
    return [.init(name: "supplied", value: .array(names))]
  }
}
