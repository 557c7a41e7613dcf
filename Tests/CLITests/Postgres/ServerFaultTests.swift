// receiptctl and a PostgreSQL database that cannot be used.

import Domain
import FoundationEssentials
import PostgresStore
import Store
import Terminal
import TestSupport
import Testing

@Suite("A PostgreSQL database that cannot be used") struct ServerFaultTests {
  /// A command with this database in the configuration.
  private func run(
    _ words: [String] = ["receipts", "list"], database: String, environment: [String: String] = [:]
  ) throws -> Ran {
    let harness = try OperatorHarness()
    try harness.configure { $0.replacing("'receiptd.db'", with: "'\(database)'") }
    return harness.run(arguments: words, environment: environment)
  }

  @Test func `An unreachable server: try again later, with its host and without its password (R7)`() throws {
    let port = try ReservedPort()
    for words in [["receipts", "list"], ["db", "check"], ["stats"], ["users", "forget", "a", "--yes"]] {
      let ran = try run(words, database: "postgres://receiptd:very-secret@127.0.0.1:\(port.number)/receipts")
      #expect(ran.code == .tryAgain, "\(ran)")
      #expect(
        ran.notes.contains("postgres://receiptd:***@127.0.0.1:\(port.number)/receipts cannot be reached"))
      #expect(ran.notes.contains("then try again"))
      #expect(!ran.notes.contains("very-secret"))
    }
  }

  @Test func `A URL that is not there for receiptctl is a fault of the configuration that says so`() throws {
    let ran = try run(database: "env:DATABASE_URL")
    #expect(ran.code == .configuration)
    #expect(ran.notes.contains("needs the environment variable DATABASE_URL"))
    #expect(ran.notes.contains("receiptctl needs the URL, too"))
    // The backup's advice needs no connection.
    let backup = try run(["db", "backup", "file"], database: "env:DATABASE_URL")
    #expect(backup.code == .refused)
    #expect(backup.out.contains("--dbname=URL"), "\(backup)")
    #expect(backup.out.contains("in place of URL: you may not read it (env:DATABASE_URL)"), "\(backup)")
  }

  @Test(.enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
  func `A database without tables, or with another version of them, is not used (R10)`() throws {
    let server = try PostgresServer.shared.get()
    let name = try server.makeDatabase()
    let missing = try run(database: server.url(name))
    #expect(missing.code == .notFound)
    #expect(missing.notes.contains("there is no database; start receiptd once"))
    let harness = try OperatorHarness(server: server.url(name))
    let connection = try server.connect(name)
    // A newer schema that this program may use, while the instances are upgraded one after the other.
    try connection.run("UPDATE schema_version SET version = 99")
    #expect(harness.run("receipts", "list").code == .done)
    try connection.run("UPDATE schema_version SET usable_from = 99")
    let newer = harness.run("receipts", "list")
    #expect(newer.code == .badData)
    #expect(newer.notes.contains("has schema version 99"))
    #expect(harness.run("db", "check").code == .badData)
    // Development versions had this table, and other numbers.
    try connection.run("UPDATE schema_version SET version = 1, usable_from = 1")
    try connection.run("CREATE TABLE dictionaries (number bigint)")
    let development = harness.run("receipts", "list")
    #expect(development.code == .badData)
    #expect(development.notes.contains("is of a development version from before 1.0.0"), "\(development)")
  }

  @Test(.enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
  func `What the server refuses is refused, with its reason`() throws {
    let server = try PostgresServer.shared.get()
    let none = try run(database: server.url("no_such_database"))
    #expect(none.code == .refused)
    #expect(none.notes.contains("\"no_such_database\" does not exist"))
    #expect(none.notes.contains("check `database` in the configuration"))
    let unknown = try run(database: server.url("postgres", ["sslmod=require"]))
    #expect(unknown.code == .refused)
    #expect(unknown.notes.contains("a parameter that libpq does not know"))
    let check = try run(
      ["config", "check"], database: server.url("no_such_database"),
      environment: [
        "WEBHOOK_SECRET": "whsec_a", "API_KEY": "b",
      ])
    #expect(check.code == .done)
    #expect(check.notes.contains("warning: database: cannot be used now:"))
  }
}
