// Tests SQLite's database as a file: two programs write to it, it is copied, and erased data is overwritten.

import Domain
import FoundationEssentials
import Store
import Testing

@testable import SQLiteStore

@Suite("The database as a file")
struct SQLiteFileTests {
  @Test func `A guest and the owner write to one database in turn`() throws {
    let store = try TestStore()
    let guest = try StoreWriter(path: store.path, role: .guest, rules: TestStore.rules)
    try store.ingest(.said(prices: ["price_1"]))
    let id = try #require(try store.only().receipt?.id)
    #expect(try guest.apply(CancelReceipt(id: id, note: "by hand"), now: store.now) == .done)
    try store.ingest(Said.created())
    #expect(try store.status() == "cancelled/operator")
  }

  @Test func `A copy of the database is complete and independent`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    let path = store.path + ".copy"
    try store.reader.copy(to: path)
    let copy = try StoreReader(path: path, role: .guest)
    #expect(try copy.receipts(ReceiptFilter(), limit: 10) == store.receipts())
    #expect(throws: StoreFault.self) { try store.reader.copy(to: path) }
  }

  @Test func `What the owner deletes is overwritten in the file, whole pages, too`() throws {
    let store = try TestStore()
    let path = store.path + ".owner"
    let owner = try Database.open(path: path, role: .owner)
    try owner.execute(
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, body)
        VALUES ('ios', 'stripe', 'evt_1', 'test', 'ignored', 1,
          CAST(replace(hex(zeroblob(4000)), '00', 'jane@mail.example ') AS BLOB))
      """)
    func isInFile() throws -> Bool {
      _ = try owner.integer("PRAGMA wal_checkpoint(TRUNCATE)")
      let bytes = try #require(FileManager.default.contents(atPath: path))
      return bytes.firstRange(of: Data("jane@mail".utf8)) != nil
    }
    #expect(try isInFile())
    try owner.execute("UPDATE events SET body = x'00'")
    #expect(try owner.integer("PRAGMA freelist_count") ?? 0 > 10)
    #expect(try isInFile() == false)
  }

  @Test func `Data that a guest erases is overwritten in the file`() throws {
    let (store, row, _) = try ForgetTests.store()
    let rules = TestStore.rules
    let guest = try StoreWriter(path: store.path, role: .guest, rules: rules)
    _ = try guest.apply(ForgetPurchases(rows: [row], cancelsOpen: false), now: store.now)
    _ = try guest.apply(ForgetUserRows(.contexts, app: "ios", userID: "user-jane"), now: store.now)
    try guest.finish()
    let bytes = try #require(FileManager.default.contents(atPath: store.path))
    for text in ForgetTests.personal { #expect(bytes.firstRange(of: Data(text.utf8)) == nil, "\(text)") }
    // The daemon's own writer, open all the time, sees the erasure.
    #expect(try store.ingest(Said.created("jane"), id: "evt_jane2") == .repeated)
  }
}
