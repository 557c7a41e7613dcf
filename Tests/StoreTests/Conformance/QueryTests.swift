// Tests operators' queries: filters, pages, details.

import Domain
import Formats
import TestSupport
import Testing

@testable import Store

/// Receipts in several states, one a minute; the `n`-th belongs to `u(n % 3)`.
private func populated(_ count: Int = 12) throws -> TestStore {
  let store = try TestStore()
  for n in 0..<count {
    let app: AppSlug = n % 4 == 3 ? "web" : "ios"
    if n % 2 == 0 { try store.post("blob \(n)", user: "u\(n % 3)", app: app) }
    try store.ingest(Said.completed("\(n)", user: "u\(n % 3)", prices: ["price_1"], at: store.now), app: app)
    store.advance(minute)
  }
  return store
}

private func list(_ store: TestStore, limit: Int = 100, _ change: (inout ReceiptFilter) -> Void) throws
  -> [ObjectID]
{
  var filter = ReceiptFilter()
  change(&filter)
  return try store.reader.receipts(filter, limit: limit).map(\.purchase.key.id)
}

@Suite("Queries", .everyEngine)
struct QueryTests {
  @Test func `Receipts are listed newest first, and every filter restricts`() throws {
    let store = try populated()
    #expect(try list(store) { _ in } == (0..<12).reversed().map { "sub_\($0)" })
    #expect(try list(store) { $0.app = "web" } == ["sub_11", "sub_7", "sub_3"])
    #expect(try list(store) { $0.app = "other" } == [])
    #expect(try list(store) { $0.userID = "u2" } == ["sub_11", "sub_8", "sub_5", "sub_2"])
    #expect(try list(store) { $0.objectID = "sub_4" } == ["sub_4"])
    #expect(try list(store) { $0.state = .pending } == [6, 5, 4, 2, 1, 0].map { "sub_\($0)" })
    #expect(try list(store) { $0.state = .waiting }.count == 6)
    #expect(try list(store) { $0.reason = "context" } == list(store) { $0.state = .waiting })
    #expect(try list(store) { $0.state = .delivered } == [])
    #expect(try list(store) { $0.importID = "imp" } == [])
    let third = TestStore.start.advanced(by: .milliseconds(3 * minute))
    #expect(try list(store) { $0.since = third }.count == 9)
    #expect(try list(store) { $0.until = third } == ["sub_2", "sub_1", "sub_0"])
    #expect(
      try list(store) {
        $0.app = "ios"
        $0.userID = "u2"
        $0.since = third
      } == ["sub_8", "sub_5"])
  }

  @Test func `Every state can be listed`() throws {
    for state in ReceiptState.allCases {
      let store = try populated(1)
      var record = try store.only()
      let made = try #require(record.receipt)
      let id = made.id
      record.receipt = Receipt(
        id: id, createdAt: made.createdAt, state: state, reason: .byOperator, waitUntil: made.waitUntil,
        priceID: made.priceID, body: made.body, readyAt: made.readyAt, retrySince: made.retrySince,
        nextAttemptAt: made.nextAttemptAt, deliveredAt: made.deliveredAt)
      // The life cycle would not make this receipt.
      try store.writer.apply(WriteRecord(record: record), now: store.now)
      #expect(try list(store) { $0.state = state } == ["sub_0"])
      for other in ReceiptState.allCases where other != state {
        #expect(try list(store) { $0.state = other } == [])
      }
      #expect(try store.reader.receipt(id: id)?.receipt?.state == state)
      #expect(try store.reader.counts().filter { $0.count > 0 }.map(\.state) == [state])
    }
  }

  @Test(arguments: [1, 2, 5, 12, 50])
  func `Each page continues after the last one, without gaps or repeats`(limit: Int) throws {
    let store = try populated()
    var seen: [ObjectID] = []
    var filter = ReceiptFilter()
    while true {
      let page = try store.reader.receipts(filter, limit: limit)
      guard let last = page.last?.receipt?.id else { break }
      seen += page.map(\.purchase.key.id)
      filter.after = last
    }
    #expect(seen == (0..<12).reversed().map { "sub_\($0)" })
  }

  @Test func `Everything about a receipt: its events in their order, its attempts, its context`() throws {
    let store = try TestStore()
    let context = try store.post()
    try store.ingest(Said.created(), id: "evt_a", type: "customer.subscription.created")
    try store.ingest(Said.completed(), id: "evt_b", type: "checkout.session.completed")
    let id = try #require(try store.only().receipt?.id)
    let detail = try #require(try store.reader.detail(receipt: id))
    #expect(detail.events.map(\.id) == ["evt_a", "evt_b"])
    #expect(detail.events.map(\.outcome) == ["receipt", "receipt"])
    #expect(detail.events.map(\.receiptID) == [id, id])
    #expect(detail.context?.id == context)
    #expect(detail.attempts.isEmpty)
    #expect(detail.record.receipt?.id == id)
    #expect(try store.reader.detail(receipt: "rcp_none") == nil)
    #expect(try store.reader.receipt(id: "") == nil)
  }

  @Test(arguments: [1, 2, 3, 7, 50])
  func `Events are filtered and paged, even when several apps got the same event`(limit: Int) throws {
    let store = try TestStore()
    for n in 0..<9 {
      for app: AppSlug in n % 3 == 0 ? ["ios", "web", "held"] : ["ios"] {
        let content: IngestEvent.Content = .nothing(n % 2 == 0 ? .ignored : .unparsed)
        let event = IngestEvent(
          app: app, processor: "stripe", eventID: "evt_\(n)", type: "type\(n % 2)", body: [UInt8(n)],
          content: content)
        #expect(try store.apply(event) == .stored(n % 2 == 0 ? .ignored : .unparsed))
        store.advance(second)
      }
    }
    func all(_ change: (inout EventFilter) -> Void) throws -> [String] {
      var filter = EventFilter()
      change(&filter)
      var seen: [String] = []
      while true {
        let page = try store.reader.events(filter, limit: limit)
        guard let last = page.last else { return seen }
        seen += page.map { "\($0.app) \($0.id)" }
        filter.after = last.row
      }
    }
    let everything = (0..<9).flatMap { n in
      (n % 3 == 0 ? ["ios", "web", "held"] : ["ios"]).map { "\($0) evt_\(n)" }
    }
    #expect(try all { _ in } == everything.reversed())
    #expect(try all { $0.app = "web" } == ["web evt_6", "web evt_3", "web evt_0"])
    #expect(try all { $0.type = "type1" }.count == 6)
    #expect(try all { $0.outcome = .unparsed }.count == 6)
    #expect(try all { $0.since = TestStore.start.advanced(by: .milliseconds(14 * second)) } == ["ios evt_8"])
    #expect(try all { $0.until = TestStore.start.advanced(by: .milliseconds(second)) } == ["ios evt_0"])
    func time(_ number: Int, _ app: AppSlug, from seconds: Int64) throws -> Int64? {
      let start = TestStore.start.advanced(by: .milliseconds(seconds * second))
      let times = try store.reader.times(ofEvent: number, ofApp: app, from: [start, TestStore.start])
      return times[start].map { $0.duration(since: TestStore.start).milliseconds / second }
    }
    // The 15 events come one a second: those of ios in the seconds 0, 3, 4, 5, 8, …, of web in 1, 6, 11.
    #expect(try time(1, "ios", from: 1) == 3)
    #expect(try time(4, "ios", from: 1) == 8)
    #expect(try time(2, "web", from: 2) == 11)
    #expect(try time(3, "web", from: 2) == nil)
    #expect(try store.reader.events(id: "evt_3").map(\.summary.app) == ["ios", "web", "held"])
    #expect(try store.reader.events(id: "evt_3").map(\.body) == [[3], [3], [3]])
    #expect(try store.reader.events(id: "evt_none").isEmpty)
  }

  @Test func `Contexts are filtered and paged, with their states`() throws {
    let store = try populated()
    func all(_ change: (inout ContextFilter) -> Void) throws -> [String] {
      var filter = ContextFilter()
      change(&filter)
      var seen: [String] = []
      while true {
        let page = try store.reader.contexts(filter, now: store.now, limit: 2)
        guard let last = page.last else { return seen }
        seen += page.map(\.blob.text)
        filter.after = last.id
      }
    }
    #expect(try all { _ in } == [10, 8, 6, 4, 2, 0].map { "blob \($0)" })
    #expect(try all { $0.userID = "u1" } == ["blob 10", "blob 4"])
    #expect(try all { $0.app = "web" } == [])
    #expect(try all { $0.since = TestStore.start.advanced(by: .milliseconds(10 * minute)) } == ["blob 10"])
    #expect(try all { $0.until = TestStore.start.advanced(by: .milliseconds(minute)) } == ["blob 0"])
    let newest = try #require(try store.reader.contexts(ContextFilter(), now: store.now, limit: 1).first)
    #expect(newest.state == .paid)
    #expect(newest.receiptID != nil)
  }
}

