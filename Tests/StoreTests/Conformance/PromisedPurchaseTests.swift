// Tests that a promised purchase may get a guessed context, but never keeps it from a paid purchase, in any
// order (R2, R5).

import Domain
import Store
import Testing

private let price: [PriceID] = ["price_1"]

private func incomplete(_ n: String, _ observations: Observations) -> PurchaseReport {
  var said = Said.created(n, active: false, user: "u1")
  said.observations = observations
  return said
}

private func failed(_ n: String) -> PurchaseReport {
  Said.session(n, [.promised, .failed])
}

private func record(_ store: TestStore, _ n: String) throws -> PurchaseRecord {
  try #require(try store.receipts().first { $0.purchase.key.id == "sub_\(n)" })
}

private func body(_ store: TestStore, _ n: String) throws -> String {
  TestStore.status(try record(store, n))
}

private func status(_ store: TestStore, _ id: ContextID) throws -> (CheckoutStatus.State?, Bool?) {
  let status = try store.reader.status(app: "ios", contextID: id, now: store.now)
  return (status?.state, status?.paid)
}

/// Runs the steps in order; with a pause, also ends waits after each step.
private func happen(_ steps: [() throws -> Void], pause: Int64, _ store: TestStore) throws {
  for step in steps {
    try step()
    store.advance(pause)
    try store.endWaits()
  }
}

@Suite("Contexts of purchases that are only promised", .everyEngine)
struct PromisedPurchaseTests {
  private let rules = TestStore.rules(settle: .seconds(5))

  @Test(arguments: [0, 10 * second])
  func `A failed promise keeps no context from a paid purchase, in any order`(pause: Int64) throws {
    let promises = [
      [Said.completed("1", unpaid: true, prices: price), failed("1")],
      [incomplete("1", .firstPaymentDue), incomplete("1", .ended)],
    ]
    for promise in promises {
      for order in TestEngine.orders([0, 1, 2, 3]) {
        let store = try TestStore(rules: rules)
        var id: ContextID = ""
        let steps: [() throws -> Void] = [
          { id = try store.post(price: "price_1") }, { try store.ingest(promise[0]) },
          { try store.ingest(promise[1]) },
          { try store.ingest(Said.completed("2", prices: price, at: store.now)) },
        ]
        try happen(order.map { steps[$0] }, pause: pause, store)
        #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 blob", "\(order)")
        #expect(try status(store, id) == (.paid, true), "\(order)")
        let other = try store.receipts().first { $0.purchase.key.id == "sub_1" }
        #expect(other?.receipt?.state ?? .cancelled == .cancelled)
        #expect(other?.purchase.contextID == nil)
        #expect(try store.reader.integrityFaults() == [])
      }
    }
  }

  @Test func `A promised and a paid purchase get the same contexts of two in either order`() throws {
    let events = [
      Said.completed("1", unpaid: true, prices: price), Said.completed("2", prices: price),
    ]
    for order in [[0, 1], [1, 0]] {
      let store = try TestStore(rules: rules)
      try store.post("old", price: "price_1")
      store.advance(1)
      try store.post("new", price: "price_1")
      for position in order { try store.ingest(events[position]) }
      #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 new", "\(order)")
      #expect(try record(store, "1").purchase.context?.text == "old", "\(order)")
      try store.ingest(Said.session("1", .paid))
      #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 old", "\(order)")
    }
  }

