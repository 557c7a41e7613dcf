// Tests that one purchase makes one receipt with the same content for any order, repetition and delay of its
// events and its context (R2).

import Domain
import Store
import TestSupport
import Testing

/// An event or a context of the purchase `n` of the user `u_n`.
private struct Step: Sendable {
  var name: String
  var run: @Sendable (TestStore, String) throws -> Void

  static func event(_ name: String, _ report: @escaping @Sendable (String) -> PurchaseReport) -> Step {
    Step(name: name) { store, n in try store.ingest(report(n)) }
  }

  static let context = Step(name: "context") { store, n in
    try store.post("blob \(n)", user: "u_\(n)", price: "price_1")
  }
  static let created = event("subscription.created") { Said.created($0) }
  static let createdIncomplete = event("subscription.created, incomplete") { Said.created($0, active: false) }
  static let createdWithUser = event("subscription.created, with its user") {
    Said.created($0, user: "u_\($0)")
  }
  static let began = event("subscription.updated") { Said.created($0) }
  static let invoice = event("invoice.paid") { Said.invoice($0) }
  static let completed = event("checkout.completed") { Said.completed($0, user: "u_\($0)") }
  static let completedUnnamed = event("checkout.completed, without its subscription") {
    Said.completed($0, user: "u_\($0)", named: false)
  }
  static let unpaid = event("checkout.completed, unpaid") {
    Said.completed($0, user: "u_\($0)", unpaid: true)
  }
  static let unpaidUnnamed = event("checkout.completed, unpaid, without its subscription") {
    Said.completed($0, user: "u_\($0)", unpaid: true, named: false)
  }
  static let succeeded = event("async_payment_succeeded") { Said.session($0, .paid) }
  static let failed = event("async_payment_failed") { Said.session($0, [.promised, .failed]) }
  static let expired = event("expired") { Said.session($0, .expired) }
}

/// Runs the steps in every order, each order with its own purchase and user, and then ends the waits.
private func inEveryOrder(
  _ steps: [Step], twice: Bool = false, ends expected: @escaping (String) -> [String]
) throws {
  let store = try TestStore()
  var orders: [(n: String, names: String)] = []
  for (position, order) in TestEngine.orders(steps).enumerated() {
    let n = "\(position)"
    for step in order { try step.run(store, n) }
    if twice { for step in order.reversed() where step.name != Step.context.name { try step.run(store, n) } }
    orders.append((n, order.map(\.name).joined(separator: ", ")))
  }
  let receipts = Dictionary(grouping: try store.receipts()) {
    $0.purchase.sessionID?.text ?? $0.purchase.key.id.text
  }
  for (n, names) in orders {
    let made = (receipts["cs_\(n)"] ?? []) + (receipts["sub_\(n)"] ?? [])
    #expect(made.map(TestStore.status) == expected(n), "\(names)")
    if let row = made.first?.rowID, made.count == 1 {
      let outcomes = try store.integer(
        "SELECT count(*) FROM events WHERE purchase_row = \(row) AND outcome = 'receipt'")
      let all = try store.integer("SELECT count(*) FROM events WHERE purchase_row = \(row)")
      #expect(outcomes == all, "every event of it says so: \(names)")
    }
  }
  #expect(
    try store.integer("SELECT count(*) FROM events WHERE purchase_row IS NULL AND outcome = 'receipt'") == 0)
}

private func sent(_ n: String) -> [String] { ["pending: u_\(n) subscription sub_\(n) price_1 blob \(n)"] }

@Suite("Events and contexts in every order", .everyEngine)
struct EventOrderTests {
  @Test("A context and three sister events make one receipt with one content in all 24 orders (R2)")
  func sisters() throws {
    try inEveryOrder([.context, .created, .completed, .invoice], ends: sent)
  }

  @Test func `The same with every event coming twice under another id (R2)`() throws {
    try inEveryOrder([.context, .created, .completed, .invoice], twice: true, ends: sent)
  }

  @Test func `The same with a subscription that begins incomplete, in all 120 orders (R2)`() throws {
    try inEveryOrder([.context, .createdIncomplete, .began, .completed, .invoice], ends: sent)
  }

  @Test func `A delayed payment that comes makes one receipt in every order (R2)`() throws {
    try inEveryOrder([.context, .unpaid, .succeeded, .createdIncomplete], ends: sent)
  }

  @Test func `A delayed payment that fails cancels the receipt in every order (R2)`() throws {
    try inEveryOrder([.context, .unpaid, .failed, .createdIncomplete]) { _ in ["cancelled/payment_failed"] }
    try inEveryOrder([.context, .unpaid, .expired]) { _ in ["cancelled/session_expired"] }
    try inEveryOrder([.context, .unpaid, .failed, .expired]) { _ in ["cancelled/payment_failed"] }
  }

