// Tests that a name always beats a guess: in any order, the purchase that names a context gets it, and the
// checkout status reports that purchase (R5).

import Domain
import Store
import TestSupport
import Testing

/// Records an attempt with this decision for everything that is due.
private func attempt(
  _ store: TestStore, _ decision: Delivery.Decision = .delivered(importID: "imp"), status: Int64? = 200
) throws {
  for receipt in try store.reader.due(app: "ios", now: store.now, limit: 100) {
    try record(store, receipt, decision, status: status)
  }
}

private func record(
  _ store: TestStore, _ receipt: StoreReader.DueReceipt, _ decision: Delivery.Decision, status: Int64?
) throws {
  let report = AttemptReport(at: store.now, status: status)
  _ = try store.apply(
    RecordAttempt(of: receipt.id, app: "ios", sent: receipt.body, report: report, decision: decision))
}

private func body(_ store: TestStore, _ n: String) throws -> String? {
  try store.receipts().first { $0.purchase.key.id == "sub_\(n)" }.map(TestStore.status)
}

@Suite("Contexts that are named, and contexts that are guessed", .everyEngine)
struct NamedContextTests {
  private let rules = TestStore.rules(settle: .seconds(5))

  @Test("A purchase with another user's reference and another price gets no context of that user")
  func otherPrice() throws {
    for order in TestEngine.orders([0, 1]) {
      let store = try TestStore(rules: rules)
      let victims = try store.post("victim's", price: "price_1")
      let events = [
        Said.completed("9", user: "u1"), Said.created("9", customer: "cus_9", price: "price_free"),
      ]
      for position in order { try store.ingest(events[position]) }
      store.advance(3 * minute)
      try store.endWaits()
      #expect(try body(store, "9") == "pending: u1 subscription sub_9 price_free -", "\(order)")
      #expect(try store.context(victims).state == .open)
      try store.ingest(Said.completed("1", user: victims.text, prices: ["price_1"]))
      #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 victim's")
      #expect(try store.receipts().allSatisfy { $0.receipt?.contextDisputed == false })
    }
  }

  @Test(
    "In every order of two purchases of one price the one that names the context ends with it",
    arguments: [0, 10 * second], [false, true])
  func everyOrder(pause: Int64, delivers: Bool) throws {
    for order in TestEngine.orders([0, 1, 2, 3]) {
      let store = try TestStore(rules: rules)
      let named = try store.post("named", price: "price_1")
      let events = [
        Said.completed("1", user: named.text), Said.created("1", customer: "cus_1"),
        Said.completed("2", user: "u1"), Said.created("2", customer: "cus_2"),
      ]
      for position in order {
        try store.ingest(events[position])
        store.advance(pause)
        try store.endWaits()
        if delivers { try attempt(store) }
      }
      store.advance(3 * minute)
      try store.endWaits()
      let exact = try #require(try store.receipts().first { $0.purchase.key.id == "sub_1" })
      let other = try #require(try store.receipts().first { $0.purchase.key.id == "sub_2" })
      let note = Comment("\(order), \(TestStore.status(exact)), \(TestStore.status(other))")
      #expect(TestStore.status(exact).hasSuffix(": u1 subscription sub_1 price_1 named"), note)
      #expect(try store.context(named).receiptID == exact.receipt?.id, note)
      let wasGuessed = other.purchase.contextID == named
      #expect(other.receipt?.contextDisputed == wasGuessed, note)
      #expect((!wasGuessed || delivers), note)
      #expect(exact.receipt?.contextDisputed == false, note)
    }
  }

