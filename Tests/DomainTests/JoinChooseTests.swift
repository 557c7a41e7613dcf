// Tests which of a user's contexts a purchase gets.

import Domain
import TestSupport
import Testing

private let minute: Int64 = 60_000
private let hour: Int64 = 60 * minute
private let happened = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let policy = JoinPolicy()

private func candidate(_ id: ContextID, _ milliseconds: Int64, price: PriceID? = nil) -> Join.Candidate {
  Join.Candidate(
    id: id, blob: ContextBlob(text: id.text, priceID: price),
    receivedAt: happened.advanced(by: .milliseconds(milliseconds)))
}

private func choose(
  _ candidates: [Join.Candidate], prices: [PriceID] = ["price_P"], hourLater: Int64 = 0,
  processor: ProcessorRules = .stripe()
) -> ContextID? {
  let purchase = Purchase(
    key: PurchaseKey(type: .subscription, id: "sub_1"), userID: "u", userSource: .reference, prices: prices,
    happenedAt: happened, createdAt: happened)
  let now = happened.advanced(by: .milliseconds(hourLater * hour))
  return Join.choose(from: candidates, for: purchase, policy: policy, processor: processor, now: now)?
    .candidate.id
}

@Suite("The choice of a context")
struct JoinChooseTests {
  @Test func `Without a context in the window there is none`() {
    #expect(choose([]) == nil)
    #expect(choose([candidate("early", -24 * hour - 1)]) == nil)
  }

  @Test(arguments: [
    (-24 * hour - 1, false), (-24 * hour, true), (-1, true), (0, true), (1, true), (2 * minute, true),
    (2 * minute + 1, false),
  ])
  func `The window includes its edges`(offset: Int64, isIn: Bool) {
    // Ten days later only the window around the event counts.
    #expect((choose([candidate("it", offset)], hourLater: 240) != nil) == isIn)
  }

  @Test func `Of several, the newest is taken`() {
    #expect(
      choose([candidate("old", -3 * hour), candidate("new", -hour), candidate("older", -5 * hour)]) == "new")
  }

  @Test("Where only the merchant's own prices are comparable, another one neither fits nor contradicts")
  func ownPrices() {
    let rules = ProcessorRules(ownPrices: ["gold", "silver"], namesPrices: false)
    let foreign = candidate("foreign", -1, price: "price_Stripe")
    #expect(choose([foreign], prices: ["gold"], processor: rules) == "foreign")
    #expect(choose([candidate("other", -1, price: "silver")], prices: ["gold"], processor: rules) == nil)
    let fitting = candidate("fitting", -hour, price: "gold")
    #expect(choose([foreign, fitting], prices: ["gold"], processor: rules) == "fitting")
    #expect(choose([foreign], processor: .stripe()) == nil, "at Stripe every price may be compared")
  }

  @Test func `A context with the purchase's price precedes a newer one without it`() {
    let fitting = candidate("fitting", -20 * hour, price: "price_P")
    let other = candidate("other", -1, price: "price_Q")
    let silent = candidate("silent", -1)
    #expect(choose([other, fitting, silent]) == "fitting")
    #expect(choose([other, fitting], prices: []) == "other", "without a price to compare, the newest")
    #expect(
      choose([other, fitting], prices: ["price_X", "price_Q"]) == "other", "any of several prices fits")
  }

  @Test func `Of several with the price, the newest is taken`() {
    let candidates = [-9, -2, -7].map { candidate("at\($0)", $0 * hour, price: "price_P") }
    #expect(choose(candidates + [candidate("no", -1)]) == "at-2")
  }

  @Test func `An event that arrives days late still finds the context of its time`() {
    #expect(choose([candidate("then", -hour)], hourLater: 72) == "then")
  }

  @Test func `Of two contexts that fit equally, the one near a late event precedes a newer one`() {
    let then = candidate("then", -hour)
    let today = candidate("today", 71 * hour)
    #expect(choose([then, today], hourLater: 72) == "then")
    #expect(choose([today], hourLater: 72) == "today", "alone it is eligible: the sender's clock may be off")
    let named = candidate("named", 71 * hour, price: "price_P")
    #expect(choose([then, named], hourLater: 72) == "named")
  }

  @Test func `A sender's clock that runs ahead does not hide the context`() {
    let purchase = Purchase(
      key: PurchaseKey(type: .subscription, id: "sub_1"),
      happenedAt: happened.advanced(by: .milliseconds(90 * hour)),
      createdAt: happened)
    let found = Join.choose(
      from: [candidate("it", -hour)], for: purchase, policy: policy, processor: .stripe(), now: happened)
    #expect(found?.candidate.id == "it")
    let start = Join.windowStart(happenedAt: purchase.happenedAt, now: happened, policy: policy)
    #expect(start == happened.advanced(by: .milliseconds(-24 * hour)))
  }

  @Test(arguments: [Int64.min, -1, 0, Int64.max])
  func `Extreme times do not trap`(milliseconds: Int64) {
    let moment = Timestamp(unixMilliseconds: milliseconds)
    let purchase = Purchase(
      key: PurchaseKey(type: .subscription, id: "sub_1"), happenedAt: moment, createdAt: happened)
    for now in [moment, happened] {
      let found = Join.choose(
        from: [candidate("it", -hour)], for: purchase, policy: policy, processor: .stripe(), now: now)
      // A timestamp from a clock that ran ahead counts as now.
      #expect((found != nil) == (now <= happened))
      #expect(Join.windowStart(happenedAt: moment, now: now, policy: policy) <= now)
    }
  }

  @Test func `Two contexts of the same moment are ordered by id, in any input order`() {
    let pair = [candidate("a", -1), candidate("b", -1)]
    #expect(choose(pair) == "b")
    #expect(choose(pair.reversed()) == "b")
  }
}
