// Tests a processor's purchases that go to two destinations: two receipts for one purchase, each with its own
// end, and the same content for as long as neither was sent.

import Domain
import Store
import TestSupport
import Testing

@Suite("Receipts of one purchase for two destinations", .everyEngine)
struct TwoDestinationsTests {
  private static let webhook = AppDestination("ios", "webhook")
  private static let both: Set<DestinationName> = ["purchasely", "webhook"]

  private static func rules(
    _ first: DestinationName = "purchasely", _ second: DestinationName? = "webhook",
    all: Set<DestinationName> = both
  ) -> [AppSlug: AppRules] {
    @Sendable func say(_ content: ReceiptContent, _ name: DestinationName, _ end: String = "") -> [UInt8]? {
      all.contains(name) ? Array("\(name) ".utf8) + TestStore.compose(content) + Array(end.utf8) : nil
    }
    var rules = AppRules(
      join: JoinPolicy(settle: .zero, settleCustomer: .zero), processors: .several, destinations: all,
      destination: { _ in all.contains(first) ? first : nil }, compose: { say($0, $1) },
      composeReversal: { $1 == "webhook" ? say($0, $1, " reversed") : nil })
    rules.secondDestination = { _ in second.flatMap { all.contains($0) ? $0 : nil } }
    return ["ios": rules]
  }

  private func store() throws -> TestStore { try TestStore(rules: Self.rules()) }

  /// A store with one purchase of the user u1, whose receipts are due.
  private func sold() throws -> TestStore {
    let store = try store()
    try store.post(price: "price_1")
    try store.ingest(Said.completed(prices: ["price_1"]))
    return store
  }

  /// A store in which both receipts were delivered.
  private func delivered() throws -> TestStore {
    let store = try sold()
    for record in try store.receipts() { try attempt(store, record, 200) }
    return store
  }

  /// Ends an attempt to deliver a receipt where it goes.
  private func attempt(
    _ store: TestStore, _ record: PurchaseRecord, _ status: Int64, sent: [UInt8]? = nil
  ) throws {
    let name = try #require(record.receipt?.copyOf?.destination ?? record.receipt?.destination)
    let report = AttemptReport(at: store.now, status: status, duration: .zero)
    let decision: Delivery.Decision =
      switch status {
      case 200: .delivered(importID: nil)
      case 422: .failed(.status(422))
      default: .retry(at: store.after(second), spent: true)
      }
    _ = try store.apply(
      RecordAttempt(
        of: record.receiptID, to: AppDestination("ios", name), sent: sent, report: report, decision: decision,
        breaker: Breaker()))
  }

  private func statuses(_ store: TestStore) throws -> [String] { try store.receipts().map(TestStore.status) }

