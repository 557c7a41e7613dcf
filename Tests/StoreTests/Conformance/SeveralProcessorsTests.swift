// Tests that ids belong to their processor: two processors may use the same id.

import Domain
import Store
import Testing

@Suite("Purchases of several processors", .everyEngine)
struct SeveralProcessorsTests {
  private func of(_ processor: ProcessorName, _ report: PurchaseReport) -> PurchaseReport {
    var report = report
    report.key.processor = processor
    return report
  }

  @Test func `Two processors with the same object type and id have two purchases`() throws {
    let store = try TestStore()
    try store.ingest(Said.payment("1", user: "u1"))
    try store.ingest(of("other", Said.payment("1", user: "u2")))
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", "u2"])
    #expect(try store.receipts().map(\.purchase.key.processor) == ["stripe", "other"])
    #expect(try store.receipts().map(\.purchase.key.id) == ["cs_1", "cs_1"])
    // Each purchase continues with its own events.
    try store.ingest(of("other", Said.payment("1", user: nil)))
    #expect(try store.receipts().count == 2)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test("A checkout and the object that it sold become one purchase of their own processor only")
  func merge() throws {
    let store = try TestStore()
    try store.ingest(Said.session("1", [.paid, .objectExpected], named: false))
    try store.ingest(of("other", Said.session("1", .paid)))
    #expect(try store.integer("SELECT count(*) FROM purchases") == 2)
    try store.ingest(Said.session("1", .paid))
    #expect(try store.integer("SELECT count(*) FROM purchases") == 2)
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE object_id = 'sub_1'") == 2)
  }

  @Test func `A customer's user is not the user of another processor's customer with the same id`() throws {
    let store = try TestStore()
    try store.ingest(Said.payment("1", user: "u1"))
    var said = of("other", Said.payment("2", user: nil))
    said.customerID = "cus_1"
    try store.ingest(said)
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", nil])
    said = of("other", Said.payment("3", user: "u3"))
    said.customerID = "cus_1"
    try store.ingest(said)
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", "u3", "u3"])
  }

  @Test("After a user was forgotten, another processor's purchase with the same id is ingested")
  func erased() throws {
    let store = try TestStore()
    try store.ingest(Said.payment("1", user: "u1"))
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    #expect(try store.ingest(Said.payment("1", user: "u1")) == .stored(.erased))
    #expect(try store.ingest(of("other", Said.payment("1", user: "u2"))) == .stored(.receipt))
  }

  @Test func `After retention, another processor's purchase with the same id is ingested`() throws {
    let store = try TestStore()
    try store.ingest(Said.payment("1", user: "u1"))
    let row = try store.only().rowID
    _ = try store.apply(CancelReceipt(id: #require(try store.only().receipt?.id), note: ""))
    store.advance(day)
    _ = try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: row.number - 1))
    #expect(try store.receipts().isEmpty)
    try store.ingest(Said.payment("1", user: "u1"))
    #expect(try store.receipts().isEmpty, "its receipt is gone, and not made again")
    try store.ingest(of("other", Said.payment("1", user: "u2")))
    #expect(try store.only().purchase.userID == "u2")
  }
}
