// Tests that the generated large database is one that the relay itself could have made.

import Domain
import Store
import TestSupport
import Testing

@Suite("A large database")
struct LargeDatabaseTests {
  @Test func `It is sound, its counts are right, and each receipt is found by its id`() throws {
    let store = try TestStore()
    try LargeDatabase.fill(path: store.path, .init(receipts: 2000, failed: 50, isWhole: true))
    #expect(try store.reader.integrityFaults() == [])
    var failed = ReceiptFilter()
    failed.state = .failed
    let found = try store.reader.outlines(failed, limit: 100)
    #expect(found.count == 50)
    #expect(Set(found.compactMap(\.reason?.text)) == Set(LargeDatabase.reasons.map(\.reason)))
    let detail = try #require(try store.reader.detail(receipt: ReceiptID(LargeDatabase.receiptID(77))))
    #expect(detail.record.receipt?.state == .delivered)
    #expect(detail.attempts.count == 1)
    #expect(detail.events.map(\.id) == ["evt_77"])
    // New purchases get numbers after the generated ones.
    try store.ingest(.said(prices: ["price_1"]))
    #expect(try store.reader.integrityFaults() == [])
  }
}