  @Test func `A guess that was not sent yet is made again without its context, or with another one`() throws {
    for hasAnother in [false, true] {
      let store = try TestStore()
      if hasAnother { try store.post("another", price: "price_1") }
      store.advance(1)
      let named = try store.post("named", price: "price_1")
      try store.ingest(Said.completed("2", prices: ["price_1"]))
      #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 named")
      try attempt(store, .retry(at: store.after(second), spent: true), status: nil)
      try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
      #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 named")
      #expect(
        try body(store, "2")
          == (hasAnother ? "pending: u1 subscription sub_2 price_1 another" : "waiting/context"))
      store.advance(2 * minute)
      try store.endWaits()
      #expect(try body(store, "2")?.hasSuffix(hasAnother ? "price_1 another" : "price_1 -") == true)
      #expect(try store.receipts().allSatisfy { $0.receipt?.contextDisputed == false })
    }
  }

  @Test("A guess that was sent stays as it was sent, is marked, and every retry sends the same")
  func disputed() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    try attempt(store, .retry(at: store.after(second), spent: true), status: 503)
    try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 named")
    #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 named")
    #expect(try store.receipts().map { $0.receipt?.contextDisputed } == [true, false])
    let owner = try store.receipts().last?.receipt?.id
    #expect(try store.context(named).receiptID == owner)
    store.advance(second)
    try attempt(store)
    #expect(try store.context(named).receiptID == owner)
    #expect(try store.receipts().map { $0.receipt?.state } == [.delivered, .delivered])
  }

  @Test func `A guess that is under way while its context is named is shown as it was sent`() throws {
    let outcomes: [(Delivery.Decision, Int64?, String)] = [
      (.delivered(importID: "imp"), 200, "delivered: u1 subscription sub_2 price_1 named"),
      (.failed(.status(422)), 422, "failed/http_422: u1 subscription sub_2 price_1 named"),
      (
        .retry(at: TestStore.start.advanced(by: .milliseconds(hour)), spent: true), 503,
        "pending: u1 subscription sub_2 price_1 named"
      ),
      (.retry(at: TestStore.start, spent: true), nil, "waiting/context"),
    ]
    for (decision, status, expected) in outcomes {
      let store = try TestStore()
      let named = try store.post("named", price: "price_1")
      try store.ingest(Said.completed("2", prices: ["price_1"]))
      let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
      try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
      #expect(try body(store, "2") == "waiting/context")
      try record(store, sent, decision, status: status)
      #expect(try body(store, "2") == expected)
      #expect(try store.receipts().first?.receipt?.contextDisputed == (status != nil))
      #expect(try store.context(named).receiptID == store.receipts().last?.receipt?.id)
    }
  }

  @Test("A receipt that is under way while an event names another user is shown as it was sent")
  func otherUserMeanwhile() throws {
    for (isInferred, isLate) in [(false, false), (false, true), (true, false), (true, true)] {
      let store = try TestStore()
      if isInferred {
        var sister = Said.completed("2", blob: ContextBlob(text: "own", priceID: nil), prices: ["price_2"])
        sister.customerID = "cus_1"
        try store.ingest(sister)
      }
      let context = try store.post(price: "price_1")
      try store.ingest(Said.completed("1", user: isInferred ? nil : "u1"))
      let first = try store.receipts().first { $0.purchase.key.id == "sub_1" }?.receipt?.id
      let due = try store.reader.due(app: "ios", now: store.now, limit: 5)
      let sent = try #require(due.first { $0.id == first })
      // Without a price the receipt fails meanwhile; with one it waits for a context.
      if isLate { store.advance(30 * day) }
      var said = Said.completed("1", user: nil, prices: isLate ? [] : ["price_2"])
      said.names = [NamedUser(id: "u2", source: .ownKey, standing: .counts)]
      try store.ingest(said)
      #expect(try body(store, "1") == (isLate ? "failed/price" : "waiting/context"))
      try record(store, sent, .delivered(importID: "imp"), status: 200)
      #expect(try body(store, "1") == "delivered: u1 subscription sub_1 price_1 blob")
      let shown = try #require(try store.receipts().first { $0.purchase.key.id == "sub_1" })
      #expect(shown.purchase.userID == "u1")
      #expect(shown.purchase.userConflict)
      #expect(shown.receipt?.readyAt != nil)
      #expect(try store.context(context).receiptID == sent.id)
    }
  }

  @Test func `A receipt that failed while it was under way is sent again with the same bytes (R2)`() throws {
    let store = try TestStore()
    try store.post(price: "price_1")
    try store.ingest(Said.completed("1"))
    let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
    store.advance(30 * day)
    var said = Said.completed("1", user: nil)
    said.names = [NamedUser(id: "u2", source: .ownKey, standing: .counts)]
    try store.ingest(said)
    #expect(try body(store, "1") == "failed/price")
    try record(store, sent, .retry(at: store.after(minute), spent: true), status: 503)
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 blob")
    said.prices = ["price_2"]
    try store.ingest(said)
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try store.only().purchase.userConflict)
  }

  @Test("Another user's context that is named while a receipt is under way is free after it was sent")
  func otherContextMeanwhile() throws {
    let store = try TestStore()
    try store.post(price: "price_1")
    let others = try store.post("other", user: "u2", price: "price_1")
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
    try store.ingest(Said.completed("1", user: nil, contextID: others, prices: ["price_1"]))
    #expect(try body(store, "1") == "pending: u2 subscription sub_1 price_1 other")
    try record(store, sent, .delivered(importID: "imp"), status: 200)
    #expect(try body(store, "1") == "delivered: u1 subscription sub_1 price_1 blob")
    #expect(try store.only().purchase.userConflict)
    #expect(try store.context(others).receiptID == nil)
  }

  @Test func `The blob of an event is found in what was sent for the user before`() throws {
    let store = try TestStore()
    let blob = ContextBlob(text: "inside", priceID: nil)
    try store.ingest(Said.completed("1", blob: blob, prices: ["price_1"]))
    let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
    var said = Said.completed("1", user: nil)
    said.names = [NamedUser(id: "u2", source: .ownKey, standing: .counts)]
    try store.ingest(said)
    #expect(try body(store, "1") == "pending: u2 subscription sub_1 price_1 inside")
    try record(store, sent, .failed(.status(422)), status: 422)
    #expect(try body(store, "1") == "failed/http_422: u1 subscription sub_1 price_1 inside")
    #expect(try store.only().purchase.userID == "u1")
  }

  @Test func `What was sent after all is not looked up any more`() throws {
    let asking: [AppSlug: AppRules] = [
      "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
    ]
    let store = try TestStore(rules: asking)
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.completed("2"))
    let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
    try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
    #expect(try body(store, "2") == "waiting/price")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 1)
    try record(store, sent, .delivered(importID: "imp"), status: 200)
    #expect(try body(store, "2") == "delivered: u1 subscription sub_2 price_1 named")
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `A context guessed instead of one that was sent after all goes to a waiting purchase`() throws {
    for isWaitedFor in [false, true] {
      let store = try TestStore()
      let another = try store.post("another", price: "price_1")
      store.advance(1)
      let named = try store.post("named", price: "price_1")
      try store.ingest(Said.completed("2", prices: ["price_1"]))
      let sent = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
      try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
      #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_1 another")
      if isWaitedFor { try store.ingest(Said.completed("3", prices: ["price_1"])) }
      try record(store, sent, .delivered(importID: "imp"), status: 200)
      #expect(try body(store, "2") == "delivered: u1 subscription sub_2 price_1 named")
      if isWaitedFor {
        #expect(try body(store, "3") == "pending: u1 subscription sub_3 price_1 another")
      } else {
        #expect(try store.context(another).receiptID == nil)
        #expect(try store.context(another).state == .open)
      }
    }
  }

  @Test func `A guess that is still the best is not released for a later post of its blob`() throws {
    let store = try TestStore()
    let first = try store.post(price: "gold")
    try store.ingest(Said.completed(unpaid: true))
    #expect(try store.only().purchase.contextID == first)
    store.advance(3 * day)
    let later = try store.post(price: "gold")
    #expect(later != first)
    var paid = Said.session("1", .paid)
    paid.prices = ["price_1"]
    try store.ingest(paid)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try store.context(first).state == .paid)
    #expect(try store.context(later).state == .open)
  }

  @Test func `A name that arrives when the receipt is ready and not sent replaces the guess`() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    store.advance(1)
    let newer = try store.post("newer", price: "price_1")
    try store.ingest(Said.created(user: "u1"))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 newer")
    try store.ingest(Said.completed(user: named.text))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 named")
    #expect(try store.context(newer).state == .open)
  }

  @Test("A name that arrives after the receipt was sent gives the checkout its state; the receipt stays")
  func nameAfterSending() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    store.advance(1)
    try store.post("newer", price: "price_1")
    try store.ingest(Said.created(user: "u1"))
    try attempt(store)
    try store.ingest(Said.completed(user: named.text))
    #expect(try store.status() == "delivered: u1 subscription sub_1 price_1 newer")
    #expect(try store.context(named).state == .delivered)
  }

  @Test func `A released context goes to another purchase that waits for it`() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    store.advance(1)
    let newer = try store.post("newer", price: "price_1")
    try store.ingest(Said.completed("1", unpaid: true, contextID: newer, prices: ["price_1"]))
    #expect(try store.receipts().first?.purchase.contextID == newer)
    try store.ingest(Said.completed("2", contextID: named, prices: ["price_1"]))
    try store.ingest(Said.completed("3", prices: ["price_1"]))
    #expect(try body(store, "3") == "waiting/context")
    try store.ingest(Said.created("1", contextID: "ctx_none"))
    var blob = Said.session("1", [])
    blob.context = ContextBlob(text: "inside", priceID: "price_1")
    try store.ingest(blob)
    #expect(try body(store, "3") == "pending: u1 subscription sub_3 price_1 newer")
  }

  @Test func `A blob inside an event takes the post of that blob from a guess`() throws {
    let store = try TestStore()
    let posted = try store.post("inside", price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    try store.ingest(
      Said.completed("1", blob: ContextBlob(text: "inside", priceID: "price_1"), prices: ["price_1"]))
    #expect(try body(store, "1") == "pending: u1 subscription sub_1 price_1 inside")
    #expect(try body(store, "2") == "waiting/context")
    #expect(try store.context(posted).receiptID == store.receipts().last?.receipt?.id)
  }

  @Test func `The policy decides what is guessed: a fitting price, anything, or nothing`() throws {
    let expected: [(JoinPolicy.Guess, String)] = [
      (.samePrice, "waiting/context"), (.newest, "pending: u1 subscription sub_1 price_2 blob"),
      (.never, "waiting/context"),
    ]
    for (guess, status) in expected {
      let policy = JoinPolicy(settle: .zero, guess: guess)
      let store = try TestStore(rules: [
        "ios": AppRules(join: policy, processors: .stripe, compose: TestStore.compose)
      ])
      let id = try store.post(price: "price_1")
      try store.ingest(Said.completed(prices: ["price_2"]))
      #expect(try store.status() == status)
      try store.ingest(Said.completed("2", contextID: id, prices: ["price_2"]))
      #expect(try body(store, "2") == "pending: u1 subscription sub_2 price_2 blob", "a name is no guess")
    }
  }
}
