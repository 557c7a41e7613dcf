// receiptctl on a PostgreSQL database, filled through the store's commands.

import Domain
import Formats
import FoundationEssentials
import PostgresStore
import Store
import Terminal
import TestSupport
import Testing

@testable import Service

@Suite("receiptctl on PostgreSQL", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct ServerCommandTests {
  /// - Parameter options: parameters of the configured URL.
  private func harness(_ options: [String] = [], durability: String = "unsafe") throws -> OperatorHarness {
    let server = try PostgresServer.shared.get()
    let harness = try OperatorHarness(server: server.url(server.makeDatabase(), options))
    try harness.configure {
      $0.replacing("{ database:", with: "{ database_durability: '\(durability)', database:")
    }
    return harness
  }

  @Test func `Lists, histories and users are the same as with a file`() throws {
    for harness in [try harness(), try OperatorHarness()] {
      let id = try harness.purchase("sub_1")
      try harness.fail(id)
      let other = try harness.purchase("sub_2", user: "other")
      try harness.deliver(other)
      #expect(harness.run("receipts", "list", "--json").out.contains(id))
      let failed = try harness.run("receipts", "list", "--state", "failed", "--json").objects
      #expect(failed.map { $0["id"]?.stringValue } == [id])
      let shown = harness.run("receipts", "show", id)
      #expect(shown.code == .done)
      #expect(shown.out.contains("sub_1"))
      #expect(shown.out.contains("422"))
      #expect(harness.run("receipts", "show", "rcp_01KAGFN9P3V6T2QJ8D4W7XZ5RM").code == .notFound)
      #expect(harness.run("events", "list").out.contains("checkout.session.completed"))
      #expect(harness.run("users", "show", "other").out.contains(other))
      #expect(harness.run("contexts", "list").code == .done)
      #expect(harness.run("payments", "list").code == .done)
      #expect(harness.run("jobs", "list").out.contains("No jobs."))
    }
  }

  @Test func `A change is stored with its audit entry, and nobody is signalled`() throws {
    let harness = try harness()
    let id = try harness.purchase("sub_1")
    try harness.fail(id)
    let ran = harness.run("receipts", "replay", id, "--why", "fixed", "--yes")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.out.contains("no receiptd serves this database"))
    #expect(try harness.receipt(id).state == .pending)
    let audit = harness.run("audit", "list")
    #expect(audit.out.contains("receipts replay"))
    #expect(audit.out.contains("fixed"))
    #expect(harness.run("db", "purge", "--yes").out.hasPrefix("Deleted 0 "))
  }

  @Test("A server that can lose what was committed is read, and written only if that is allowed (R1)")
  func durability() throws {
    let harness = try harness(durability: "safe")
    let id = try harness.purchase("sub_1")
    #expect(harness.run("receipts", "list").code == .done)
    let ran = harness.run("receipts", "cancel", id, "--why", "test", "--yes")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("fsync = off"))
    let check = harness.run("db", "check")
    #expect(check.code == .badData)
    #expect(check.out.contains(": sound, but not durable\n"))
    #expect(check.notes.contains("receiptctl: the server has fsync = off"))
  }

  /// A running instance that delivers one app.
  private static let instance = """
    WITH added AS (
      INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead, queue_depth,
        is_notified, unreadiness, leases, secrets)
      VALUES (7, 'relay-a', '1.2', 'abc', 0, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, -3, 4, 0,
        'clock_differs', 'ios *', '')
      RETURNING id)
    INSERT INTO leases (name, owner, epoch, renewed_at) SELECT unnest(ARRAY['ios', '*']), id, 1, 0 FROM added
    """

  @Test func `instances list shows who delivers which app; a file has no instances`() throws {
    let harness = try harness()
    #expect(harness.run("instances", "list").out == "No receiptd runs on the database.\n")
    let database = try #require(harness.server?.split(separator: "/").last)
    try PostgresServer.shared.get().connect(String(database)).run(Self.instance)
    let shown = harness.run("instances", "list")
    #expect(shown.code == .done)
    let words = shown.out.split(separator: "\n").last?.split(separator: " ").map(String.init) ?? []
    #expect(words.first == "000000000000")
    for word in ["relay-a", "1.2", "yes", "abc", "ios", "4", "no"] {
      #expect(words.contains(word), "\(shown.out)")
    }
    #expect(shown.notes.contains("Notifications do not reach every instance"))
    #expect(shown.notes.contains("The instance 000000000000 on relay-a is not ready: clock_differs."))
    let object = try #require(try harness.run("instances", "list", "--json").objects.first)
    #expect(object["apps"] == ["ios"])
    #expect(object["shared"] == true)
    #expect(object["ready"] == false)
    #expect(object["not_ready"] == ["clock_differs"])
    #expect(object["clock_ahead_ms"] == -3)
    let file = try OperatorHarness().run("instances", "list")
    #expect(file.code == .refused)
    #expect(file.notes.contains("Instances need a PostgreSQL database"))
  }

  @Test func `stats shows whether an instance reports, and no disk, process or password (R7)`() throws {
    let harness = try harness(["password=very-secret"])
    let silent = harness.run("stats")
    #expect(silent.code == .done)
    #expect(silent.out.hasPrefix("NO receiptd reports to this database:"))
    let now = harness.clock.now
    let report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.json.text)))
    harness.clock.advance(.seconds(60))
    let database = try #require(harness.server?.split(separator: "/").last?.split(separator: "?").first)
    let connection = try PostgresServer.shared.get().connect(String(database))
    try connection.run(Self.instance)
    let shown = harness.run("stats")
    #expect(shown.out.hasPrefix("receiptd is ready (started 1 min ago); configuration 1"), "\(shown)")
    #expect(!shown.out.contains("free"))
    let service = try #require(try harness.run("stats", "--json").objects.first?["service"])
    #expect(service["running"] == true)
    #expect(service["process"] == .null)
    harness.clock.advance(.minutes(3))
    try connection.run("DELETE FROM instances")
    #expect(harness.run("alerts", "list").out.contains("the last report came 4 min ago"))
    #expect(harness.run("config", "show").out.contains("password=***"))
  }

  @Test func `db check says what SQL can show, and what a lost server may cost`() throws {
    let harness = try harness()
    try harness.purchase("sub_1")
    let ran = harness.run("db", "check")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.out.contains(": sound\n"))
    #expect(ran.out.contains(", a primary\n"))
    #expect(ran.notes.contains("warning: database_durability is \"unsafe\", and the server has fsync = off"))
    // A test of pg_basebackup may be a standby of this server at this moment.
    #expect(ran.notes.contains("warning: no standby "))
    let object = try #require(try harness.run("db", "check", "--json").objects.first)
    #expect(object["sound"] == true)
    #expect(object["durable"] == false)
    let server = try PostgresServer.shared.get()
    let database = try #require(harness.server?.split(separator: "/").last.map(String.init))
    try server.connect(database).run("UPDATE receipt_counts SET count = count + 1")
    let wrong = harness.run("db", "check")
    #expect(wrong.code == .badData)
    #expect(wrong.out.contains(": damaged\n"))
    #expect(wrong.notes.contains("the count of receipts is wrong"))
  }

  @Test func `Without pg_monitor, db check says how to let the role see the standbys`() throws {
    let harness = try harness()
    let server = try PostgresServer.shared.get()
    let database = try #require(harness.server?.split(separator: "/").last.map(String.init))
    let connection = try server.connect(database)
    try connection.run("DROP ROLE IF EXISTS \"the reader\"")
    try connection.run("CREATE ROLE \"the reader\" LOGIN")
    try connection.run("GRANT SELECT ON ALL TABLES IN SCHEMA public TO \"the reader\"")
    try harness.configure { $0.replacing("receiptd@", with: "the%20reader@") }
    let ran = harness.run("db", "check")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.notes.contains("GRANT pg_monitor TO \"the reader\""))
    #expect(ran.out.contains("not visible"))
    try connection.run("GRANT pg_monitor TO \"the reader\"")
    #expect(harness.run("db", "check").notes.contains("warning: no standby "))
    // It may not write.
    let denied = harness.run("db", "purge", "--yes")
    #expect(denied.code == .refused, "\(denied)")
    try connection.run("DROP OWNED BY \"the reader\"")
    try connection.run("DROP ROLE \"the reader\"")
  }

  @Test func `An administrator makes and upgrades the tables for a role that may not`() throws {
    let server = try PostgresServer.shared.get()
    let name = try server.makeDatabase()
    let connection = try server.connect(name)
    try connection.run("DROP ROLE IF EXISTS \"no ddl\"")
    try connection.run("CREATE ROLE \"no ddl\" LOGIN")
    let url = server.url(name).replacing("receiptd@", with: "no%20ddl@")
    let refused = #expect(throws: StoreError.self) { try OperatorHarness(server: url) }
    #expect(refused?.description.contains("receiptctl db migrate --as URL --grant ROLE") == true)
    let other = try harness()
    try other.configure { $0.replacing(/database: '[^']*'/, with: "database: '\(url)'") }
    #expect(other.run("db", "migrate").code == .refused)
    let arguments = ["db", "migrate", "--as", server.url(name), "--grant", "no ddl"]
    let ran = other.run(arguments: arguments)
    #expect(ran.out.contains("in an empty database"), "\(ran)")
    let harness = try OperatorHarness(server: url)
    try harness.configure {
      $0.replacing("{ ", with: "{ database_durability: 'unsafe', ", maxReplacements: 1)
    }
    let id = try harness.purchase("sub_1")
    try harness.fail(id)
    #expect(harness.run("receipts", "replay", id, "--why", "fixed", "--yes").code == .done)
    #expect(harness.run("db", "purge", "--yes", "--why", "tidy").code == .done)
    // Another version: the tables are the administrator's.
    try connection.run("UPDATE schema_version SET version = version - 1")
    let older = harness.run("db", "migrate")
    #expect(older.code == .refused, "\(older)")
    #expect(older.notes.contains("the role may not change the tables"))
    try connection.run("UPDATE schema_version SET version = version + 1")
    #expect(other.run(arguments: arguments).out.contains("already"))
    try connection.run("DROP OWNED BY \"no ddl\"")
    try connection.run("DROP ROLE \"no ddl\"")
  }

  @Test func `The commands that db backup and db restore print do what they say`() throws {
    let harness = try harness(["password=very-secret"])
    let id = try harness.purchase("sub_1")
    let server = try PostgresServer.shared.get()
    // The server's user must be able to write there.
    let file = server.folder + "/receipts dump"
    let backup = harness.run("db", "backup", file)
    #expect(backup.code == .refused)
    #expect(
      backup.notes == "receiptctl: PostgreSQL copies its databases with its own tools; nothing was copied\n")
    #expect(!backup.out.contains("very-secret"))
    #expect(backup.out.contains("~/.pgpass"))
    try run(backup.out, server)
    try harness.fail(id)
    let restore = harness.run("db", "restore", file)
    #expect(restore.code == .refused)
    #expect(restore.out.contains("receiptctl events backfill --since TIME"))
    try run(restore.out, server)
    #expect(try harness.receipt(id).state == .pending)
    #expect(harness.run("db", "check").code == .done)
    #expect(try harness.run("db", "backup", file, "--json").objects.first?["next"] != nil)
  }

  /// Runs the printed commands of PostgreSQL as the server's user.
  private func run(_ text: String, _ server: PostgresServer) throws {
    let commands = text.split(separator: "\n").filter { $0.hasPrefix("  ") && $0.contains("pg_") }
    #expect(!commands.isEmpty)
    for command in commands { try server.run("(PATH=\"$programs:$PATH\"; \(command.dropFirst(2)))") }
  }

  @Test func `A reload concerns one instance, on its machine`() throws {
    let harness = try harness()
    for words in [["reload"], ["reload", "--database", harness.server ?? ""]] {
      let ran = harness.run(arguments: words)
      #expect(ran.code == .unavailable)
      #expect(ran.notes.contains("run systemctl reload receiptd on the machine of each"))
    }
    let other = harness.run("reload", "--process", "1")
    #expect(other.code == .unavailable)
    #expect(other.notes.contains("process 1 is not a receiptd; nothing was reloaded"))
  }
}
