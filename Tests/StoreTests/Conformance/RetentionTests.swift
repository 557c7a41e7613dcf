// Tests what retention deletes, and that it never deletes a receipt that has not ended (R4).

import Domain
import TestSupport
import Testing

@testable import Store

/// Receipts in every state, each with an event, and with a context and an attempt if the state has one.
private func populated() throws -> TestStore {
  let store = try TestStore()
  for (n, end) in [Delivery.Decision.delivered(importID: nil), .failed(.status(422)), nil].enumerated() {
    try store.post("blob \(n)", user: "u\(n)")
    try store.ingest(Said.completed("\(n)", user: "u\(n)", prices: ["price_1"]))
    guard let end, let id = try store.receipts().last?.receiptID else { continue }
    _ = try store.apply(
      RecordAttempt(of: id, app: "ios", report: AttemptReport(at: store.now), decision: end))
  }
  try store.ingest(Said.completed("waiting", user: nil))
  try store.post("unused", user: "nobody")
  try store.ingest(Said.created("noted"))
  return store
}

/// Runs every slice of a table.
private func retain(_ table: RetentionTable, before cutoff: Timestamp, in store: TestStore) throws -> Int {
  var deleted = 0
  var next: Int64? = 0
  while let row = next {
    let outcome = try store.apply(Retain(table: table, cutoff: cutoff, afterRow: row))
    deleted += outcome.deleted
    if let further = outcome.nextRow { #expect(further > row) }
    next = outcome.nextRow
  }
  return deleted
}

@Suite("Retention", .everyEngine)
struct RetentionTests {
  @Test(arguments: RetentionTable.allCases)
  func `Only rows older than the cutoff are deleted`(table: RetentionTable) throws {
    let store = try populated()
    #expect(try retain(table, before: store.now, in: store) == 0)
    let expected = [RetentionTable.attempts: 2, .events: 5, .contexts: 3, .receipts: 2]
    #expect(try retain(table, before: store.after(1), in: store) == expected[table])
    #expect(try retain(table, before: store.after(1), in: store) == 0)
    #expect(try store.reader.integrityFaults().isEmpty)
  }

  @Test func `Waiting or pending receipts and their contexts are never deleted, however old (R4)`() throws {
    let store = try populated()
    store.advance(9000 * day)
    for table in RetentionTable.allCases { _ = try retain(table, before: store.now, in: store) }
    let states = try store.receipts().map(\.receipt?.state)
    #expect(states == [.pending, .waiting])
    #expect(try store.integer("SELECT count(*) FROM contexts") == 1)
    let kept = try #require(try store.receipts().first)
    #expect(try store.context(#require(kept.purchase.contextID)).receiptID == kept.receipt?.id)
    #expect(try store.reader.counts().filter { $0.count > 0 }.map(\.state) == [.pending, .waiting])
  }

  @Test func `Deleting a receipt deletes its attempts and keeps its events`() throws {
    let store = try populated()
    #expect(try retain(.receipts, before: store.after(1), in: store) == 2)
    #expect(try store.integer("SELECT count(*) FROM attempts") == 0)
    #expect(try store.integer("SELECT count(*) FROM events") == 5)
    #expect(try store.integer("SELECT count(*) FROM events WHERE purchase_row IS NULL") == 2)
  }

  @Test("The row number of a deleted purchase is not reused, so its context gets no other purchase (R5)")
  func rowsAreNotReused() throws {
    let store = try TestStore()
    try store.post("first")
    try store.ingest(.said(prices: ["price_1"]))
    let id = try #require(try store.only().receipt?.id)
    let context = try #require(try store.only().purchase.contextID)
    #expect(try store.apply(CancelReceipt(id: id, note: "")) == .done)
    #expect(try retain(.receipts, before: store.after(1), in: store) == 1)
    try store.ingest(Said.completed("2", user: "u2", prices: ["price_1"]))
    #expect(try store.context(context).receiptID == nil)
  }

  @Test func `Purchases without a receipt are deleted after a long time without events`() throws {
    let store = try populated()
    #expect(try store.apply(RetainNoted(cutoff: store.now)) == .init(deleted: 0, hasMore: false))
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE state IS NULL") == 1)
    store.advance(day)
    try store.ingest(Said.created("noted", active: false, price: "price_2"))
    #expect(try store.apply(RetainNoted(cutoff: store.now)).deleted == 1)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 4, "it had nothing new to say")
    try store.ingest(Said.created("again"))
    #expect(try store.apply(RetainNoted(cutoff: store.after(1))).deleted == 1)
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE state IS NULL") == 0)
    #expect(try store.receipts().count == 4)
  }

  @Test("An ended subscription makes no receipt from a late event, also if events are kept for a day")
  func ended() throws {
    let store = try TestStore()
    var end = Said.created("1", active: false, price: nil)
    end.observations = .ended
    try store.ingest(end)
    try store.ingest(Said.created("2", active: false))
    store.advance(29 * day)
    #expect(try store.apply(RetainNoted(cutoff: store.after(-day))).deleted == 1, "the other one goes")
    try store.ingest(Said.created("1", user: "u1"))
    #expect(try store.receipts().isEmpty)
    // The purchase's last event counts.
    store.advance(29 * day)
    #expect(try store.apply(RetainNoted(cutoff: store.after(-day))).deleted == 0)
    store.advance(2 * day)
    #expect(try store.apply(RetainNoted(cutoff: store.after(-60 * day))).deleted == 0, "kept as events are")
    #expect(try store.apply(RetainNoted(cutoff: store.after(-day))).deleted == 1)
  }

  @Test func `Purchases without a receipt and ids of deleted ones are deleted in slices of 500`() throws {
    let store = try TestStore()
    let numbers = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1200)"
    try store.execute(
      """
      INSERT INTO purchases (row_id, app, processor, object_type, object_id, observations, unmatched, prices,
        prices_of_checkout, happened_at, first_seen_at, updated_at)
      \(numbers) SELECT n, 'ios', 'stripe', 'subscription', 'sub_' || n,
        CASE WHEN n <= 700 THEN 16 ELSE 272 END, CASE WHEN n <= 700 THEN 1 ELSE 0 END, '', 0, 1, 1, 1 FROM n
      """)
    try store.execute(
      """
      INSERT INTO past_purchases (object_id, app, processor, until)
      \(numbers) SELECT 'sub_' || n, 'ios', 'stripe', 1 FROM n
      """)
    try store.execute("UPDATE sequences SET next = 1201 WHERE name = 'purchases'")
    let noted = try (0..<3).map { _ in try store.apply(RetainNoted(cutoff: store.now)) }
    #expect(noted.map(\.deleted) == [500, 500, 200])
    #expect(noted.map(\.hasMore) == [true, true, false])
    let past = try (0..<3).map { _ in try store.apply(RetainPast()) }
    #expect(past == noted)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
    #expect(try store.integer("SELECT count(*) FROM past_purchases") == 0)
  }

  @Test("Each slice continues after the last one, over rows that stay and rows that are deleted")
  func slices() throws {
    let store = try TestStore()
    let batch = (0..<1234).map { n in
      Submission(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: "evt_\(n)", type: "t", body: [1],
          content: .nothing(.ignored))
      ) { _ in }
    }
    _ = store.writer.apply(batch, now: store.now)
    let first = try store.apply(Retain(table: .events, cutoff: store.after(1), afterRow: 0))
    #expect(first == Retain.Outcome(deleted: 500, nextRow: 500))
    let second = try store.apply(Retain(table: .events, cutoff: store.after(1), afterRow: 500))
    #expect(second == Retain.Outcome(deleted: 500, nextRow: 1000))
    let third = try store.apply(Retain(table: .events, cutoff: store.after(1), afterRow: 1000))
    #expect(third == Retain.Outcome(deleted: 234, nextRow: nil))
    #expect(try store.apply(Retain(table: .events, cutoff: store.after(1), afterRow: 0)).nextRow == nil)
  }

  @Test("A receipt that retention deleted within thirty days is not made again by its events (R2, R3)")
  func repeatAfterDeletion() throws {
    for kept in [7, 29, 31] {
      let store = try populated()
      store.advance(Int64(kept) * day)
      for table in [RetentionTable.events, .attempts, .receipts] {
        _ = try retain(table, before: store.now, in: store)
      }
      _ = try store.apply(RetainPast())
      let before = try store.receipts().count
      let reports = [
        Said.completed("0", user: "u0", prices: ["price_1"]), Said.created("0", user: "u0"),
        Said.session("0", .paid, named: false),
      ]
      for report in reports { try store.ingest(report) }
      #expect(try store.receipts().count == before + (kept > 30 ? 1 : 0), "\(kept) days")
      // Ids are not kept longer than needed.
      store.advance(31 * day)
      _ = try store.apply(RetainPast())
      #expect(try store.integer("SELECT count(*) FROM past_purchases") == 0)
      try store.ingest(Said.completed("0", user: "u0", prices: ["price_1"]))
      #expect(try store.receipts().count >= before + 1)
    }
  }
}
