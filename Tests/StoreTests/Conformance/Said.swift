// Reports of events for tests.

import Domain
import TestSupport

/// Reports of events for tests: the purchase `n` has the session `cs_n`, the subscription `sub_n` and the
/// customer `cus_n`.
enum Said {
  static func completed(
    _ n: String = "1", user: String? = "u1", unpaid: Bool = false, named: Bool = true,
    metadataUser: String? = nil,
    contextID: ContextID? = nil, blob: ContextBlob? = nil, prices: [PriceID] = [], customer: Bool = true,
    at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    let seen: Observations = unpaid ? .promised : .paid
    var said = session(n, named ? seen : seen.union(.objectExpected), named: named, at: at)
    said.clientReference = user
    said.metadataUser = metadataUser
    said.contextID = contextID
    said.context = blob
    said.prices = prices
    if !customer { said.customerID = nil }
    return said
  }

  static func payment(_ n: String = "1", user: String? = "u1", prices: [PriceID] = ["price_1"])
    -> PurchaseReport
  {
    var said = session(n, .paid, named: false, at: TestStore.start)
    said.clientReference = user
    said.prices = prices
    return said
  }

  static func session(
    _ n: String, _ observations: Observations, named: Bool = true, at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    PurchaseReport(
      key: named
        ? PurchaseKey(type: .subscription, id: "sub_\(n)")
        : PurchaseKey(type: .checkoutSession, id: "cs_\(n)"),
      sessionID: "cs_\(n)", observations: observations, customerID: "cus_\(n)", happenedAt: at)
  }

  static func created(
    _ n: String = "1", active: Bool = true, user: String? = nil, customer: CustomerID? = nil,
    price: PriceID? = "price_1",
    contextID: ContextID? = nil, at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_\(n)"), observations: active ? .began : [],
      customerID: customer ?? "cus_\(n)", contextID: contextID, metadataUser: user,
      prices: price.map { [$0] } ?? [], happenedAt: at)
  }

  static func invoice(
    _ n: String = "1", user: String? = nil, price: PriceID? = "price_1", at: Timestamp = TestStore.start
  ) -> PurchaseReport {
    var said = created(n, user: user, price: price, at: at)
    said.observations = .firstPaymentMade
    return said
  }

  static func payKey(_ n: String = "1") -> PurchaseKey {
    PurchaseKey(processor: "pay", type: PurchaseKey.ObjectType("payment"), id: ObjectID("pay_\(n)"))
  }

  /// What a merchant backend says of a payment.
  static func pay(
    _ observations: Observations, _ n: String = "1", by user: UserID? = nil, in context: ContextID? = nil,
    price: PriceID? = "price_1"
  ) -> PurchaseReport {
    PurchaseReport(
      key: payKey(n), observations: observations, prices: price.map { [$0] } ?? [], startedBy: user,
      startedIn: context, happenedAt: TestStore.start)
  }
}
