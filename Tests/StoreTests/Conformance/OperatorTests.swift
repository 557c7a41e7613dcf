// Tests an operator's changes of receipts, and which of them are refused (R3, R4, R5).

import Domain
import Store
import TestSupport
import Testing

private func id(_ store: TestStore) throws -> ReceiptID { try #require(try store.only().receipt?.id) }

private func record(_ store: TestStore, _ decision: Delivery.Decision, status: Int64?) throws {
  _ = try store.apply(
    RecordAttempt(
      of: try store.only().receiptID, app: "ios",
      report: AttemptReport(at: store.now, status: status),
      decision: decision))
}

private func replay(
  _ store: TestStore, force: Bool = false, at due: Timestamp? = nil
) throws -> OperatorResult {
  try store.apply(ReplayReceipt(id: try id(store), force: force, dueAt: due ?? store.now))
}

private func complete(
  _ store: TestStore, user: UserID? = nil, price: PriceID? = nil, context: ContextID? = nil
) throws -> OperatorResult {
  try store.apply(
    CompleteReceipt(id: try id(store), userID: user, priceID: price, contextID: context, force: true))
}

private let ready = "pending: u1 subscription sub_1 price_1 blob"

private func readyStore() throws -> TestStore {
  let store = try TestStore()
  try store.post()
  try store.ingest(.said(prices: ["price_1"]))
  #expect(try store.status() == ready)
  return store
}

@Suite("Changes by operators", .everyEngine)
struct OperatorTests {
  @Test("A failed receipt is due again with a fresh budget, the same bytes and its history (R4)")
  func replayFailed() throws {
    let store = try readyStore()
    let body = try store.only().receipt?.body
    try record(store, .retry(at: store.after(minute), spent: true), status: 500)
    store.advance(hour)
    try record(store, .failed(.gaveUp), status: 500)
    #expect(try store.status().hasPrefix("failed/gave_up"))
    store.advance(hour)
    #expect(try replay(store) == .done)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.state == .pending)
    #expect(receipt.reason == nil)
    #expect(receipt.nextAttemptAt == store.now)
    #expect(receipt.spentAttempts == 0)
    #expect(receipt.retrySince == store.now)
    #expect(receipt.attempts == 2)
    #expect(receipt.body == body)
    #expect(receipt.readyAt == TestStore.start)
    #expect(try store.reader.detail(receipt: receipt.id)?.attempts.map(\.number) == [1, 2])
  }

  @Test func `A paced replay is due at its time, and a past time is due at once`() throws {
    let store = try readyStore()
    try record(store, .failed(.status(422)), status: 422)
    #expect(try replay(store, at: store.after(hour)) == .done)
    #expect(try store.only().receipt?.nextAttemptAt == store.after(hour))
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 10).isEmpty)
    #expect(try replay(store, at: store.after(-hour)) == .done)
    #expect(try store.only().receipt?.nextAttemptAt == store.now)
  }

  @Test func `A delivered receipt is replayed only with --force (R3)`() throws {
    let store = try readyStore()
    try record(store, .delivered(importID: "imp"), status: 200)
    #expect(try replay(store) == .delivered)
    #expect(try store.only().receipt?.state == .delivered)
    #expect(try replay(store, force: true) == .done)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.state == .pending)
    #expect(receipt.deliveredAt == nil)
    #expect(receipt.importID == "imp")
  }

  @Test func `A receipt that never was ready is sent if it has a user and a price`() throws {
    let lacking = try TestStore()
    try lacking.ingest(Said.completed(user: nil))
    #expect(try replay(lacking) == .lacks(.user))
    let unpriced = try TestStore()
    try unpriced.ingest(Said.completed())
    #expect(try replay(unpriced) == .lacks(.price))
    #expect(try unpriced.status() == "waiting/price")
    let unnamed = try TestStore()
    try unnamed.ingest(Said.completed(named: false, prices: ["price_1"]))
    #expect(try replay(unnamed) == .lacks(.subscription))
    let waiting = try TestStore()
    try waiting.ingest(.said(prices: ["price_1"]))
    waiting.advance(second)
    #expect(try replay(waiting) == .done)
    #expect(try waiting.status() == "pending: u1 subscription sub_1 price_1 -")
    #expect(try waiting.only().receipt?.readyAt == waiting.now)
  }

  @Test func `A cancelled receipt stays cancelled after any event, until it is replayed (R4)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(unpaid: true))
    #expect(try store.apply(CancelReceipt(id: try id(store), note: "asked by the customer")) == .done)
    #expect(try store.only().receipt?.note == "asked by the customer")
    try store.ingest(Said.session("1", .paid))
    try store.ingest(Said.created())
    try store.post()
    store.advance(30 * day)
    try store.endWaits()
    #expect(try store.status() == "cancelled/operator")
    #expect(try store.apply(CancelReceipt(id: try id(store), note: "again")) == .notAllowed(.cancelled))
    #expect(try replay(store) == .done)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
  }

  @Test func `Every state but delivered and cancelled can be cancelled`() throws {
    let store = try readyStore()
    #expect(try store.apply(CancelReceipt(id: try id(store), note: "")) == .done)
    #expect(try store.reader.due(app: "ios", now: store.after(day), limit: 10).isEmpty)
    #expect(try replay(store) == .done)
    try record(store, .failed(.status(422)), status: 422)
    #expect(try store.apply(CancelReceipt(id: try id(store), note: "")) == .done)
    #expect(try replay(store) == .done)
    try record(store, .delivered(importID: nil), status: 200)
    #expect(try store.apply(CancelReceipt(id: try id(store), note: "")) == .notAllowed(.delivered))
  }

  @Test func `Missing user, price and context can be supplied`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: nil))
    store.advance(day)
    try store.endWaits()
    #expect(try store.status() == "failed/user")
    #expect(try complete(store, user: "u5") == .lacks(.price))
    #expect(try store.only().purchase.userID == nil, "a refusal keeps nothing")
    #expect(try complete(store, user: "u5", price: "price_5") == .done)
    #expect(try store.status() == "pending: u5 subscription sub_1 price_5 -")
    #expect(try complete(store, user: "u6") == .notAllowed(.pending))
    try record(store, .failed(.status(422)), status: 422)
    let context = try store.post("late", user: "u6")
    #expect(try complete(store, user: "u6", context: context) == .done)
    #expect(try store.status() == "pending: u6 subscription sub_1 price_5 late")
    #expect(try store.context(context).receiptID == id(store))
    try record(store, .delivered(importID: nil), status: 200)
    #expect(try complete(store, user: "u7") == .notAllowed(.delivered))
  }

  @Test func `A context names the user, if none is known`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    let context = try store.post("its", user: "u8")
    #expect(try complete(store, context: context) == .done)
    #expect(try store.status() == "pending: u8 subscription sub_1 price_1 its")
    #expect(try store.only().purchase.userSource == .byOperator)
  }

  @Test func `Completing with a user finds and shows the user's context by the join's rule`() throws {
    for guess in JoinPolicy.Guess.allCases {
      let policy = JoinPolicy(guess: guess)
      let store = try TestStore(rules: [
        "ios": AppRules(join: policy, processors: .stripe, compose: TestStore.compose)
      ])
      let fitting = try store.post("fitting", user: "u7", price: "price_1")
      store.advance(1)
      try store.post("other", user: "u7", price: "price_2")
      try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
      store.advance(2 * day)
      try store.endWaits()
      #expect(try store.status() == "failed/user")
      let id = try #require(try store.only().receipt?.id)
      let command = CompleteReceipt(id: id, userID: "u7", priceID: nil, contextID: nil)
      let preview = try store.apply(PreviewCompletion(command))
      #expect(try store.status() == "failed/user")
      #expect(try store.context(fitting).receiptID == nil)
      let found = guess == .never ? nil : fitting
      #expect(preview.result == .done)
      #expect(preview.record?.purchase.contextID == found)
      #expect(try store.apply(command) == .done)
      #expect(
        try store.status()
          == "pending: u7 subscription sub_1 price_1 \(guess == .never ? "-" : "fitting")")
      #expect(try store.context(fitting).receiptID == (guess == .never ? nil : id))
    }
  }

  @Test func `An operator's context beats a guess, and the guess's receipt is made again`() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
    let id = try #require(try store.receipts().last?.receipt?.id)
    let command = CompleteReceipt(id: id, userID: nil, priceID: nil, contextID: named)
    #expect(try store.apply(command) == .done)
    #expect(
      try store.receipts().map(TestStore.status) == [
        "waiting/context", "pending: u1 subscription sub_1 price_1 named",
      ])
  }

  @Test("The guess of a receipt that is cancelled goes to another purchase of the user that waits for it")
  func cancelledGuess() throws {
    let store = try TestStore()
    let context = try store.post(price: "price_1")
    for n in ["1", "2"] { try store.ingest(Said.completed(n, unpaid: true, prices: ["price_1"])) }
    let before = try store.receipts()
    #expect(before.map(\.purchase.contextID) == [context, nil])
    #expect(try store.apply(CancelReceipt(id: before[0].receiptID, note: "")) == .done)
    #expect(try store.receipts().map(TestStore.status) == ["cancelled/operator", "waiting/payment"])
    #expect(try store.receipts().map(\.purchase.contextID) == [nil, context])
  }

  @Test func `A context of another app, user or purchase, or an unknown one, is refused (R5)`() throws {
    let store = try TestStore()
    let used = try store.post("used", user: "u1")
    try store.ingest(Said.completed("2", contextID: used, prices: ["price_1"]))
    let foreign = try store.post("foreign", user: "u1", app: "web")
    let others = try store.post("others", user: "u2")
    try store.ingest(Said.completed("1"))
    let receipt = try #require(try store.receipts().last?.receipt?.id)
    for context in [used, foreign, others, "ctx_none"] {
      let result = try store.apply(
        CompleteReceipt(id: receipt, userID: nil, priceID: "p", contextID: context))
      #expect(result == .contextNotUsable)
    }
    let result = try store.apply(
      CompleteReceipt(id: receipt, userID: "u3", priceID: "p", contextID: others, force: true))
    #expect(result == .contextNotUsable)
    let gentle = CompleteReceipt(id: receipt, userID: "u3", priceID: "p", contextID: nil)
    #expect(try store.apply(gentle) == .known(.user), "a user that is known is not replaced by the way")
    #expect(try store.receipts().last?.purchase.userID == "u1")
  }

  @Test(
    "A refusal writes nothing: a claimed context stays claimed, a named one stays free (R5)"
  )
  func refusalWritesNothing() throws {
    let store = try TestStore()
    let own = try store.post("own", price: "gold")
    try store.ingest(Said.completed(unpaid: true, named: false))
    let before = try store.only()
    #expect(before.purchase.contextID == own)
    let other = try store.post("other", user: "u2")
    #expect(try complete(store, user: "u3", context: other) == .contextNotUsable)
    #expect(try complete(store, user: "u2", context: other) == .lacks(.subscription))
    #expect(try complete(store, user: "u2", price: "price_2") == .lacks(.subscription))
    #expect(try store.only() == before)
    #expect(try store.context(own).receiptID == before.receipt?.id)
    #expect(try store.context(other).receiptID == nil)
    try store.ingest(Said.completed("2", unpaid: true, prices: ["price_1"]))
    #expect(try store.receipts().last?.purchase.contextID == nil, "no one else may take it")
  }

  @Test func `Another user releases the first user's context (R5)`() throws {
    let store = try readyStore()
    let own = try #require(try store.only().purchase.contextID)
    try record(store, .failed(.status(422)), status: 422)
    #expect(try complete(store, user: "u2") == .done)
    #expect(try store.status() == "pending: u2 subscription sub_1 price_1 -")
    #expect(try store.context(own).receiptID == nil)
    #expect(try store.context(own).state == .open)
    try record(store, .failed(.status(422)), status: 422)
    #expect(try complete(store, user: "u2", price: "price_2") == .done)
    #expect(try store.status() == "pending: u2 subscription sub_1 price_2 -")
  }

  @Test func `The context that a receipt has already may be named again`() throws {
    let store = try readyStore()
    try record(store, .failed(.status(422)), status: 422)
    let own = try #require(try store.only().purchase.contextID)
    #expect(try complete(store, context: own) == .done)
    #expect(try complete(store, context: own) == .notAllowed(.pending))
    #expect(try store.status() == ready)
    #expect(try store.context(own).state == .paid)
  }

  @Test func `A receipt of an app that is not configured cannot be made ready, and says so`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    store.writer.use(rules: [:])
    #expect(try replay(store) == .notAllowed(.waiting))
    #expect(try store.status() == "waiting/context")
  }
}
