// Tests how much PostgreSQL reads for a list of events. It chooses its plans itself, so the test counts the
// pages that a plan has read.

import Domain
import TestSupport
import Testing

@testable import PostgresStore
@testable import Store

@Suite("Pages that PostgreSQL reads", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct EventPlanTests {
  @Test(
    "A list of one app's events, or of all, reads as much of many events as of few", arguments: ["ios", nil])
  func groups(_ app: AppSlug?) throws {
    let server = try PostgresServer.shared.get()
    // A database that others have used has pages of deleted rows.
    let name = try server.makeDatabase()
    defer { try? server.dropDatabase(name) }
    let engine = try PostgresEngine(
      server.url(name), isOwner: true, application: "tests", allowsUnsafe: true, usesServerClock: false)
    _ = try engine.openWriter(rules: [:], random: SystemRandomNumberGenerator())
    let other = try server.connect(name)
    // One group has the oldest event alone.
    try other.run(
      """
      INSERT INTO events (app, processor, event_id, type, outcome, received_at, body)
      SELECT CASE WHEN n % 10 = 0 THEN 'web' ELSE 'ios' END, 'stripe', 'evt_' || n, 'type_' || n % 3,
        CASE WHEN n = 1 THEN 'unparsed' ELSE 'receipt' END, n, ''::bytea
      FROM generate_series(1, 50000) AS n
      """)
    try other.run("VACUUM ANALYZE events")
    let connection = StoreConnection(try engine.connect(.writer))
    var filter = EventFilter()
    filter.app = app
    let plan = try connection.prepare("EXPLAIN (ANALYZE, BUFFERS) \(StoreReader.joinedEventSQL)")
      .all(StoreReader.joinedValues(filter, 0, .max, 1)) { row throws(StoreFault) in try row.text(0) }
    // The first line of its kind is that of the whole plan; a page has 8 KiB.
    let total = try #require(plan.first { $0.contains("Buffers: shared") }, "\(plan)")
    let pages = total.matches(of: #/(?:hit|read)=(\d+)/#).reduce(0) { $0 + (Int($1.1) ?? 0) }
    // Each group is found and read by descents of three pages. The whole index has more than 300.
    #expect(pages < 100, "\(plan)")
    #expect(try StoreReader(connection).events(filter, limit: 1).first?.app == (app ?? "web"))
  }
}
