// `receiptctl doctor` on a PostgreSQL database.

import PostgresStore
import Service
import TestSupport
import Testing

@Suite("Doctor on PostgreSQL", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct ServerDoctorTests {
  @Test func `The page is about the server and its relays, and not about a disk`() throws {
    let server = try PostgresServer.shared.get()
    let database = try server.makeDatabase()
    let harness = try OperatorHarness(server: server.url(database, ["password=very-secret"]))
    func configure(_ durability: String) throws {
      try harness.configure {
        $0.replacing("database_durability: 'unsafe', ", with: "")
          .replacing("{ database:", with: "{ database_durability: '\(durability)', database:")
      }
    }
    try configure("unsafe")
    let alone = try DoctorPage(harness, "--local")
    alone.expect(.failure, .receiptd, "is not running")
    alone.expect(.warning, .database, "fsync = off")
    alone.expect(.warning, .backup, "no backup of the database was recorded")
    #expect(alone.of(.disk).isEmpty)
    #expect(alone.of(.applied).isEmpty)
    try server.connect(database).run(
      """
      INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead, queue_depth,
        is_notified, unreadiness, leases, secrets)
      VALUES (7, 'relay-a', '1.2', 'abc', 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0, 0, 1,
        '', '', '')
      """)
    let served = try DoctorPage(harness, "--local")
    served.expect(.warning, .receiptd, "has not reported yet")
    served.expect(.warning, .applied, "1 of 1 relay has another configuration, such as the one on relay-a")
    try configure("safe")
    try DoctorPage(harness, "--local").expect(.failure, .database, "fsync = off")
  }
}
