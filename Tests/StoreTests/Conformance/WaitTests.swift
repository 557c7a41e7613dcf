// Tests what happens to receipts exactly when their wait ends, and what continues them later (R4).

import Domain
import Store
import TestSupport
import Testing

/// The receipt's status one millisecond before a deadline and at the deadline.
private func statuses(_ store: TestStore, after milliseconds: Int64, app: AppSlug = "ios") throws -> [String]
{
  store.advance(milliseconds - 1)
  try store.endWaits()
  let before = try store.status(app: app)
  store.advance(1)
  try store.endWaits()
  return [before, try store.status(app: app)]
}

@Suite("Waits that end", .everyEngine)
struct WaitTests {
  @Test func `No context: delivered without one after two minutes, or held for as long as it takes`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    let ended = try statuses(store, after: 2 * minute)
    #expect(ended == ["waiting/context", "pending: u1 subscription sub_1 price_1 -"])

    let held = try TestStore()
    try held.ingest(.said(prices: ["price_1"]), app: "held")
    for _ in 0..<5 {
      held.advance(90 * day)
      try held.endWaits()
      #expect(try held.status() == "waiting/context")
    }
    try held.post(app: "held")
    #expect(try held.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test func `No user: failed after a day, and continued when the user becomes known (R4)`() throws {
    for app: AppSlug in ["ios", "held"] {
      let store = try TestStore()
      try store.ingest(Said.completed(user: nil, prices: ["price_1"]), app: app)
      let ended = try statuses(store, after: day, app: app)
      #expect(ended == ["waiting/user", "failed/user"])
      store.advance(day)
      try store.post(app: app)
      #expect(try store.status() == "failed/user", "a context alone names no purchase")
      try store.ingest(Said.created(user: "u1"), app: app)
      #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    }
  }