  @Test func `A payment that failed and then came makes the receipt in every order (R2)`() throws {
    try inEveryOrder([.context, .unpaid, .failed, .succeeded, .created], ends: sent)
  }

  @Test("A checkout whose subscription has no name yet becomes one receipt with it in every order (R2)")
  func namedLater() throws {
    try inEveryOrder([.context, .unpaidUnnamed, .succeeded, .created], ends: sent)
    try inEveryOrder([.context, .completedUnnamed, .created, .completed], ends: sent)
    try inEveryOrder([.completedUnnamed, .createdWithUser, .context, .succeeded], ends: sent)
  }

  @Test("Until an event names both, checkout and subscription are separate, and the checkout's is not sent")
  func neverNamed() throws {
    try inEveryOrder([.completedUnnamed, .createdWithUser]) { _ in
      ["waiting/subscription", "waiting/context"]
    }
  }

  @Test func `An abandoned checkout makes no receipt, nor does a subscription without a user`() throws {
    try inEveryOrder([.context, .expired]) { _ in [] }
    try inEveryOrder([.context, .created, .invoice, .createdIncomplete]) { _ in [] }
  }

  @Test func `The same event id again changes nothing, even with other content (R2)`() throws {
    let store = try TestStore()
    #expect(try store.ingest(Said.completed(prices: ["price_1"]), id: "evt_x") == .stored(.receipt))
    let before = try store.only()
    store.advance(minute)
    #expect(try store.ingest(Said.completed(prices: ["price_1"]), id: "evt_x") == .repeated)
    #expect(try store.ingest(Said.completed("2"), id: "evt_x") == .repeated)
    #expect(try store.only() == before)
    #expect(try store.integer("SELECT count(*) FROM events") == 1)
  }

  @Test("A receipt that was sent gets no other user, price or context, and shows that another was named (R2)")
  func fixed() throws {
    let store = try TestStore()
    try store.post("first")
    try store.ingest(Said.created(user: "u1"))
    let ready = try store.only()
    #expect(TestStore.status(ready) == "pending: u1 subscription sub_1 price_1 first")
    try store.send(ready.receiptID)
    let sent = try store.only()
    let other = try store.post("other", user: "u2")
    store.advance(1)
    try store.ingest(Said.completed(user: "u2", contextID: other, prices: ["p2"]))
    let later = try store.only()
    #expect(later.receipt == sent.receipt)
    #expect(later.purchase.userConflict)
    #expect(later.purchase.userID == "u1")
    #expect(later.purchase.prices == ["price_1"])
    #expect(later.purchase.context?.text == "first")
    #expect(later.purchase.sessionID == "cs_1")
    #expect(try store.context(other).state == .open)
  }

  @Test func `A failed delivery keeps its content, too`() throws {
    let store = try TestStore()
    try store.post("first")
    try store.ingest(.said(prices: ["price_1"]))
    let id = try store.only().receiptID
    _ = try store.apply(
      RecordAttempt(
        of: id, app: "ios",
        report: AttemptReport(at: store.now, status: 422, duration: .milliseconds(5)),
        decision: .failed(.status(422))))
    try store.ingest(
      Said.created(user: "u2", price: "price_2", contextID: try store.post("second", user: "u2")))
    let failed = try store.only()
    #expect(TestStore.status(failed) == "failed/http_422: u1 subscription sub_1 price_1 first")
    #expect(failed.purchase.userID == "u1")
    #expect(failed.purchase.context?.text == "first")
  }

  @Test func `A delivered receipt stays delivered after any later events (R3)`() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(.said(prices: ["price_1"]))
    _ = try store.apply(
      RecordAttempt(
        of: try store.only().receiptID, app: "ios",
        report: AttemptReport(at: store.now, duration: .milliseconds(5)),
        decision: .delivered(importID: "imp")))
    let before = try store.only().receipt
    for observations in [Observations.failed, .expired, .promised, .paid] {
      try store.ingest(Said.session("1", observations))
    }
    try store.ingest(Said.invoice())
    #expect(try store.only().receipt == before)
  }

  @Test func `An event of an irrelevant type makes no purchase, and is stored`() throws {
    let store = try TestStore()
    #expect(try store.ingest(Said.created(), keep: false) == .stored(.ignored))
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
    #expect(try store.integer("SELECT count(*) FROM events") == 1)
    try store.ingest(Said.completed())
    #expect(try store.ingest(Said.created(), keep: false) == .stored(.receipt), "it fills what is lacking")
    #expect(try store.only().purchase.prices == ["price_1"])
  }
}