  @Test("A promised purchase that lost its context to a paid one is sent without it once it is paid")
  func paidLater() throws {
    let store = try TestStore(rules: rules)
    try store.post(price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    try store.ingest(Said.completed("2", prices: price))
    #expect(try body(store, "1") == "waiting/payment")
    try store.ingest(Said.session("1", .paid))
    #expect(try body(store, "1") == "waiting/context")
    store.advance(3 * minute)
    try store.endWaits()
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 -")
    #expect(try store.receipts().allSatisfy { $0.receipt?.contextDisputed == false })
  }

  @Test("A context that arrives while both wait goes to the paid purchase, although the promise is older")
  func comesLast() throws {
    let store = try TestStore(rules: rules)
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    try store.ingest(Said.completed("2", prices: price))
    try store.post(price: "price_1")
    #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 blob")
    #expect(try body(store, "1") == "waiting/payment")
    #expect(try record(store, "1").purchase.contextID == nil)
  }

  @Test func `A promised purchase that is paid first keeps its context`() throws {
    let store = try TestStore(rules: rules)
    try store.post(price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    try store.ingest(Said.session("1", .paid))
    try store.ingest(Said.completed("2", prices: price))
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try body(store, "2") == "waiting/context")
  }

  @Test func `A paid purchase of another price does not get a promised purchase's context`() throws {
    let store = try TestStore(rules: rules)
    let id = try store.post(price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    try store.ingest(Said.completed("2", prices: ["price_2"]))
    #expect(try body(store, "2") == "waiting/context")
    #expect(try record(store, "1").purchase.contextID == id)
  }

  @Test(
    "The context of a failed payment goes to the next promise; without one its state is cancelled",
    arguments: [0, 10 * second])
  func nextPromise(pause: Int64) throws {
    for order in TestEngine.orders([0, 1, 2]) {
      let store = try TestStore(rules: rules)
      let id = try store.post(price: "price_1")
      let events = [
        Said.completed("1", unpaid: true, prices: price), failed("1"),
        Said.completed("2", unpaid: true, prices: price),
      ]
      try happen(order.map { position in { try store.ingest(events[position]) } }, pause: pause, store)
      #expect(try record(store, "2").purchase.contextID == id, "\(order)")
      #expect(try status(store, id) == (.open, false), "\(order)")
      #expect(try body(store, "1") == "cancelled/payment_failed")

      let alone = try TestStore(rules: rules)
      let own = try alone.post(price: "price_1")
      let steps = order.filter { $0 < 2 }.map { position in { _ = try alone.ingest(events[position]) } }
      try happen(steps, pause: pause, alone)
      #expect(try status(alone, own) == (.cancelled, false), "\(order)")
    }
  }

  @Test func `A checkout that begins after a failed payment is not shown as cancelled`() throws {
    let store = try TestStore(rules: rules)
    try store.ingest(incomplete("1", .firstPaymentDue))
    try store.ingest(incomplete("1", .ended))
    #expect(try body(store, "1") == "cancelled/payment_failed")
    store.advance(second)
    let id = try store.post(price: "price_1")
    try store.ingest(incomplete("1", .ended))
    #expect(try status(store, id) == (.open, false))
    #expect(try store.context(id).receiptID == nil)
  }

  @Test func `The context of a promise that an operator cancels goes to the next one`() throws {
    let store = try TestStore(rules: rules)
    let id = try store.post(price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    try store.ingest(Said.completed("2", unpaid: true, prices: price))
    let first = try #require(try record(store, "1").receipt?.id)
    #expect(try store.apply(CancelReceipt(id: first, note: "stop")) == .done)
    #expect(try record(store, "2").purchase.contextID == id)
    #expect(try body(store, "1") == "cancelled/operator")
    #expect(try status(store, id) == (.open, false))
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `The context of a promise whose payment never came goes to the next one`() throws {
    let store = try TestStore(rules: rules)
    let id = try store.post(price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: price))
    store.advance(hour)
    try store.ingest(Said.completed("2", unpaid: true, prices: price, at: store.now))
    #expect(try record(store, "2").purchase.contextID == nil)
    store.advance(14 * day - hour)
    try store.endWaits()
    #expect(try body(store, "1") == "failed/payment")
    #expect(try record(store, "2").purchase.contextID == id)
  }

  @Test func `A purchase that is not paid yet loses its guess to a paid one that waits`() throws {
    let store = try TestStore()
    try store.post(price: "gold")
    try store.ingest(Said.created("1", user: "u1", price: nil))
    #expect(try body(store, "1") == "waiting/price")
    #expect(try record(store, "1").purchase.contextID != nil)
    try store.ingest(Said.completed("2", prices: price))
    #expect(try body(store, "2") == "waiting/context")
    try store.ingest(Said.completed("1", unpaid: true))
    #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 blob")
    #expect(try body(store, "1") == "waiting/payment")
  }

  @Test("A guess released for a name goes to the purchase that lost the named context, in one write")
  func exchanged() throws {
    let store = try TestStore()
    try store.post("other", price: "price_2")
    store.advance(1)
    let old = try store.post("old", price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, prices: ["price_1", "price_2"]))
    #expect(try record(store, "1").purchase.contextID == old)
    store.advance(1)
    let new = try store.post("new", price: "price_1")
    try store.ingest(Said.completed("2", prices: price))
    #expect(try record(store, "2").purchase.contextID == new)
    var naming = Said.session("1", [])
    naming.contextID = new
    try store.ingest(naming)
    #expect(try record(store, "1").purchase.contextID == new)
    #expect(try record(store, "2").purchase.contextID == old)
    #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 old")
    #expect(try store.integer("SELECT count(*) FROM contexts WHERE purchase_row IS NOT NULL") == 2)
    #expect(try store.reader.integrityFaults() == [])
  }
}