@Suite("Due receipts", .everyEngine)
struct DueReceiptTests {
  @Test func `Due receipts are read together, in the order in which they are asked for`() throws {
    let store = try TestStore()
    for n in 0..<5 {
      try store.post("blob", user: "u\(n)")
      try store.ingest(Said.completed("\(n)", user: "u\(n)", prices: ["price_1"]))
    }
    let rows = try store.reader.dueRows(app: "ios", now: store.now, limit: 10)
    try #require(rows.count == 5)
    let one = try #require(try store.reader.due(row: rows[1], now: store.now))
    _ = try store.apply(CancelReceipt(id: one.id, note: "meanwhile"))
    let asked = [rows[3], 999_999, rows[0], rows[1], rows[2]]
    let found = try store.reader.due(rows: asked, now: store.now)
    #expect(found.map(\.row) == [rows[3], rows[0], rows[2]])
    for (row, _, result) in found { #expect(try result.get() == store.reader.due(row: row, now: store.now)) }
    #expect(try store.reader.due(rows: [], now: store.now).isEmpty)
    #expect(try store.reader.due(rows: asked, now: store.now + .milliseconds(-1)).isEmpty)
  }
}

/// Saves a record without checking any rules.
private struct WriteRecord: StoreCommand {
  var record: PurchaseRecord

  func apply(to store: StoreSession) throws(StoreFault) {
    guard let old = try store.purchases.find(row: record.rowID) else { return }
    try store.purchases.update(record, from: old)
  }
}
