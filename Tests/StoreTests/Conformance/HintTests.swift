// Tests events that say only that something changed: the purchase is fetched, and the planned fetch stays
// until it is answered.

import Domain
import Store
import TestSupport
import Testing

private let ios = AppProcessor("ios", "stripe")
private let asking: [AppSlug: AppRules] = [
  "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
]
private let key = PurchaseKey(type: .checkoutSession, id: "cs_1")

@Suite("Events that ask for a purchase to be fetched", .everyEngine)
struct HintTests {
  private let store: TestStore

  init() throws { store = try TestStore(rules: asking) }

  private func ingest(_ id: EventID, _ content: IngestEvent.Content, isHint: Bool = false) throws
    -> IngestEvent.Outcome
  {
    try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: id, type: "changed", body: Array(id.text.utf8),
        content: content, isHint: isHint))
  }

  private func due() throws -> [DueLookup] { try store.reader.dueLookups(ios, now: store.now, limit: 100) }

  private func answer(
    _ due: DueLookup, _ reports: [PurchaseReport], isFetched: Bool = true
  ) throws {
    try store.apply(
      IngestLookup(
        ios, of: due.reference, asked: due.reason, fetches: due.fetches, isFetched: isFetched,
        reports: reports,
        nextAt: store.after(minute)))
  }

  private func integer(_ sql: String) throws -> Int64? { try store.integer(sql) }

  @Test(
    "An unknown purchase is fetched at once, and the processor's answer makes the receipt")
  func fetched() throws {
    #expect(try ingest("evt_1", .fetch(key, sessionID: "cs_1", keep: true)) == .stored(.noted))
    try store.reopen()
    let due = try #require(try due().first)
    #expect(due.key == key)
    #expect(due.fetches == 1)
    #expect(due.reason == nil)
    try answer(due, [Said.payment("1", user: "u1")])
    #expect(try store.status() == "waiting/context")
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
    #expect(try integer("SELECT count(*) FROM events WHERE outcome = 'receipt'") == 1)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `The fetch is repeated until the processor has answered`() throws {
    _ = try ingest("evt_1", .fetch(key, sessionID: "cs_1", keep: true))
    try answer(#require(try due().first), [], isFetched: false)
    #expect(try due().isEmpty)
    store.advance(minute)
    let due = try #require(try due().first)
    #expect(due.attempts == 1)
    // The processor does not know the object, so no further lookup follows.
    try answer(due, [])
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `An event during a fetch causes another fetch`() throws {
    _ = try ingest("evt_1", .fetch(key, sessionID: "cs_1", keep: true))
    let first = try #require(try due().first)
    #expect(try ingest("evt_2", .fetch(key, sessionID: "cs_1", keep: true)) == .stored(.noted))
    try answer(first, [Said.session("1", .promised, named: false)])
    let second = try #require(try due().first)
    #expect(second.fetches == 2)
    try answer(second, [Said.payment("1", user: "u1")])
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try store.status() == "waiting/context")
  }

  @Test func `A repeated event, and an event without a purchase to fetch, change nothing`() throws {
    _ = try ingest("evt_1", .fetch(key, sessionID: "cs_1", keep: true))
    #expect(try ingest("evt_1", .fetch(key, sessionID: "cs_1", keep: true)) == .repeated)
    #expect(try due().map(\.fetches) == [1])
    let other = PurchaseKey(type: .checkoutSession, id: "cs_2")
    #expect(try ingest("evt_2", .fetch(other, sessionID: nil, keep: false)) == .stored(.ignored))
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
  }

  @Test func `A hint about an unknown purchase is answered and not stored`() throws {
    for content in [
      IngestEvent.Content.fetch(key, sessionID: "cs_1", keep: true), .report(Said.payment("1"), keep: true),
    ] {
      #expect(try ingest("evt_1", content, isHint: true) == .unmatched)
    }
    #expect(try ingest("evt_1", .nothing(.ignored), isHint: true) == .unmatched)
    for table in ["events", "purchases", "look_ups"] {
      #expect(try integer("SELECT count(*) FROM \(table)") == 0, "\(table)")
    }
  }

  @Test func `Of a hint only the purchase's key counts, also when it is processed again`() throws {
    try store.ingest(Said.session("1", [], named: false))
    let lie = IngestEvent(
      app: "ios", processor: "stripe", eventID: "hint_1", type: "t", body: [1],
      content: .report(Said.payment("1", user: "thief"), keep: true), isHint: true)
    #expect(try store.apply(lie) == .stored(.noted))
    #expect(try store.receipts().isEmpty)
    #expect(try due().map(\.key) == [key])
    try answer(#require(try due().first), [Said.session("1", [], named: false)])
    let row = try #require(try integer("SELECT row_id FROM events WHERE event_id = 'hint_1'"))
    let again = IngestEvent(
      app: "ios", processor: "stripe", eventID: "hint_1", type: "t", body: [1],
      content: .report(Said.payment("1", user: "thief"), keep: true))
    _ = try store.apply(ReprocessEvent(again, row: EventRowID(row)))
    #expect(try store.receipts().isEmpty)
    #expect(try due().map(\.fetches) == [1], "it is asked about again")
  }

  @Test func `A purchase of a forgotten user is not fetched`() throws {
    try store.ingest(Said.payment("1", user: "u1"))
    _ = try ingest("changed", .fetch(key, sessionID: "cs_1", keep: true))
    #expect(try due().count == 1)
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try ingest("evt_2", .fetch(key, sessionID: "cs_1", keep: true)) == .stored(.erased))
    #expect(try ingest("evt_3", .fetch(key, sessionID: "cs_1", keep: true), isHint: true) == .unmatched)
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test("A purchase whose receipt retention deleted is not fetched, so that it gets no second one (R2, R3)")
  func deleted() throws {
    try store.ingest(Said.payment("1", user: "u1"))
    #expect(try store.apply(CancelReceipt(id: store.only().receiptID, note: "")) == .done)
    store.advance(day)
    #expect(try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: 0)).deleted == 1)
    #expect(try ingest("changed", .fetch(key, sessionID: "cs_1", keep: true)) == .stored(.receipt))
    #expect(try integer("SELECT count(*) FROM purchases") == 0)
    #expect(try due().isEmpty)
  }

  @Test("A checkout that is fetched and turns out to have sold another object is fetched under that")
  func merged() throws {
    _ = try ingest("changed", .fetch(key, sessionID: "cs_1", keep: true))
    try store.ingest(Said.created("1", user: "u1"))
    #expect(try integer("SELECT count(*) FROM purchases") == 2)
    var named = Said.session("1", .paid)
    named.clientReference = "u1"
    try store.ingest(named)
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
    #expect(try due().map(\.key.id) == ["sub_1"])
  }

  // MARK: - Objects that are no purchases

  private let invoice = PurchaseKey(type: .init("invoice"), id: "in_1")

  /// An event that names an invoice, and what the processor says of it.
  private func ingestInvoice(_ said: IngestEvent.Content?) throws {
    #expect(try ingest("evt_in", .fetch(invoice, sessionID: nil, keep: true)) == .stored(.noted))
    try answer(said)
  }

  private func answer(_ said: IngestEvent.Content?) throws {
    let due = try #require(try due().first { $0.key == invoice })
    try store.apply(
      IngestLookup(
        ios, of: due.reference, asked: nil, fetches: due.fetches, isFetched: true, reports: [], said: said,
        nextAt: store.after(minute)))
  }

  private func outcome(_ id: String = "evt_in") throws -> String? {
    try store.reader.events(EventFilter(), limit: 100).first { $0.id.text == id }?.outcome
  }

  @Test("An invoice that is fetched pays the subscription that is known, and its event becomes that one's")
  func paid() throws {
    var due = Said.created(active: false, user: "u1")
    due.observations = .firstPaymentDue
    try store.ingest(due)
    #expect(try store.status() == "waiting/payment")
    var paid = Said.invoice(user: "u1")
    paid.observations = .invoicePaid
    try ingestInvoice(.report(paid, keep: false))
    #expect(try store.status() == "waiting/context")
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try outcome() == "receipt")
    #expect(try integer("SELECT count(*) FROM events WHERE purchase_row IS NULL") == 0)
  }

  @Test("An invoice that is fetched makes the receipt of a subscription that no event has named")
  func first() throws {
    try ingestInvoice(.report(Said.invoice(user: "u1"), keep: true))
    #expect(try store.status() == "waiting/context")
    #expect(try store.only().purchase.key == PurchaseKey(type: .subscription, id: "sub_1"))
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
    #expect(try outcome() == "receipt")
  }

  @Test(
    "What is no purchase, and what the processor does not show, leaves no row",
    arguments: [
      (IngestEvent.Content.report(Said.invoice(), keep: false), "ignored"), (.nothing(.ignored), "ignored"),
      (nil, "unparsed"),
    ] as [(IngestEvent.Content?, String)])
  func noPurchase(said: IngestEvent.Content?, expected: String) throws {
    try ingestInvoice(said)
    #expect(try outcome() == expected)
    #expect(try integer("SELECT count(*) FROM purchases") == 0)
    #expect(try integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try integer("SELECT count(*) FROM events WHERE purchase_row IS NULL") == 1)
  }

  @Test("An event that names it during its fetch causes another fetch, and both become the subscription's")
  func again() throws {
    _ = try ingest("evt_1", .fetch(invoice, sessionID: nil, keep: true))
    let first = try #require(try due().first)
    _ = try ingest("evt_2", .fetch(invoice, sessionID: nil, keep: true))
    try store.apply(
      IngestLookup(
        ios, of: first.reference, asked: nil, fetches: first.fetches, isFetched: true, reports: [],
        said: .nothing(.ignored), nextAt: store.after(minute)))
    #expect(try due().map(\.fetches) == [2])
    try answer(.report(Said.invoice(user: "u1"), keep: true))
    #expect(try outcome("evt_1") == "receipt")
    #expect(try outcome("evt_2") == "receipt")
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
  }

  @Test func `The customer that an event names is learned, and the event belongs to no purchase`() throws {
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    let names = [NamedUser(id: "u20", source: .customerMetadata, standing: .counts)]
    let facts = CustomerFacts(customerID: "cus_1", names: names, areOfCustomer: true, happenedAt: store.now)
    try ingestInvoice(.customer(facts))
    #expect(try store.only().purchase.userID == "u20")
    #expect(try outcome() == "noted")
  }

  @Test("An invoice of an erased user's subscription makes no purchase, and its event is stored empty")
  func erasedInvoice() throws {
    try store.ingest(Said.invoice(user: "u1"))
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    try ingestInvoice(.report(Said.invoice(user: "u1"), keep: true))
    #expect(try integer("SELECT count(*) FROM purchases") == 1)
    #expect(try integer("SELECT count(*) FROM events WHERE outcome = 'erased' AND length(body) = 0") == 1)
    #expect(try integer("SELECT count(*) FROM events WHERE event_id = 'evt_in'") == 0)
    #expect(try ingest("evt_in", .fetch(invoice, sessionID: nil, keep: true)) == .repeated)
  }

  @Test("An invoice of a subscription whose receipt was deleted after its retention makes no second one (R3)")
  func past() throws {
    try store.ingest(Said.invoice(user: "u1"))
    let id = try #require(try store.only().receipt?.id)
    _ = try store.apply(CancelReceipt(id: id, note: "test"))
    store.advance(minute)
    _ = try store.apply(Retain(table: .receipts, cutoff: store.now, afterRow: 0))
    #expect(try integer("SELECT count(*) FROM purchases") == 0)
    try ingestInvoice(.report(Said.invoice(user: "u1"), keep: true))
    #expect(try store.receipts().isEmpty)
    #expect(try outcome() == "receipt", "it belonged to one")
    #expect(try integer("SELECT count(*) FROM purchases") == 0)
  }
}
