// `db copy` and `db unretire`, between a file and a server.

import Domain
import Formats
import PostgresStore
import SQLiteStore
import Store
import Terminal
import TestSupport
import Testing

@Suite("db copy", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct CopyCommandTests {
  private let server: PostgresServer
  private let database: String
  private let harness: OperatorHarness

  init() throws {
    server = try PostgresServer.shared.get()
    database = try server.makeDatabase()
    harness = try OperatorHarness()
    try harness.configure {
      $0.replacing("{ database:", with: "{ database_durability: 'unsafe', database:")
    }
    let id = try harness.purchase("sub_1")
    try harness.fail(id)
    try harness.purchase("sub_2", user: "other")
    try harness.context("blob")
  }

  /// The URL, with a password that the server does not ask for.
  private var url: String { server.url(database, ["password=very-secret"]) }

  /// Runs a command that is not stopped.
  private func run(
    _ arguments: String..., pause: @escaping @Sendable (Duration) -> Void = { _ in }
  ) -> Ran {
    harness.run(arguments: arguments, environment: ["COPY": url], pause: pause)
  }

  @Test("A copy that is stopped continues, is verified, and retires its source; passwords are not shown (R7)")
  func move() throws {
    let before = run("receipts", "list", "--json").out
    let stopped = harness.run("db", "copy", "--to", "env:COPY", environment: ["COPY": url])
    #expect(stopped.code == .tryAgain)
    #expect(stopped.notes.contains("stopped by a signal"))
    #expect(stopped.notes.contains("run the same command again"))
    let ran = run("db", "copy", "--to", "env:COPY")
    #expect(ran.code == .done, "\(ran)")
    #expect(ran.notes.contains("Continuing the copy that was interrupted."))
    #expect(ran.out.contains(#/purchases +2 +[0-9a-f]{16}\n/#))
    #expect(ran.out.contains("copied and verified"))
    #expect(ran.out.contains("FOLDER/receiptd.db is retired"))
    // The file is read, and not changed.
    #expect(run("receipts", "list", "--json").out == before)
    let refused = run("db", "purge", "--yes")
    #expect(refused.code == .refused)
    #expect(refused.notes.contains("was copied to postgres://"))
    #expect(refused.notes.contains("receiptctl db copy --undo"))
    let again = run("db", "copy", "--to", url)
    #expect(again.code == .refused)
    #expect(again.notes.contains("--to has a password"))
    for text in [stopped, ran, refused, again].flatMap({ [$0.out, $0.notes] }) {
      #expect(!text.contains("very-secret"))
    }
    try harness.configure { $0.replacing("'receiptd.db'", with: "'\(url)'") }
    #expect(run("receipts", "list", "--json").out == before)
    #expect(run("audit", "list").out.contains("db copy"))
    #expect(run("db", "purge", "--yes").code == .done)
    let back = run("db", "copy", "--to", harness.folder + "/back.db", "--json")
    #expect(back.code == .done, "\(back)")
    let object = try #require(try back.objects.first)
    #expect(object["to"] == "FOLDER/back.db")
    #expect(object["tables"]?["purchases"]?["rows"] == 2)
    #expect(object["replaced"] == 0)
    #expect(!back.out.contains("very-secret"))
    #expect(run("receipts", "list", "--json").out == before)
    #expect(run("db", "purge", "--yes").notes.contains("back.db"))
    try harness.configure { $0.replacing(url, with: harness.folder + "/back.db") }
    #expect(run("receipts", "list", "--json").out == before)
    #expect(run("db", "check").out.contains("sound"))
  }

  @Test func `A retired database is used again only after a confirmation, which the audit records`() throws {
    #expect(run("db", "unretire", "--yes").code == .notFound)
    #expect(run("db", "copy", "--to", url).code == .done)
    let trial = run("db", "copy", "--undo", "--dry-run")
    #expect(trial.code == .done)
    #expect(trial.notes.contains("receipts are delivered twice"))
    #expect(!trial.notes.contains("very-secret"))
    #expect(run("db", "unretire").code == .refused)
    #expect(run("db", "purge", "--yes").code == .refused)
    let ran = run("db", "copy", "--undo", "--yes", "--why", "not used")
    #expect(ran.code == .done, "\(ran)")
    #expect(run("db", "purge", "--yes").code == .done)
    #expect(run("audit", "list").out.contains("not used"))
  }

  @Test func `A row that differs ends the copy with 65 and its name, and the source can be used`() throws {
    let (server, database) = (server, database)
    let ran = run("db", "copy", "--to", url) { _ in
      // Before it exists, this fails.
      _ = try? server.connect(database).run("UPDATE events SET type = 'x' WHERE row_id = 2")
    }
    #expect(ran.code == .badData, "\(ran)")
    #expect(ran.notes.contains("events differs: 2 rows (checksum "))
    #expect(ran.notes.contains("the first that differs: row_id 2"))
    #expect(!ran.notes.contains("very-secret"))
    #expect(run("db", "purge", "--yes").code == .done)
    let other = run("db", "copy", "--to", url)
    #expect(other.code == .refused)
    #expect(other.notes.contains("was used after the copy began"))
  }

  @Test func `What cannot be copied, or copied into, is refused`() throws {
    #expect(run("db", "copy").code == .usage)
    #expect(run("db", "copy", "--to", harness.databasePath).notes.contains("the database itself"))
    let filled = try OperatorHarness()
    try filled.purchase("sub_1")
    let full = run("db", "copy", "--to", filled.databasePath)
    #expect(full.code == .refused)
    #expect(full.notes.contains("is not empty: purchases has rows"))
    let wrong = run("db", "copy", "--to", "mysql://db/receipts")
    #expect(wrong.code == .configuration)
    #expect(wrong.notes.contains("--to: must be the path of a file, or a URL"))
    #expect(run("db", "copy", "--to", "env:MISSING").notes.contains("MISSING, which is not set"))
    #expect(run("db", "copy", "--to", harness.folder + "/no/folder.db").code == .refused)
    let unsafe = try OperatorHarness()
    try unsafe.purchase("sub_1")
    #expect(unsafe.run("db", "copy", "--to", url).notes.contains("fsync = off"))
    let lock = try DatabaseLock.serve(harness.databasePath, makesNew: false, now: harness.clock.now)
    let served = run("db", "copy", "--to", url)
    #expect(served.code == .refused)
    #expect(served.notes.contains("stop it first"))
    withExtendedLifetime(lock) {}
  }

  @Test func `A server that receiptd uses is not copied`() throws {
    #expect(run("db", "copy", "--to", url).code == .done)
    try harness.configure { $0.replacing("'receiptd.db'", with: "'\(url)'") }
    try server.connect(database).run(
      """
      INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead, queue_depth,
        is_notified, unreadiness, leases, secrets)
      VALUES (1, 'relay7', '1', '', 0, (extract(epoch FROM now()) * 1000)::bigint, 0, 0, 1, '', '', '')
      """)
    let ran = run("db", "copy", "--to", harness.folder + "/back.db")
    #expect(ran.code == .refused)
    #expect(ran.notes.contains("now, or did a minute ago, on relay7; stop each receiptd"))
    // A newer schema can be used, but may have a table that this program does not copy.
    try server.connect(database).run("UPDATE schema_version SET version = 99")
    #expect(run("receipts", "list").code == .done)
    let newer = run("db", "copy", "--to", harness.folder + "/back.db")
    #expect(newer.code == .badData)
    #expect(newer.notes.contains("has schema version 99"))
  }
}