  @Test(
    "A purchase has a receipt for each, with the same content and an id of each, and both name each other")
  func made() throws {
    let store = try store()
    let context = try store.post(price: "price_1")
    try store.ingest(Said.completed(prices: ["price_1"]))
    #expect(
      try statuses(store) == [
        "pending: purchasely u1 subscription sub_1 price_1 blob",
        "pending: webhook u1 subscription sub_1 price_1 blob",
      ])
    let (own, copy) = (try store.receipt(0), try store.receipt(1))
    #expect(own.id != copy.id)
    #expect(own.copy == ReceiptCopy(receipt: copy.id, destination: "webhook"))
    #expect(copy.copyOf == ReceiptCopy(receipt: own.id, destination: "webhook"))
    #expect(try store.context(context).receiptID == own.id)
    #expect(try store.reader.detail(receipt: own.id)?.twin?.receiptID == copy.id)
    #expect(try store.reader.detail(receipt: copy.id)?.twin?.receiptID == own.id)
    let due = try store.reader.dueRows(Self.webhook, isReplay: false, now: store.now, limit: 5)
    #expect(due == [try store.receipts()[1].rowID])
  }

  @Test func `However often the events come, there is one receipt for each destination (R2)`() throws {
    for order in TestEngine.orders([0, 1, 2]) {
      let store = try store()
      try store.post(price: "price_1")
      let events = [
        Said.completed(prices: ["price_1"]), Said.created(user: "u1"), Said.invoice(user: "u1"),
      ]
      for position in order + order { try store.ingest(events[position]) }
      store.advance(hour)
      try store.endWaits()
      #expect(try statuses(store).count == 2, "\(order)")
      for record in try store.receipts() { try attempt(store, record, 200) }
      for position in order { try store.ingest(events[position]) }
      #expect(try store.receipts().map(\.receipt?.state) == [.delivered, .delivered], "\(order)")
    }
  }

  @Test func `Each ends as its own destination answers, and is sent again alone`() throws {
    let store = try sold()
    try attempt(store, try store.receipts()[0], 422)
    try attempt(store, try store.receipts()[1], 200)
    #expect(try store.receipts().map(\.receipt?.state) == [.failed, .delivered])
    let id = try store.receipt(0).id
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try store.receipts().map(\.receipt?.state) == [.pending, .delivered])
    try attempt(store, try store.receipts()[0], 200)
    let copy = try store.receipt(1).id
    #expect(try store.apply(ReplayReceipt(id: copy, force: true, dueAt: store.now)) == .done)
    #expect(try store.receipts().map(\.receipt?.state) == [.delivered, .pending])
    #expect(try store.receipt(1).destination == "webhook")
    #expect(try store.apply(CancelReceipt(id: copy, note: "why")) == .done)
    #expect(try store.receipts().map(\.receipt?.state) == [.delivered, .cancelled])
  }

  @Test func `The cancellation of one that is due leaves the other`() throws {
    let store = try sold()
    #expect(try store.apply(CancelReceipt(id: store.receipt(0).id, note: "why")) == .done)
    #expect(try store.receipts().map(\.receipt?.state) == [.cancelled, .pending])
  }

  @Test func `What an operator completes goes to both`() throws {
    let store = try store()
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    store.advance(2 * day)
    try store.endWaits()
    #expect(try statuses(store) == ["failed/user"])
    let id = try store.receipt(0).id
    let command = CompleteReceipt(id: id, userID: "u9", priceID: nil, contextID: nil)
    #expect(try store.apply(command) == .done)
    #expect(
      try statuses(store) == [
        "pending: purchasely u9 subscription sub_1 price_1 -",
        "pending: webhook u9 subscription sub_1 price_1 -",
      ])
  }

  /// A store with a purchase that guessed the context which another one will name, and that context.
  private func guessed() throws -> (TestStore, ContextID) {
    let store = try store()
    let context = try store.post("named", price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    return (store, context)
  }

  @Test func `A context that another purchase names leaves both, if neither was sent (R5)`() throws {
    let (store, context) = try guessed()
    try store.ingest(Said.completed("1", contextID: context, prices: ["price_1"]))
    #expect(
      try statuses(store) == [
        "waiting/context", "waiting/context", "pending: purchasely u1 subscription sub_1 price_1 named",
        "pending: webhook u1 subscription sub_1 price_1 named",
      ])
    store.advance(3 * minute)
    try store.endWaits()
    #expect(
      try statuses(store).prefix(2) == [
        "pending: purchasely u1 subscription sub_2 price_1 -",
        "pending: webhook u1 subscription sub_2 price_1 -",
      ])
    #expect(try store.receipts().allSatisfy { $0.receipt?.contextDisputed == false })
  }

  @Test(arguments: [false, true])
  func `One that was sent keeps what was sent, while the other is made again`(isUnderWay: Bool) throws {
    let (store, context) = try guessed()
    let copy = try store.receipts()[1]
    let sent = try #require(copy.receipt?.body)
    if !isUnderWay { try attempt(store, copy, 503, sent: sent) }
    try store.ingest(Said.completed("1", contextID: context, prices: ["price_1"]))
    if isUnderWay {
      #expect(try statuses(store)[1] == "waiting/context")
      try attempt(store, copy, 503, sent: sent)
    }
    #expect(try statuses(store)[0] == "waiting/context")
    #expect(try statuses(store)[1] == "pending: webhook u1 subscription sub_2 price_1 named")
    #expect(try store.receipt(1).contextDisputed)
    store.advance(3 * minute)
    try store.endWaits()
    #expect(try statuses(store)[0] == "pending: purchasely u1 subscription sub_2 price_1 -")
    #expect(try statuses(store)[1] == "pending: webhook u1 subscription sub_2 price_1 named")
  }

  @Test("A sale that turns out not to be the app's ends both, and both are sent if it is after all")
  func foreign() throws {
    let store = try sold()
    try attempt(store, try store.receipts()[1], 503)
    var said = Said.completed(prices: ["price_1"])
    said.observations.insert(.notOurs)
    try store.ingest(said)
    #expect(try store.receipts().map(\.receipt?.reason) == [.foreign, .foreign])
    said.observations.insert(.ours)
    try store.ingest(said)
    #expect(try store.receipts().map(\.receipt?.state) == [.pending, .pending])
    #expect(try store.receipt(1).destination == "webhook")
  }

  @Test func `An erasure of the user erases both`() throws {
    let store = try sold()
    let own = try store.reader.purchases(rows: [store.receipts()[0].rowID])
    let rows = try (store.reader.purchases(behind: own) + own).map(\.row)
    let outcome = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    #expect(outcome.receipts == 2)
    #expect(outcome.cancelled == 2)
    #expect(try store.receipts().allSatisfy { $0.purchase.isErased && $0.receipt?.body == nil })
  }

  @Test func `An erasure that leaves open receipts names each of them once`() throws {
    let store = try sold()
    let rows = try store.receipts().map(\.rowID)
    let outcome = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: false))
    #expect(outcome.open == [try store.receipt(0).id, try store.receipt(1).id])
  }

  @Test("An erasure that leaves an open copy leaves the receipt that leads to it, too, and finds both again")
  func heldErasure() throws {
    let store = try sold()
    try attempt(store, try store.receipts()[0], 200)
    let rows = try store.receipts().map(\.rowID)
    let first = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: false))
    #expect(first.open == [try store.receipt(1).id])
    #expect(first.held == [rows[0]])
    #expect(try store.receipts().allSatisfy { !$0.purchase.isErased })
    try attempt(store, try store.receipts()[1], 200)
    let second = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: false))
    #expect(second.receipts == 2)
    #expect(second.held.isEmpty)
    #expect(try store.receipts().allSatisfy { $0.purchase.isErased })
  }

  @Test func `A correction is sent to both destinations`() throws {
    let store = try delivered()
    let id = try store.receipt(0).id
    let command = CorrectReceipt(id: id, userID: "right", priceID: nil, contextID: nil)
    #expect(try store.apply(command) == .done)
    #expect(
      try statuses(store) == [
        "delivered: purchasely u1 subscription sub_1 price_1 blob",
        "delivered: webhook u1 subscription sub_1 price_1 blob",
        "pending: purchasely right subscription sub_1 price_1 -",
        "pending: webhook right subscription sub_1 price_1 -",
      ])
    #expect(try store.receipt(1).correctedBy == store.receipt(3).id)
    #expect(try store.receipt(3).corrects == store.receipt(1).id)
    let again = CorrectReceipt(id: try store.receipt(1).id, userID: "right", priceID: nil, contextID: nil)
    #expect(try store.apply(again) == .corrected)
  }

  @Test("A copy is corrected alone with its own id, and not once more when its receipt is corrected like it")
  func correctedAlone() throws {
    let store = try delivered()
    func correct(_ id: ReceiptID) -> CorrectReceipt {
      CorrectReceipt(id: id, userID: "right", priceID: nil, contextID: nil)
    }
    #expect(try store.apply(correct(store.receipt(1).id)) == .done)
    let right = "webhook right subscription sub_1 price_1 -"
    #expect(
      try statuses(store) == [
        "delivered: purchasely u1 subscription sub_1 price_1 blob",
        "delivered: webhook u1 subscription sub_1 price_1 blob", "pending: \(right)",
      ])
    try attempt(store, try store.receipts()[2], 200)
    #expect(try store.apply(correct(store.receipt(0).id)) == .done)
    #expect(
      try statuses(store).suffix(2) == [
        "delivered: \(right)", "pending: purchasely right subscription sub_1 price_1 -",
      ])
  }

  @Test(arguments: [0, 1])
  func `Completing one that failed leaves what the other's destination has`(failed: Int) throws {
    let store = try sold()
    for (position, record) in try store.receipts().enumerated() {
      try attempt(store, record, position == failed ? 422 : 200)
    }
    let command = CompleteReceipt(
      id: try store.receipt(failed).id, userID: nil, priceID: "price_2", contextID: nil, force: true)
    #expect(try store.apply(command) == .done)
    let names = ["purchasely", "webhook"]
    #expect(
      try statuses(store)[failed] == "pending: \(names[failed]) u1 subscription sub_1 price_2 blob")
    #expect(
      try statuses(store)[1 - failed]
        == "delivered: \(names[1 - failed]) u1 subscription sub_1 price_1 blob")
  }

  @Test func `A copy that was not sent when its receipt is corrected says only what is right`() throws {
    let store = try sold()
    try attempt(store, try store.receipts()[0], 200)
    let id = try store.receipt(0).id
    let command = CorrectReceipt(id: id, userID: "right", priceID: nil, contextID: nil)
    #expect(try store.apply(command) == .done)
    try store.ingest(Said.invoice(user: "u1"))
    #expect(
      try statuses(store) == [
        "delivered: purchasely u1 subscription sub_1 price_1 blob",
        "pending: webhook right subscription sub_1 price_1 -",
        "pending: purchasely right subscription sub_1 price_1 -",
      ])
  }

  @Test func `A payment that went back is reported to the destination that has a form for that`() throws {
    let store = try delivered()
    let key = Said.completed().key
    try store.ingest(PurchaseReport(key: key, observations: .reversed, happenedAt: store.now))
    #expect(
      try statuses(store) == [
        "delivered: purchasely u1 subscription sub_1 price_1 blob",
        "pending: webhook u1 subscription sub_1 price_1 blob reversed",
      ])
  }

  @Test func `A second destination that a reload adds gets the purchases from then on`() throws {
    let store = try TestStore(rules: Self.rules("purchasely", nil))
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
    try store.reload(Self.rules())
    let id = try store.receipt(0).id
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try statuses(store).count == 1)
    try store.post(price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    #expect(try statuses(store).count == 3)
  }

  @Test func `A copy waits for its destination, and no other gets it (R2)`() throws {
    let store = try sold()
    let before = try statuses(store)
    try store.reload(Self.rules("purchasely", nil, all: ["purchasely"]))
    #expect(try statuses(store) == [before[0], "waiting/destination"])
    let copy = try store.receipt(1).id
    let refused = try store.apply(ReplayReceipt(id: copy, force: true, dueAt: store.now))
    #expect(refused == .lacks(.destination))
    store.advance(2 * hour)
    try store.endWaits()
    #expect(try statuses(store)[1] == "waiting/destination")
    try store.reload(Self.rules())
    #expect(try statuses(store) == before)
  }

  @Test func `A receipt with a copy never goes to the copy's destination (R2)`() throws {
    let store = try sold()
    let before = try statuses(store)
    try store.reload(Self.rules("webhook", nil, all: ["webhook"]))
    #expect(try statuses(store) == ["waiting/destination", before[1]])
    store.advance(2 * hour)
    try store.endWaits()
    #expect(try statuses(store) == ["waiting/destination", before[1]])
    try store.reload(Self.rules("webhook", "purchasely"))
    #expect(try statuses(store) == before)
  }

  @Test("A copy that is the last of its purchase after retention keeps a second one from being made (R2)")
  func retention() throws {
    let store = try sold()
    try attempt(store, try store.receipts()[0], 200)
    let first = try store.receipt(0).id
    store.advance(2 * day)
    try attempt(store, try store.receipts()[1], 200)
    var slice: RetentionSlice? = .rows(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    while let next = slice { slice = try store.apply(next).next }
    #expect(try store.reader.receipt(id: first) == nil)
    let own = "delivered: webhook u1 subscription sub_1 price_1 blob"
    try store.ingest(Said.invoice(user: "u1"))
    #expect(try statuses(store) == [own])
    store.advance(400 * day)
    _ = try store.apply(RetentionSlice.past)
    try store.ingest(Said.completed(prices: ["price_1"], at: store.now))
    store.advance(hour)
    try store.endWaits()
    #expect(try statuses(store) == [own, "pending: purchasely u1 subscription sub_1 price_1 -"])
  }

  @Test func `Joins are counted once for each purchase`() throws {
    let store = try sold()
    #expect(try store.integer("SELECT count FROM join_counts WHERE kind = 'user'") == 1)
    #expect(try store.integer("SELECT count FROM receipt_counts WHERE state = 'pending'") == 2)
  }

  @Test("The customer's next purchase gets the user of the first, not that of a copy with an older name")
  func customer() throws {
    let store = try delivered()
    let command = CorrectReceipt(id: try store.receipt(0).id, userID: "right", priceID: nil, contextID: nil)
    #expect(try store.apply(command) == .done)
    try store.ingest(Said.created("2", customer: "cus_1"))
    store.advance(hour)
    try store.endWaits()
    #expect(try store.receipts().last?.purchase.userID == "right")
    #expect(try store.receipts().last?.receipt?.copyOf?.destination == "webhook")
  }
}
