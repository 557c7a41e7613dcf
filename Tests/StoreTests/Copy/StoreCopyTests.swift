// Copies between the engines: which rows they have, and that the copies go on like their source.

import Domain
import Platform
import TestSupport
import Testing

@testable import Store

extension Trait where Self == ConditionTrait {
  /// Copies between both engines.
  static var bothEngines: Self {
    .enabled(if: TestEngine.all.count == 2, "\(PostgresServer.missing)")
  }
}

@Suite("Copies of a database", .bothEngines)
struct StoreCopyTests {
  @Test(arguments: [1, 2, 3])
  func `A file copied to a server and back has the same rows, and goes on alike`(seed: UInt64) throws {
    let filled = try FilledStore(seed: seed)
    let (file, server, back) = (filled.place, try CopyPlace(.postgres), try CopyPlace(.sqlite))
    let rows = try file.rows()
    for (table, rows) in rows { #expect(!rows.isEmpty, "no rows of \(table) are tested") }
    #expect(try file.copyAll(to: server).filter { !$0.isEqual } == [])
    var copied = try server.rows()
    #expect(copied["audit"]?.removeLast().contains(.text("db copy")) == true)
    #expect(copied == rows)
    #expect(try server.copyAll(to: back).filter { !$0.isEqual } == [])
    var returned = try back.rows()
    returned["audit"]?.removeLast(2)
    #expect(returned == rows)
    for place in [file, server, back] { #expect(try place.reader().contradictions() == []) }
    // Without the marks, all three can be used.
    for place in [file, server] { _ = try place.opened().writing.unretire(CopyPlace.entry) }
    let outcomes = try [file, server, back].map { place in
      try Self.goOn(place, from: filled.random.store.now, like: filled.random.store)
    }
    #expect(outcomes[0].count > 40)
    #expect(outcomes[1] == outcomes[0])
    #expect(outcomes[2] == outcomes[0])
    for place in [file, server, back] { #expect(try place.reader().contradictions() == []) }
  }

  /// Runs commands that find what is stored by every kind of key, and add rows to every numbered table.
  /// - Returns: their outcomes, and the state of all receipts.
  private static func goOn(
    _ place: CopyPlace, from now: Timestamp, like store: TestStore
  ) throws -> [String] {
    let writer = try place.writer(seed: 9)
    var outcomes: [String] = []
    var contexts = SeededGenerator(seed: 5)
    for n in 0..<8 {
      let command = IngestContext(
        app: "ios", userID: "u\(n % 4)", blob: ContextBlob(text: "blob \(n * 3)", priceID: nil),
        id: ContextID.make(now: now, random: &contexts))
      outcomes.append("context \(n): \(try #require(writer.apply(command, now: now).stored).id)")
    }
    for n in 0..<RandomReports.purchases {
      for (kind, said) in [Said.session("\(n)", .paid), Said.created("\(n)", active: true, price: "price_1")]
        .enumerated()
      {
        var report = said
        report.customerID = "cus_\(n % 6)"
        let event = IngestEvent(
          app: "ios", processor: report.key.processor, eventID: "evt_after_\(n)_\(kind)", type: "test",
          body: Array("{}".utf8), content: .report(report, keep: true))
        outcomes.append("event \(n): \(try writer.apply(event, now: now))")
      }
    }
    outcomes.append("again: \(try writer.apply(Self.repeated, now: now))")
    _ = try writer.apply(WriteAudit(CopyPlace.entry), now: now)
    _ = try writer.apply(EndWaits(), now: now + .seconds(3_600))
    let reader = try place.reader()
    var filter = ReceiptFilter()
    filter.app = "ios"
    for record in try reader.receipts(filter, limit: 1_000) {
      outcomes.append("\(record.purchase.key.id): \(TestStore.status(record))")
    }
    return outcomes.map { $0.replacing(/rcp_\w+/, with: "rcp") }.sorted()
  }

  private static let repeated = IngestEvent(
    app: "ios", processor: "stripe", eventID: "evt_1", type: "test", body: [],
    content: .report(Said.session("1", .paid), keep: true))

  @Test func `Numbers of rows continue after the largest ones, also of deleted purchases`() throws {
    let filled = try FilledStore(seed: 4, steps: 40)
    let (file, server, back) = (filled.place, try CopyPlace(.postgres), try CopyPlace(.sqlite))
    try file.execute("UPDATE sequences SET next = 500 WHERE name = 'purchases'")
    try file.copyAll(to: server)
    #expect(try server.opened().nextPurchaseRow() == 500)
    try server.copyAll(to: back)
    #expect(try back.opened().nextPurchaseRow() == 500)
    for place in [server, back] {
      for table in ["past_purchases", "events", "attempts", "audit", "captures"] {
        let sql = "SELECT max(row_id) FROM \(table)"
        let before = try #require(try place.reader().connection.integer(sql))
        try place.execute(Self.addition(to: table))
        #expect(try place.reader().connection.integer(sql) == before + 1, "\(table) of \(place.engine.name)")
      }
    }
    // Each app has a row to lock: a batch about all apps locks these.
    let apps = try server.reader().connection.integer(
      "SELECT count(*) FROM app_locks WHERE app IN ('ios', 'held')")
    #expect(apps == 2)
  }

  private static func addition(to table: String) -> String {
    switch table {
    case "past_purchases":
      "INSERT INTO past_purchases (object_id, app, processor, until) VALUES ('new', 'ios', 'stripe', 1)"
    case "events":
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, body)
      VALUES ('ios', 'stripe', 'evt_new', 'test', 'noted', 1, X'00')
      """
    case "attempts":
      """
      INSERT INTO attempts (purchase_row, number, at, duration_ms, ambiguous, response)
      SELECT min(row_id), 999, 1, 1, 0, X'' FROM purchases
      """
    case "captures":
      """
      INSERT INTO captures (app, processor, purchase_row, ordered_at, failures, retry_at, outcome)
      SELECT 'ios', 'pay', max(row_id), 1, 0, 1, 'captured' FROM purchases
      """
    default: "INSERT INTO audit (at, actor, action, details) VALUES (1, 'ann', 'test', '{}')"
    }
  }

  @Test func `U+0000 in a text becomes U+FFFD on a server, is counted, and is no difference`() throws {
    let filled = try FilledStore(seed: 5, steps: 40)
    let (file, server) = (filled.place, try CopyPlace(.postgres))
    try file.execute("UPDATE audit SET reason = 'a' || char(0) || 'b'")
    try file.execute("UPDATE payers SET user_id = 'u' || char(0)")
    let found = try file.copyAll(to: server)
    #expect(found.filter { !$0.isEqual } == [])
    #expect(found.filter { $0.replacedRows > 0 }.map(\.table) == ["payers", "audit"])
    #expect(try server.rows()["payers"]?.first?.contains(.text("u\u{FFFD}")) == true)
  }

  @Test("Every table is copied or has a reason, and each column and key is the same on both engines")
  func tables() throws {
    let places = [try CopyPlace(.sqlite), try CopyPlace(.postgres)]
    let copied = Set(CopyTable.all.map(\.name))
    var tables: Set<String> = []
    for place in places {
      _ = try place.writer()
      let names = try place.reader().connection.prepare(
        place.engine.name == TestEngine.postgres.name
          ? "SELECT CAST(tablename AS text) FROM pg_tables WHERE schemaname = current_schema()"
          : "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
      ).all { row throws(StoreFault) in try row.text(0) }
      tables.formUnion(names)
    }
    #expect(copied.union(CopyTable.others.keys) == tables)
    #expect(copied.isDisjoint(with: CopyTable.others.keys))
    let (file, server) = (try places[0].opened(), try places[1].opened())
    for table in CopyTable.all {
      #expect(
        try CopySlices(table, of: file, CopyLimits()).columns
          == CopySlices(table, of: server, CopyLimits()).columns, "\(table.name)")
      let key = try file.reading.prepare(
        "SELECT name FROM pragma_table_info(?1) WHERE pk > 0 ORDER BY pk"
      ).all([.text(table.name)]) { row throws(StoreFault) in try row.text(0) }
      #expect(key == table.key)
    }
  }

  @Test func `A slice has a limited number of bytes, and at least one row`() throws {
    let filled = try FilledStore(seed: 6, steps: 20)
    let file = filled.place
    try file.execute(
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, body)
      SELECT 'ios', 'stripe', 'large_' || next, 'test', 'noted', 1, zeroblob(1000000) FROM (
        SELECT 1 AS next UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5)
      """)
    let table = try #require(CopyTable.all.first { $0.name == "events" })
    let slices = try CopySlices(table, of: file.opened(), CopyLimits(rows: 1_000, bytes: 2_500_000))
    var cursor: [StoreValue] = []
    var sizes: [Int] = []
    while true {
      let slice = try slices.read(after: cursor)
      sizes.append(slice.rows.count { $0.contains(.blob(Array(repeating: 0, count: 1_000_000))) })
      guard let last = slice.rows.last, !slice.isLast else { break }
      cursor = slices.key(of: last)
    }
    #expect(sizes == [2, 2, 1])
    let narrow = try CopySlices(table, of: file.opened(), CopyLimits(rows: 1_000, bytes: 1))
    #expect(try narrow.read(after: []).rows.count == 1)
  }
}
