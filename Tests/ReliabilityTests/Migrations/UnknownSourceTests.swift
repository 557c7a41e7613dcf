// Schemas before 3 did not record how a purchase got its context: by a guess, or from an event. One thread.

import Domain
import Platform
import SQLiteStore
import SimulatedDisk
import Store
import TestSupport
import Testing

@Suite("Contexts of purchases of an older version")
struct UnknownSourceTests {
  private static let now = Timestamp(unixMilliseconds: 1_800_028_800_000)
  private static let contextID: ContextID = "ctx_01MCCG26W0YR1TDS8FA5MCYBSZ"

  /// A complete, unpaid checkout of `u900`, with a context whose price the merchant named.
  private static let purchase = """
    INSERT INTO contexts
      (id, app, user_id, ply_context, digest, price_id, received_at, posted_at, expires_at, purchase_row)
    VALUES ('\(contextID)', 'ios', 'u900', 'blob 900', X'09', 'gold', 1800028700000, 1800028700000,
      1800115100000, 900);
    INSERT INTO purchases
      (row_id, app, object_type, object_id, session_id, observations, user_id, user_source, prices,
       prices_of_checkout, context_id, ply_context, context_price_id, happened_at, first_seen_at, updated_at,
       receipt_id, state, reason, wait_until, created_at)
    VALUES (900, 'ios', 'subscription', 'sub_900', 'cs_900', 2, 'u900', 2, '', 0, '\(contextID)', 'blob 900',
      'gold', 1800028700000, 1800028700000, 1800028700000, 'rcp_900', 'waiting', 'payment', 1801238300000,
      1800028700000);
    """

  private let disk: SimulatedDisk
  private let writer: StoreWriter
  private let reader: StoreReader

  init() throws {
    disk = try SchemaFixture(version: 2).disk()
    let old = try Connection(path: disk.path(), mode: .readWrite, busyTimeout: .zero)
    try old.execute(Self.purchase)
    let rules = AppRules(join: JoinPolicy(settle: .zero), processors: .stripe) {
      content in
      Array("\(content.key.id) \(content.context ?? "-")".utf8)
    }
    writer = try StoreWriter(
      path: disk.path(), role: .owner, rules: ["ios": rules], random: SeededGenerator(seed: 1))
    reader = try StoreReader(path: disk.path())
  }

  private func post(_ text: String, price: PriceID) throws -> ContextID {
    var random = SeededGenerator(seed: UInt64(text.utf8.count))
    let id = ContextID.make(now: Self.now, random: &random)
    let command = IngestContext(
      app: "ios", userID: "u900", blob: ContextBlob(text: text, priceID: price),
      id: id)
    return try #require(try writer.apply(command, now: Self.now).stored).id
  }

  private func ingest(_ n: Int, _ observations: Observations, names contextID: ContextID? = nil) throws {
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_\(n)"), sessionID: "cs_\(n)",
      observations: observations, clientReference: "u900", contextID: contextID, prices: ["price_1"],
      happenedAt: Self.now)
    let command = IngestEvent(
      app: "ios", processor: "stripe", eventID: "evt_\(n)_\(observations.rawValue)", type: "test",
      body: Array("{}".utf8), content: .report(report, keep: true))
    _ = try writer.apply(command, now: Self.now)
  }

  private func record(_ n: Int) throws -> PurchaseRecord? {
    var filter = ReceiptFilter()
    filter.userID = "u900"
    return try reader.receipts(filter, limit: 100).first { $0.purchase.key.id == "sub_\(n)" }
  }

  @Test("A context of an unknown source is neither replaced nor taken by a guess")
  func isKept() throws {
    #expect(try record(900)?.purchase.contextSource == .unknown)
    let better = try post("better", price: "price_1")
    try ingest(900, [])
    #expect(try record(900)?.purchase.contextID == Self.contextID, "another one has its price")
    try ingest(901, .paid)
    #expect(try record(901)?.purchase.contextID == better)
    try ingest(902, .paid)
    #expect(try record(902)?.purchase.contextID == nil, "the promised one keeps its own")
    try ingest(900, .paid)
    #expect(try record(900)?.receipt?.body == Array("sub_900 blob 900".utf8))
    #expect(try reader.integrityFaults() == [])
  }

  @Test("A purchase that names such a context gets it, and the previous one keeps it and is marked")
  func isNamed() throws {
    try ingest(901, .paid, names: Self.contextID)
    #expect(try record(901)?.receipt?.body == Array("sub_901 blob 900".utf8))
    #expect(try reader.context(id: Self.contextID)?.receiptID == record(901)?.receipt?.id)
    #expect(try record(900)?.receipt?.contextDisputed == true)
    try ingest(900, .paid)
    #expect(try record(900)?.receipt?.body == Array("sub_900 blob 900".utf8))
    #expect(try record(901)?.receipt?.contextDisputed == false)
  }

  @Test("A name in an event of the same purchase replaces such a context")
  func isReplaced() throws {
    let named = try post("named", price: "price_1")
    try ingest(900, .paid, names: named)
    #expect(try record(900)?.receipt?.body == Array("sub_900 named".utf8))
    #expect(try record(900)?.purchase.contextSource == .metadata)
    #expect(try reader.context(id: Self.contextID)?.receiptID == nil)
  }
}
