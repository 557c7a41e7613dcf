// Tests the status of a checkout that is identified by its session only.

import Domain
import TestSupport
import Testing

@testable import Store

@Suite("The status of a session", .everyEngine) struct CheckoutStatusTests {
  @Test(
    "A session is known from its first event on, under its subscription or its own name, to its app alone")
  func bySession() throws {
    let store = try TestStore()
    func status(_ session: SessionID = "cs_1", app: AppSlug = "ios") throws -> CheckoutStatus? {
      try store.reader.status(app: app, sessionID: session)
    }
    #expect(try status() == nil)
    let id = try store.post()
    // Before and after its subscription has an id.
    try store.ingest(Said.completed(unpaid: true, named: false, prices: ["price_1"]))
    #expect(try status()?.state == .open)
    #expect(try status()?.reason == .payment)
    #expect(try status()?.contextID == id)
    try store.ingest(Said.session("1", .paid))
    #expect(try status()?.state == .paid)
    #expect(try status()?.contextID == id)
    #expect(try status()?.updatedAt == store.now)
    #expect(try status()?.receiptID == store.only().receipt?.id)
    #expect(try status(app: "web") == nil)
    #expect(try status("cs_2") == nil)
    #expect(try status("sub_1") == nil)
    // Without a context, and without a subscription.
    try store.ingest(Said.payment("2", user: "u2"))
    #expect(try status("cs_2")?.state == .paid)
    #expect(try status("cs_2")?.contextID == nil)
  }

  @Test func `A session that ended without a payment has expired`() throws {
    let store = try TestStore()
    try store.ingest(Said.session("1", .expired, named: false))
    #expect(try store.reader.status(app: "ios", sessionID: "cs_1")?.state == .expired)
    try store.ingest(Said.session("2", [.promised], named: false))
    try store.ingest(Said.session("2", [.failed], named: false))
    let failed = try store.reader.status(app: "ios", sessionID: "cs_2")
    #expect(failed?.state == .cancelled)
    #expect(failed?.reason == .paymentFailed)
  }

  @Test func `The status of a context has the time of its last change`() throws {
    let store = try TestStore()
    let id = try store.post()
    store.advance(minute)
    try store.post()
    func status() throws -> CheckoutStatus? {
      try store.reader.status(app: "ios", contextID: id, now: store.now)
    }
    #expect(try status()?.begunAt == store.now)
    #expect(try status()?.updatedAt == TestStore.start)
    store.advance(minute)
    try store.ingest(Said.completed(prices: ["price_1"], at: store.now))
    #expect(try status()?.begunAt == store.now)
    #expect(try status()?.contextID == id)
  }

  @Test("A paid checkout has paid: true with any state of its receipt, and an unpaid one never has")
  func paid() throws {
    let store = try TestStore()
    func status(_ id: ContextID) throws -> (CheckoutStatus.State?, Bool?) {
      let status = try store.reader.status(app: "ios", contextID: id, now: store.now)
      return (status?.state, status?.paid)
    }
    func record(_ decision: Delivery.Decision) throws {
      let due = try #require(try store.reader.due(app: "ios", now: store.now, limit: 1).first)
      let report = AttemptReport(at: store.now)
      let attempt = RecordAttempt(of: due.id, app: "ios", report: report, decision: decision)
      _ = try store.apply(attempt)
    }
    let ids = try (0...5).map { try store.post("blob \($0)", user: "u\($0)", price: "price_1") }
    #expect(try status(ids[0]) == (.open, false))
    try store.ingest(Said.completed("1", user: ids[1].text, unpaid: true, prices: ["price_1"]))
    #expect(try status(ids[1]) == (.open, false))
    try store.ingest(Said.session("1", .paid))
    #expect(try status(ids[1]) == (.paid, true))
    try record(.failed(.status(422)))
    #expect(try status(ids[1]) == (.failed, true), "paid, and not passed on yet")
    #expect(try store.reader.status(app: "ios", sessionID: "cs_1")?.paid == true)
    try store.ingest(Said.completed("2", user: ids[2].text, prices: ["price_1"]))
    try record(.delivered(importID: nil))
    #expect(try status(ids[2]) == (.delivered, true))
    try store.ingest(Said.completed("3", user: ids[3].text, unpaid: true, prices: ["price_1"]))
    try store.ingest(Said.session("3", .failed))
    #expect(try status(ids[3]) == (.cancelled, false))
    try store.ingest(Said.completed("4", user: ids[4].text, prices: ["price_1"]))
    let receipt = try #require(try store.receipts().last?.receipt?.id)
    _ = try store.apply(CancelReceipt(id: receipt, note: "why not"))
    #expect(try status(ids[4]) == (.cancelled, true))
    store.advance(day)
    #expect(try status(ids[5]) == (.expired, false))
  }

  @Test func `A purchase that waits for its checkout does not count as paid yet`() throws {
    let store = try TestStore(rules: TestStore.rules(settle: .seconds(5)))
    let id = try store.post(price: "price_1")
    try store.ingest(Said.created(user: "u1", contextID: id))
    #expect(try store.status() == "waiting/checkout")
    let status = try store.reader.status(app: "ios", contextID: id, now: store.now)
    #expect(status?.state == .open)
    #expect(status?.paid == false)
  }
}
