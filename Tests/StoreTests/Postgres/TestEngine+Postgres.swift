// PostgreSQL as an engine under test. Each folder has its own database on the server of the tests.

import Platform
import Store
import TestSupport

@testable import PostgresStore

extension TestEngine {
  static let postgres = TestEngine(
    name: "PostgreSQL",
    open: { folder in
      do {
        return try engine(of: folder)
      } catch {
        fatalError("PostgreSQL: \(error)")
      }
    },
    connect: { folder in try engine(of: folder).connect(.writer) },
    dump: { folder in
      let connection = try PostgresServer.shared.get().connect(PostgresDatabases.name(of: folder))
      let tables = try connection.run(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename")
      var text = ""
      for table in (0..<tables.count).map({ tables.text($0, 0) }) {
        let columns = try connection.run(
          """
          SELECT CASE data_type WHEN 'bytea' THEN 'encode(' || column_name || ', ''escape'')'
            ELSE column_name || '::text' END
          FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1
          ORDER BY ordinal_position
          """,
          [.text(table)])
        let values = (0..<columns.count).map { "coalesce(\(columns.text($0, 0)), '')" }
        let rows = try connection.run("SELECT \(values.joined(separator: " || ' ' || ")) FROM \(table)")
        for row in 0..<rows.count { text += "\(table): \(rows.text(row, 0))\n" }
      }
      return text
    },
    failures: [
      .busy: { folder, connection in
        try connection.run("SET lock_timeout = '1ms'")
        let other = try PostgresServer.shared.get().connect(PostgresDatabases.name(of: folder))
        try other.runTogether([
          PostgresCommand("BEGIN"), PostgresCommand("LOCK service_reports IN EXCLUSIVE MODE"),
        ])
        return { try other.run("ROLLBACK") }
      },
      .full: { folder, _ in
        // No disk is full: a trigger raises what the server does when one is.
        let other = try PostgresServer.shared.get().connect(PostgresDatabases.name(of: folder))
        try other.runTogether([
          PostgresCommand(
            """
            CREATE FUNCTION fill_disk() RETURNS trigger LANGUAGE plpgsql AS
              $$BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END$$
            """),
          PostgresCommand(
            "CREATE TRIGGER fill_disk BEFORE INSERT ON service_reports EXECUTE FUNCTION fill_disk()"),
        ])
        return { try other.run("DROP FUNCTION fill_disk CASCADE") }
      },
      .readOnly: { _, connection in
        try connection.run("SET default_transaction_read_only = on")
        return { try connection.run("SET default_transaction_read_only = off") }
      },
    ],
    remove: { PostgresDatabases.remove($0) })

  private static func engine(of folder: String) throws -> PostgresEngine {
    let server = try PostgresServer.shared.get()
    return try PostgresEngine(
      server.url(PostgresDatabases.name(of: folder)), isOwner: true, application: "tests", allowsUnsafe: true,
      usesServerClock: false)
  }
}

/// The databases of the tests' folders. Thread-safe.
enum PostgresDatabases {
  private struct Pool {
    var names: [String: String] = [:]
    /// Empty ones: to empty a database is much faster than to create one.
    var free: [String] = []
  }

  private static let pool = Monitor(Pool())

  /// The name of a folder's database, which is created when it is first asked for.
  static func name(of folder: String) throws -> String {
    let known = pool.withLock { pool in
      if pool.names[folder] == nil { pool.names[folder] = pool.free.popLast() }
      return pool.names[folder]
    }
    if let known { return known }
    let server = try PostgresServer.shared.get()
    let name = try server.makeDatabase()
    let engine = try PostgresEngine(
      server.url(name), isOwner: true, application: "tests", allowsUnsafe: true, usesServerClock: false)
    _ = try engine.openWriter(rules: [:], random: SystemRandomNumberGenerator())
    pool.withLock { $0.names[folder] = name }
    return name
  }

  /// Empties the database of a folder, for another one.
  static func remove(_ folder: String) {
    guard let name = pool.withLock({ $0.names.removeValue(forKey: folder) }) else { return }
    do {
      try empty(PostgresServer.shared.get().connect(name))
      pool.withLock { $0.free.append(name) }
    } catch {
      // It ends with the server.
    }
  }

  private static func empty(_ connection: PostgresConnection) throws {
    let tables = try connection.run(
      "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'schema_version'")
    let counters = try connection.run(
      "SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema()")
    let statements =
      // Without foreign keys, the order does not matter.
      ["BEGIN", "SET LOCAL session_replication_role = replica"]
      + (0..<tables.count).map { "DELETE FROM \(tables.text($0, 0))" }
      + (0..<counters.count).map { "ALTER SEQUENCE \(counters.text($0, 0)) RESTART" }
      + ["COMMIT"]
    try connection.runTogether(statements.map { PostgresCommand($0) })
  }
}