  @Test func `No price: failed after a day, and continued when the price becomes known (R4)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed())
    #expect(try statuses(store, after: day) == ["waiting/price", "failed/price"])
    store.advance(day)
    let later = try store.post(price: "gold")
    #expect(try store.status() == "failed/price", "what is posted now belongs to a checkout of now")
    try store.ingest(Said.created(at: store.now), keep: false)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try store.context(later).state == .paid)
  }

  @Test func `A merchant's own price: used after thirty seconds, unless Stripe's arrives before`() throws {
    let store = try TestStore()
    try store.post(price: "gold")
    try store.ingest(Said.completed())
    let ended = try statuses(store, after: 30 * second)
    #expect(ended == ["waiting/price", "pending: u1 subscription sub_1 gold blob"])
    #expect(try store.only().receipt?.priceMismatch == false)

    let prompt = try TestStore()
    try prompt.post(price: "gold")
    try prompt.ingest(Said.completed())
    prompt.advance(29 * second)
    try prompt.ingest(Said.created())
    #expect(try prompt.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try prompt.only().receipt?.priceMismatch == true)
    #expect(try prompt.only().receipt?.priceID == "price_1")
  }

  @Test func `No money: failed after two weeks, and continued when it arrives (R4)`() throws {
    for app: AppSlug in ["ios", "held"] {
      let store = try TestStore()
      try store.post(app: app)
      try store.ingest(Said.completed(unpaid: true, prices: ["price_1"]), app: app)
      #expect(try statuses(store, after: 14 * day, app: app) == ["waiting/payment", "failed/payment"])
      try store.ingest(Said.session("1", .paid), app: app)
      #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    }
  }

  @Test func `No subscription id: failed after two weeks, and continued when it arrives (R4)`() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(Said.completed(named: false, prices: ["price_1"]))
    #expect(try statuses(store, after: 14 * day) == ["waiting/subscription", "failed/subscription"])
    try store.ingest(Said.session("1", .paid))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test func `A payment that takes days gets no context of a later checkout`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(unpaid: true, prices: ["price_1"]))
    store.advance(3 * day)
    let later = try store.post("later")
    #expect(try store.context(later).receiptID == nil)
    try store.ingest(Said.session("1", .paid))
    #expect(try store.status() == "waiting/context")
    #expect(try store.context(later).receiptID == nil)
    let next = try statuses(store, after: 2 * minute)
    #expect(next == ["waiting/context", "pending: u1 subscription sub_1 price_1 -"])
  }

  @Test func `The store says when the next wait ends, and nothing is decided before`() throws {
    let store = try TestStore()
    #expect(try store.endWaits() == nil)
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    try store.ingest(Said.completed("2", user: nil))
    #expect(try store.endWaits() == store.after(2 * minute))
    store.advance(2 * minute)
    #expect(try store.endWaits() == TestStore.start.advanced(by: .milliseconds(day)))
    store.advance(2 * day)
    #expect(try store.endWaits() == nil)
  }

  @Test func `More waits than one slice holds all end, slice by slice`() throws {
    let store = try TestStore()
    let events = (0..<450).map { n in
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_\(n)", type: "t", body: [],
        content: .report(Said.completed("\(n)", user: "u\(n)", prices: ["price_1"]), keep: true))
    }
    #expect(store.writer.apply(events.map { Submission($0) { _ in } }, now: store.now).fault == nil)
    store.advance(2 * minute)
    var rounds = 0
    while let next = try store.endWaits(), next <= store.now { rounds += 1 }
    #expect(rounds == 2)
    #expect(try store.reader.counts().map(\.state) == [.pending, .waiting])
    #expect(try store.reader.counts().map(\.count) == [450, 0])
  }

  @Test func `A receipt of an app that is not configured keeps waiting and is not lost (R4)`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    store.writer.use(rules: [:])
    store.advance(2 * minute)
    #expect(try store.endWaits() == nil)
    #expect(try store.status() == "waiting/context")
    store.writer.use(rules: TestStore.rules)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -", "at once, not an hour later")
  }

  @Test func `A wait of a previous configuration is decided again by the current one`() throws {
    let store = try TestStore()
    for number in 0..<450 {
      try store.ingest(Said.completed("\(number)", prices: ["price_1"]), app: "held")
    }
    try store.ingest(Said.completed("other", prices: ["price_1"]), app: "ios")
    store.advance(10 * minute)
    try store.endWaits()
    #expect(try store.status(app: "ios") == "pending: u1 subscription sub_other price_1 -")
    #expect(try store.reader.counts().first { $0.app == "held" }?.state == .waiting)
    store.writer.use(rules: [
      "held": AppRules(join: JoinPolicy(), processors: .stripe, compose: TestStore.compose)
    ])
    let startedAt = store.now
    var (place, slices): (ReconsiderReceipts.Place?, Int) = (nil, 0)
    repeat {
      place = try store.apply(ReconsiderReceipts(app: "held", startedAt: startedAt, after: place))
      slices += 1
    } while place != nil
    #expect(slices == 4, "the last one looks at the pending ones")
    #expect(try store.reader.counts().first { $0.app == "held" && $0.count > 0 }?.state == .pending)
    #expect(try store.apply(ReconsiderReceipts(app: "held", startedAt: store.now)) == .pending)
    #expect(try store.apply(ReconsiderReceipts(app: "held", startedAt: store.now, after: .pending)) == nil)
  }

  @Test func `A wait that began while the clock ran ahead counts from the next event at the latest`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    store.advance(-hour)
    try store.ingest(Said.created())
    #expect(try store.endWaits() == store.after(2 * minute))
    let ended = try statuses(store, after: 2 * minute)
    #expect(ended == ["waiting/context", "pending: u1 subscription sub_1 price_1 -"])
  }

  @Test func `A waiting receipt keeps its remaining wait over a restart (R9)`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    store.advance(minute)
    try store.reopen()
    #expect(
      try statuses(store, after: minute) == ["waiting/context", "pending: u1 subscription sub_1 price_1 -"])
  }
}

@Suite("Users of purchases", .everyEngine)
struct UserTests {
  @Test func `A user is known by the customer, whichever of the two events comes first (R2)`() throws {
    for isReversed in [false, true] {
      let store = try TestStore()
      let first = Said.completed("1", user: "u1", prices: ["price_1"])
      let second = Said.completed("2", user: nil, prices: ["price_1"]).of("cus_1")
      for report in isReversed ? [second, first] : [first, second] { try store.ingest(report) }
      let receipts = try store.receipts()
      #expect(Set(receipts.map(\.purchase.key.id)) == ["sub_1", "sub_2"])
      #expect(receipts.map(\.purchase.userID) == ["u1", "u1"])
      #expect(receipts.first { $0.purchase.key.id == "sub_2" }?.purchase.userSource == .customer)
      try store.post("one")
      try store.post("two")
      #expect(try store.receipts().map(\.receipt?.state) == [.pending, .pending])
    }
  }

  @Test func `The same customer id of another app names no one (R5)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", user: "u1"), app: "web")
    try store.ingest(Said.created("2", customer: "cus_1"))
    #expect(try store.receipts(app: "ios").isEmpty)
  }

  @Test("A user that becomes known continues the customer's purchases that wait, not those that have failed")
  func revival() throws {
    let store = try TestStore()
    for n in ["1", "2"] {
      var said = Said.completed(n, user: nil, prices: ["price_1"])
      said.customerID = "cus_x"
      try store.ingest(said)
    }
    store.advance(day)
    try store.endWaits()
    #expect(try store.receipts().map(TestStore.status) == ["failed/user", "failed/user"])
    try store.ingest(Said.completed("3", user: nil, prices: ["price_1"]).of("cus_x"))
    try store.ingest(Said.created("1", user: "u1", customer: "cus_x"))
    store.advance(2 * minute)
    try store.endWaits()
    #expect(
      try store.receipts().map(TestStore.status) == [
        "pending: u1 subscription sub_1 price_1 -", "failed/user",
        "pending: u1 subscription sub_3 price_1 -",
      ])
  }

  @Test func `A more certain source replaces the user and releases the wrong user's context (R5)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", user: "u1"))
    let wrong = try store.post("of u1")
    #expect(try store.context(wrong).receiptID != nil)
    try store.ingest(Said.completed("2", user: nil, unpaid: true).of("cus_1"))
    let second = try store.post("second of u1")
    #expect(try store.receipts().last?.purchase.contextID == second)
    let right = try store.post("of u2", user: "u2")
    try store.ingest(Said.created("2", active: false, user: "u2", customer: "cus_1"))
    let moved = try #require(try store.receipts().last)
    #expect(moved.purchase.userID == "u2")
    #expect(moved.purchase.contextID == right)
    #expect(try store.context(second).receiptID == nil)
    #expect(try store.context(second).state == .open)
  }

  @Test func `A less certain source replaces no user`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: "u1", unpaid: true))
    try store.ingest(Said.created(active: false, user: "u2"))
    #expect(try store.only().purchase.userID == "u1")
  }

  @Test func `A context's id as the reference is not a user, known or not`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: "ctx_01MCC5RM00ABCDEFGHJKMNPQRS", prices: ["price_1"]))
    #expect(try store.status() == "waiting/user")
  }
}

extension PurchaseReport {
  fileprivate func of(_ customer: CustomerID) -> PurchaseReport {
    var report = self
    report.customerID = customer
    return report
  }
}
