// Tests the decision about a purchase over the whole table: what is known × the time of the decision.

import Formats
import TestSupport
import Testing

@testable import Domain

private let second: Int64 = 1000
private let minute: Int64 = 60 * second
private let hour: Int64 = 60 * minute
private let day: Int64 = 24 * hour
private let heard = Timestamp(unixMilliseconds: 1_800_000_000_000)

private func after(_ milliseconds: Int64) -> Timestamp { heard.advanced(by: .milliseconds(milliseconds)) }

private let deliver = JoinPolicy(settle: .zero)
private let hold = JoinPolicy(settle: .zero, withoutContext: .hold)

/// A purchase that was first reported at `heard`, and bought then unless `observations` say otherwise.
private func purchase(
  _ observations: Observations = .paid, type: PurchaseKey.ObjectType = .subscription,
  user: UserID? = "u",
  prices: [PriceID] = ["price_P"], context: ContextBlob? = nil
) -> Purchase {
  Purchase(
    key: PurchaseKey(type: type, id: "obj_1"), sessionID: type == .checkoutSession ? "obj_1" : nil,
    observations: observations, userID: user,
    userSource: user == nil ? nil : .reference, prices: prices, context: context, happenedAt: heard,
    createdAt: heard, boughtAt: heard)
}

private func blob(_ price: PriceID?) -> ContextBlob { ContextBlob(text: "blob", priceID: price) }

private func ready(
  _ price: PriceID, context: String? = nil, mismatch: Bool = false,
  type: PurchaseKey.ObjectType = .subscription
) -> Join.Resolution {
  let content = ReceiptContent(
    userID: "u", key: PurchaseKey(type: type, id: "obj_1"), priceID: price, context: context,
    boughtAt: heard)
  return .ready(content, priceMismatch: mismatch)
}

private struct Row: Sendable, CustomTestStringConvertible {
  var name: String
  var purchase: Purchase
  var policies = [deliver, hold]
  /// Milliseconds after the first report, each with the decision at that time.
  var decisions: [(at: Int64, is: Join.Resolution)]

  var testDescription: String { name }
}

private func always(_ resolution: Join.Resolution) -> [(at: Int64, is: Join.Resolution)] {
  [-day, 0, 1, 30 * second, 2 * minute, day, 14 * day, 4000 * day].map { ($0, resolution) }
}

/// The purchase waits until a time after its first report; from then on the decision is another one.
private func waits(
  _ reason: Reason, until deadline: Int64, then end: Join.Resolution
) -> [(at: Int64, is: Join.Resolution)] {
  let waiting = Join.Resolution.waiting(reason, until: after(deadline))
  return [
    (-minute, waiting), (0, waiting), (deadline - 1, waiting), (deadline, end), (deadline + 1, end),
    (deadline + 900 * day, end),
  ]
}

