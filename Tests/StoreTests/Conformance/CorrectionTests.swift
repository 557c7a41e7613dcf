// Tests the corrections of delivered receipts: a second receipt for the same purchase, which the join never
// takes for the purchase itself.

import Domain
import Store
import TestSupport
import Testing

@Suite("Corrections of delivered receipts", .everyEngine)
struct CorrectionTests {
  private func deliver(_ store: TestStore, _ id: ReceiptID) throws {
    let report = AttemptReport(at: store.now, duration: .zero)
    _ = try store.apply(
      RecordAttempt(of: id, app: "ios", report: report, decision: .delivered(importID: "imp_\(id)")))
  }

  /// A store with one delivered receipt of the user u1.
  private func delivered(_ rules: [AppSlug: AppRules] = TestStore.rules) throws -> (TestStore, ReceiptID) {
    let store = try TestStore(rules: rules)
    try store.ingest(Said.completed(prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
    let id = try #require(try store.only().receipt?.id)
    try deliver(store, id)
    return (store, id)
  }

  private func correct(
    _ store: TestStore, _ id: ReceiptID, user: UserID? = nil, price: PriceID? = nil,
    context: ContextID? = nil
  ) throws -> OperatorResult {
    try store.apply(CorrectReceipt(id: id, userID: user, priceID: price, contextID: context))
  }

  /// The statuses of all receipts, the purchase's own first.
  private func statuses(_ store: TestStore) throws -> [String] { try store.receipts().map(TestStore.status) }

  @Test func `A second receipt has the right user, is due at once, and both name each other`() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "right") == .done)
    let found = try store.receipts()
    #expect(
      found.map(TestStore.status) == [
        "delivered: u1 subscription sub_1 price_1 -", "pending: right subscription sub_1 price_1 -",
      ])
    #expect(found[0].receipt?.correctedBy == found[1].receipt?.id)
    #expect(found[1].receipt?.corrects == id)
    #expect(found[1].purchase.userSource == .byOperator)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 5).map(\.id) == [found[1].receiptID])
  }

  @Test func `The price is corrected, and the purchase's context is sent again`() throws {
    let store = try TestStore()
    let context = try store.post()
    try store.ingest(Said.completed(prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
    let id = try #require(try store.only().receipt?.id)
    try deliver(store, id)
    #expect(try correct(store, id, price: "price_2") == .done)
    #expect(try statuses(store)[1] == "pending: u1 subscription sub_1 price_2 blob")
    #expect(try store.receipts()[1].purchase.contextID == context)
    #expect(try store.context(context).receiptID == id, "its checkout is still that of the purchase")
  }

  @Test func `The right user's context is sent, and belongs to the correction (R5)`() throws {
    let (store, id) = try delivered()
    let context = try store.post("of right", user: "right")
    let others = try store.post("of another", user: "other")
    #expect(try correct(store, id, user: "right", context: others) == .contextNotUsable)
    #expect(try correct(store, id, user: "right", context: context) == .done)
    #expect(try statuses(store)[1] == "pending: right subscription sub_1 price_1 of right")
    #expect(try store.context(context).receiptID == store.receipts()[1].receipt?.id)
  }

  @Test func `A correction that would say the same is refused`() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "u1", price: "price_1") == .unchanged)
    #expect(try correct(store, id) == .unchanged)
    #expect(try store.receipts().count == 1)
  }

  @Test func `Only a delivered receipt is corrected, and only once; a correction can be corrected`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
    let id = try #require(try store.only().receipt?.id)
    #expect(try correct(store, id, user: "right") == .notAllowed(.pending))
    try deliver(store, id)
    #expect(try correct(store, id, user: "right") == .done)
    #expect(try correct(store, id, user: "other") == .corrected)
    let second = try store.receipts()[1].receiptID
    #expect(try correct(store, second, user: "other") == .notAllowed(.pending))
    try deliver(store, second)
    #expect(try correct(store, second, user: "u1") == .done, "back to the first user")
    #expect(try store.receipts().map { $0.receipt?.corrects } == [nil, id, second])
  }

  @Test func `A corrected receipt is never sent again, even with force`() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "right") == .done)
    #expect(try store.apply(ReplayReceipt(id: id, force: true, dueAt: store.now)) == .corrected)
    let correction = try store.receipts()[1].receiptID
    try deliver(store, correction)
    #expect(try store.apply(ReplayReceipt(id: correction, force: true, dueAt: store.now)) == .done)
  }

  @Test func `Later events find the purchase, not its correction (R2)`() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "right") == .done)
    let before = try statuses(store)
    try store.ingest(Said.completed(prices: ["price_1"]))
    try store.ingest(Said.invoice(user: "u1"))
    try store.ingest(Said.session("1", .paid, named: false))
    #expect(try statuses(store) == before)
    let events = try #require(try store.reader.detail(receipt: id)).events
    #expect(events.count == 4)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 2)
  }

  @Test func `The customer's next purchase gets the corrected user, not the wrong one`() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "right") == .done)
    try store.ingest(Said.created("2", customer: "cus_1"))
    store.advance(hour)
    try store.endWaits()
    let next = try store.receipts().first { $0.purchase.key.id == "sub_2" }
    #expect(next?.purchase.userID == "right")
  }

  @Test func `A payment that went back is reported for the receipt that counts`() throws {
    let rules = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, destinations: ["purchasely"],
      destination: { _ in "purchasely" }, compose: { content, _ in TestStore.compose(content) },
      composeReversal: { content, _ in TestStore.compose(content) + Array(" reversed".utf8) })
    let (store, id) = try delivered(["ios": rules])
    #expect(try correct(store, id, user: "right") == .done)
    let key = Said.completed().key
    try store.ingest(PurchaseReport(key: key, observations: .reversed, happenedAt: store.now))
    #expect(try statuses(store)[0] == "delivered: u1 subscription sub_1 price_1 -")
    #expect(try statuses(store)[1] == "pending: right subscription sub_1 price_1 -", "first the purchase")
    try deliver(store, try store.receipts()[1].receiptID)
    #expect(try statuses(store)[1] == "pending: right subscription sub_1 price_1 - reversed")
    #expect(try correct(store, id, user: "other") == .corrected)
  }

  @Test("What leads to the right user is what the receipt corrected, too, first what leads to nothing more")
  func behind() throws {
    let (store, id) = try delivered()
    #expect(try correct(store, id, user: "right") == .done)
    try deliver(store, try store.receipts()[1].receiptID)
    #expect(try correct(store, try store.receipts()[1].receiptID, user: "last") == .done)
    let rows = try store.receipts().map(\.rowID)
    func behind(_ user: UserID) throws -> [PurchaseRowID] {
      try store.reader.purchases(behind: store.reader.purchases(ofUser: user, limit: 9)).map(\.row)
    }
    #expect(try behind("last") == [rows[0], rows[1]])
    #expect(try behind("right") == [rows[0]])
    #expect(try behind("u1").isEmpty)
    let outcome = try store.apply(ForgetPurchases(rows: [rows[0]], cancelsOpen: false))
    #expect(outcome.receipts == 1, "only what the caller has named")
    #expect(try behind("last") == [rows[1]])
  }

  @Test func `Retention of the first receipt leaves its correction, and makes no receipt again`() throws {
    let (store, id) = try delivered()
    store.advance(day)
    #expect(try correct(store, id, user: "right") == .done)
    let first = try store.receipts()[0]
    store.advance(day)
    try deliver(store, try store.receipts()[1].receiptID)
    var slice: RetentionSlice? = .rows(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    while let next = slice { slice = try store.apply(next).next }
    #expect(try store.reader.receipt(id: first.receiptID) == nil)
    try store.ingest(Said.invoice(user: "u1"))
    #expect(try statuses(store) == ["delivered: right subscription sub_1 price_1 -"])
  }

  @Test func `A job corrects many receipts, and ends with those that it made`() throws {
    let jobs = try JobStore(failed: 0)
    for number in 0..<3 { try jobs.purchase("\(number)", .delivered(importID: nil)) }
    var filter = ReceiptFilter()
    filter.state = .delivered
    let request = JobRequest(
      kind: .correct, source: .filter(filter, limit: nil), priceID: "price_9", userID: "right", actor: "ann")
    let job = try jobs.run(try jobs.store.apply(StartJob(request)))
    #expect(job.request.userID == "right")
    #expect(job.count(.released) == 3)
    #expect(job.state == .running)
    try jobs.deliver()
    let done = try jobs.run(job)
    #expect(done.state == .done)
    #expect(done.count(.delivered) == 3)
    let made = try jobs.store.receipts().filter { $0.receipt?.corrects != nil }
    #expect(made.count == 3)
    #expect(made.allSatisfy { $0.purchase.userID == "right" && $0.receipt?.priceID == "price_9" })
    let again = try jobs.run(try jobs.store.apply(StartJob(request)))
    #expect(again.count(.skipped) == 6, "three are corrected, and three say that already")
  }

  @Test func `A job forgets the user whom it was started for when that user is erased`() throws {
    let jobs = try JobStore(failed: 1)
    let request = JobRequest(
      kind: .correct, source: .filter(ReceiptFilter(), limit: nil), userID: "right", actor: "ann")
    let job = try jobs.store.apply(StartJob(request))
    var names = UserIdentifiers()
    names.users.insert("right")
    try jobs.store.apply(ForgetIdentifiers(names, app: "ios"))
    #expect(try jobs.current(job).request.userID == nil)
  }

  @Test func `A filter that names a refusal completes with another price than the known one`() throws {
    let jobs = try JobStore(failed: 2)
    let others = try jobs.run(try jobs.start(.complete, price: "price_9") { $0.state = .failed })
    #expect(others.total == 0, "no filter names the reason")
    let job = try jobs.run(try jobs.start(.complete, price: "price_9") { $0.reason = "http_422" })
    #expect(job.count(.released) == 2)
    #expect(try jobs.store.receipts().allSatisfy { $0.receipt?.priceID == "price_9" })
  }
}
