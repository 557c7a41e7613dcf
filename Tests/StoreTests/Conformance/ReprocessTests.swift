// Tests events that are processed again by today's rules.

import Domain
import Store
import TestSupport
import Testing

@Suite("Events that are processed again", .everyEngine)
struct ReprocessTests {
  private func reprocess(_ store: TestStore, _ content: IngestEvent.Content) throws -> ReprocessEvent.Outcome
  {
    let event = try #require(try store.reader.events(EventFilter(), limit: 1).first)
    return try store.apply(
      ReprocessEvent(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: event.id, type: "checkout.session.completed",
          body: Array("{}".utf8), content: content), row: event.row))
  }

  @Test func `An event whose receipt retention deleted makes no second one (R3)`() throws {
    let store = try TestStore()
    let said = Said.completed(prices: ["price_1"])
    #expect(try store.ingest(said) == .stored(.receipt))
    _ = try store.apply(CancelReceipt(id: try #require(try store.only().receipt?.id), note: "test"))
    store.advance(500 * day)
    _ = try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    try #require(try store.receipts().isEmpty)
    #expect(try reprocess(store, .report(said, keep: true)) == .init(before: .receipt, after: .receipt))
    #expect(try store.receipts().isEmpty)
  }

  @Test("An event that asks for a fetch does not bring back a purchase that retention deleted (R3)")
  func isNotFetched() throws {
    let store = try TestStore(rules: [
      "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
    ])
    let said = Said.completed(prices: ["price_1"])
    try store.ingest(said)
    _ = try store.apply(CancelReceipt(id: try #require(try store.only().receipt?.id), note: "test"))
    store.advance(20 * day)
    _ = try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    try #require(try store.integer("SELECT count(*) FROM past_purchases") != 0)
    _ = try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_late", type: "new", body: Array("{}".utf8),
        content: .nothing(.unparsed)))
    _ = try reprocess(store, .fetch(said.key, sessionID: "cs_1", keep: true))
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `An unparsed event makes its receipt once it can be read, and only once (R2)`() throws {
    let store = try TestStore()
    _ = try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_1", type: "", body: Array("{}".utf8),
        content: .nothing(.unparsed)))
    let said = IngestEvent.Content.report(Said.completed(prices: ["price_1"]), keep: true)
    #expect(try reprocess(store, said) == .init(before: .unparsed, after: .receipt))
    #expect(try store.status() == "waiting/context")
    #expect(try reprocess(store, said) == .init(before: .receipt, after: .receipt))
    #expect(try store.integer("SELECT count(*) FROM events") == 1)
    let event = try #require(try store.reader.events(EventFilter(), limit: 1).first)
    #expect(event.receiptID != nil)
    #expect(event.type == "checkout.session.completed")
    // A purchase keeps what it merged, even if the event now reads differently.
    #expect(try reprocess(store, .nothing(.otherMode)) == .init(before: .receipt, after: .receipt))
    #expect(try store.reader.events(EventFilter(), limit: 1).first?.receiptID == event.receiptID)
  }
}