private let rows: [Row] = [
  Row(name: "nothing said", purchase: purchase([]), decisions: always(.none)),
  Row(name: "an abandoned checkout", purchase: purchase(.expired), decisions: always(.none)),
  Row(name: "a payment failed, no checkout", purchase: purchase(.failed), decisions: always(.none)),
  Row(name: "began, no user", purchase: purchase(.began, user: nil), decisions: always(.none)),
  Row(name: "invoiced, no user", purchase: purchase(.firstPaymentMade, user: nil), decisions: always(.none)),

  Row(
    name: "unpaid", purchase: purchase(.promised),
    decisions: waits(.payment, until: 14 * day, then: .failed(.payment))),
  Row(
    name: "unpaid, no user", purchase: purchase(.promised, user: nil, prices: []),
    decisions: waits(.payment, until: 14 * day, then: .failed(.payment))),
  Row(
    name: "unpaid, subscription active", purchase: purchase([.promised, .began]),
    decisions: waits(.payment, until: 14 * day, then: .failed(.payment))),
  Row(
    name: "unpaid, then failed", purchase: purchase([.promised, .failed]),
    decisions: always(.cancelled(.paymentFailed))),
  Row(
    name: "unpaid, then expired", purchase: purchase([.promised, .expired]),
    decisions: always(.cancelled(.sessionExpired))),
  Row(
    name: "unpaid, failed and expired",
    purchase: purchase([.promised, .failed, .expired]),
    decisions: always(.cancelled(.paymentFailed))),
  Row(
    name: "unpaid, then paid",
    purchase: purchase([.promised, .paid], context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "unpaid, failed, then paid",
    purchase: purchase([.promised, .failed, .paid], context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "unpaid, first invoice paid",
    purchase: purchase([.promised, .firstPaymentMade], context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob"))),

  Row(
    name: "paid, the subscription has no name yet",
    purchase: purchase([.paid, .objectExpected], type: .checkoutSession, context: blob("price_P")),
    decisions: waits(.subscription, until: 14 * day, then: .failed(.subscription))),
  Row(
    name: "unpaid, the subscription has no name yet",
    purchase: purchase([.promised, .objectExpected], type: .checkoutSession),
    decisions: waits(.payment, until: 14 * day, then: .failed(.payment))),
  Row(
    name: "the subscription has its name",
    purchase: purchase([.paid, .objectExpected], context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "a payment", purchase: purchase(.paid, type: .checkoutSession, context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob", type: .checkoutSession))),

  Row(
    name: "no user", purchase: purchase(user: nil),
    decisions: waits(.user, until: day, then: .failed(.user))),
  Row(
    name: "no user, no price, but a context", purchase: purchase(user: nil, prices: [], context: blob(nil)),
    decisions: waits(.user, until: day, then: .failed(.user))),
  Row(
    name: "no price, no context", purchase: purchase(prices: []),
    decisions: waits(.price, until: day, then: .failed(.price))),
  Row(
    name: "no price, a context without one", purchase: purchase(prices: [], context: blob(nil)),
    decisions: waits(.price, until: day, then: .failed(.price))),
  Row(
    name: "the context's price is the merchant's own name",
    purchase: purchase(prices: [], context: blob("stripe.monthly_premium_123")),
    decisions: waits(
      .price, until: 30 * second, then: ready("stripe.monthly_premium_123", context: "blob"))),
  Row(
    name: "the context's price is a Stripe price", purchase: purchase(prices: [], context: blob("price_C")),
    decisions: always(ready("price_C", context: "blob"))),
  Row(
    name: "the context's price is a Stripe plan", purchase: purchase(prices: [], context: blob("plan_C")),
    decisions: always(ready("plan_C", context: "blob"))),

  Row(
    name: "no context, deliver", purchase: purchase(), policies: [deliver],
    decisions: waits(.context, until: 2 * minute, then: ready("price_P"))),
  Row(
    name: "no context, hold", purchase: purchase(), policies: [hold],
    decisions: always(.waiting(.context, until: nil))),
  Row(
    name: "everything", purchase: purchase(context: blob("price_P")),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "a context without a price", purchase: purchase(context: blob(nil)),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "a context of another price", purchase: purchase(context: blob("price_Q")),
    decisions: always(ready("price_P", context: "blob", mismatch: true))),
  Row(
    name: "a context of the merchant's price", purchase: purchase(context: blob("gold")),
    decisions: always(ready("price_P", context: "blob", mismatch: true))),
  Row(
    name: "several prices, the context names the second",
    purchase: purchase(prices: ["price_P", "price_Q"], context: blob("price_Q")),
    decisions: always(ready("price_Q", context: "blob"))),
  Row(
    name: "several prices, the context names none of them",
    purchase: purchase(prices: ["price_P", "price_Q"], context: blob("price_R")),
    decisions: always(ready("price_P", context: "blob", mismatch: true))),
  Row(
    name: "began, with a user", purchase: purchase(.began, context: blob(nil)),
    decisions: always(ready("price_P", context: "blob"))),
  Row(
    name: "invoiced, with a user", purchase: purchase(.firstPaymentMade, context: blob(nil)),
    decisions: always(ready("price_P", context: "blob"))),
]

@Suite("The decision about a purchase")
struct JoinResolveTests {
  @Test("Every purchase is decided as the contract says, before, at and after each deadline", arguments: rows)
  private func table(row: Row) {
    for policy in row.policies {
      for (moment, expected) in row.decisions {
        let decided = Join.resolve(row.purchase, policy: policy, processor: .stripe(), now: after(moment))
        #expect(decided == expected, "\(moment) ms after it was heard of, \(policy.withoutContext)")
      }
    }
  }

  @Test func `Waits for user, price and context count from the purchase, not from its first event`() {
    var late = purchase()
    late.boughtAt = after(3 * day)
    let waiting = Join.Resolution.waiting(.context, until: after(3 * day + 2 * minute))
    #expect(Join.resolve(late, policy: deliver, processor: .stripe(), now: after(3 * day)) == waiting)
    late.forgetUsers()
    let lacking = Join.Resolution.waiting(.user, until: after(4 * day))
    #expect(Join.resolve(late, policy: deliver, processor: .stripe(), now: after(3 * day)) == lacking)
  }

  @Test func `A purchase that becomes bought now waits from now`() {
    var fresh = purchase()
    fresh.boughtAt = nil
    let waiting = Join.Resolution.waiting(.context, until: after(9 * day + 2 * minute))
    #expect(Join.resolve(fresh, policy: deliver, processor: .stripe(), now: after(9 * day)) == waiting)
  }

  @Test func `Deadlines beyond the end of time wait and do not trap`() {
    let endless = JoinPolicy(
      window: .longest, waitForContext: .longest, waitForUser: .longest,
      waitForProcessorPrice: .longest, waitForPrice: .longest,
      waitForPayment: .longest)
    let end = Timestamp(unixMilliseconds: .max)
    #expect(
      Join.resolve(purchase(), policy: endless, processor: .stripe(), now: heard)
        == .waiting(.context, until: end))
    #expect(
      Join.resolve(purchase(user: nil), policy: endless, processor: .stripe(), now: heard)
        == .waiting(.user, until: end))
    #expect(
      Join.resolve(purchase(.promised), policy: endless, processor: .stripe(), now: end) == .failed(.payment))
  }

  @Test func `A checkout waits for its price only if the processor can be asked for it`() {
    let (policy, checkout) = (
      JoinPolicy(), purchase(type: .checkoutSession, prices: [], context: blob("price_P"))
    )
    #expect(
      Join.resolve(checkout, policy: policy, processor: .stripe(), now: heard)
        == ready("price_P", context: "blob", type: .checkoutSession))
    #expect(
      Join.resolve(checkout, policy: policy, processor: .stripe(isAsked: true), now: heard)
        == .waiting(.price, until: heard + policy.settle))
  }

  @Test func `A purchase without its checkout waits longer for it if the processor can be asked for it`() {
    let (policy, sister) = (JoinPolicy(), purchase(.began, context: blob("price_P")))
    #expect(
      Join.resolve(sister, policy: policy, processor: .stripe(), now: heard)
        == .waiting(.checkout, until: heard + policy.settle))
    #expect(
      Join.resolve(sister, policy: policy, processor: .stripe(), now: heard + policy.settle)
        == ready("price_P", context: "blob"))
    #expect(
      Join.resolve(sister, policy: policy, processor: .stripe(isAsked: true), now: heard)
        == .waiting(.checkout, until: heard + policy.settle * Join.lookupFactor))
  }

  @Test func `A wait of zero decides at once`() {
    let impatient = JoinPolicy(
      settle: .zero, waitForContext: .zero, waitForUser: .zero,
      waitForProcessorPrice: .zero,
      waitForPrice: .zero, waitForPayment: .zero)
    #expect(Join.resolve(purchase(), policy: impatient, processor: .stripe(), now: heard) == ready("price_P"))
    #expect(
      Join.resolve(purchase(user: nil), policy: impatient, processor: .stripe(), now: heard) == .failed(.user)
    )
    #expect(
      Join.resolve(purchase(prices: []), policy: impatient, processor: .stripe(), now: heard)
        == .failed(.price))
    #expect(
      Join.resolve(purchase(.promised), policy: impatient, processor: .stripe(), now: heard)
        == .failed(.payment))
    let named = purchase(prices: [], context: blob("gold"))
    #expect(
      Join.resolve(named, policy: impatient, processor: .stripe(), now: heard)
        == ready("gold", context: "blob"))
  }

  @Test func `A receipt that an operator sends needs only a user and a price`() throws {
    let named = ProcessorRules()
    #expect(throws: Join.Lack(reason: .user)) { try Join.content(of: purchase(user: nil), named).get() }
    #expect(throws: Join.Lack(reason: .price)) { try Join.content(of: purchase(prices: []), named).get() }
    let bare = try Join.content(of: purchase(), named).get()
    #expect(bare.content.priceID == "price_P")
    #expect(bare.content.context == nil)
    #expect(!bare.priceMismatch)
    let gold = try Join.content(of: purchase(prices: [], context: blob("gold")), named).get()
    #expect(gold.content.priceID == "gold")
    #expect(!gold.priceMismatch)
    let unnamed = ProcessorRules(namesPrices: false)
    #expect(try Join.content(of: purchase(prices: []), unnamed).get().content.priceID == nil)
  }

  @Test func `A purchase of a processor without prices waits for none`() {
    let resolution = Join.resolve(
      purchase(prices: [], context: blob(nil)), policy: deliver,
      processor: ProcessorRules(namesPrices: false), now: heard)
    guard case .ready(let content, let priceMismatch) = resolution else {
      Issue.record("not ready: \(resolution)")
      return
    }
    #expect(content.priceID == nil)
    #expect(!priceMismatch)
  }

  @Test("A context's price that is none of the merchant's own is no mismatch; another one of them is")
  func ownPrices() throws {
    let rules = ProcessorRules(ownPrices: ["gold", "silver"], namesPrices: false)
    func mismatch(_ price: PriceID) throws -> Bool {
      try Join.content(of: purchase(prices: ["gold"], context: blob(price)), rules).get().priceMismatch
    }
    #expect(try !mismatch("price_Stripe"))
    #expect(try !mismatch("gold"))
    #expect(try mismatch("silver"))
  }
}
