// Databases of released schemas, as readable SQL: Fixtures/schema-N.dump. One thread.

import Domain
import FoundationEssentials
import Migrations
import Platform
import SQLiteStore
import SimulatedDisk
import Store
import TestSupport
import Testing

/// A database of one schema version.
struct SchemaFixture {
  let version: Int

  private var path: String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Fixtures/schema-\(version).dump").path
  }

  var isThere: Bool { FileManager.default.fileExists(atPath: path) }

  /// A disk that contains the database.
  func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk(seed: UInt64(version))
    let sql = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    let connection = try Connection(path: disk.path(), mode: .readWriteCreate, busyTimeout: .zero)
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute(sql)
    return disk
  }

  /// Writes the fixture of the current schema, with rows in every table and state.
  func write() throws {
    let disk = SimulatedDisk()
    let life = Life(path: disk.path(), seed: 11, ledger: Ledger(), isTerse: true)
    try life.open(at: 0)
    for step in 0..<24 { try #require(life.run(step) == nil) }
    let connection = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    let text = Self.head(version) + (try Self.dump(connection))
    try #require(FileManager.default.createFile(atPath: path, contents: Data(text.utf8)))
  }

  private static func head(_ version: Int) -> String {
    """
    -- A database of schema version \(version), as the program that released it left it. Never changed
    -- afterwards.
    -- At each release that brings a schema, its file is written by:
    --   SCHEMA_FIXTURE=1 swift test --filter SchemaFixtureTests

    """
  }

  /// The SQL that recreates the database: schema, rows, and the numbers in its header.
  private static func dump(_ connection: Connection) throws -> String {
    var lines = ["BEGIN;"]
    for pragma in ["application_id", "user_version"] {
      lines.append("PRAGMA \(pragma) = \(try connection.integer("PRAGMA \(pragma)") ?? 0);")
    }
    let schema = try schema(of: connection)
    lines += schema.filter { $0.hasPrefix("CREATE TABLE") }.map { "\($0);" }
    let tables = try connection.prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name LIKE 'sqlite_%', rowid"
    ).all { row throws(SQLiteError) in try row.text(0) }
    for table in tables {
      // The sequence table is SQLite's own; the rows inserted above have already filled it.
      if table.hasPrefix("sqlite_") { lines.append("DELETE FROM \(table);") }
      let columns = try connection.prepare("SELECT name FROM pragma_table_info(?1)").all([.text(table)]) {
        row throws(SQLiteError) in try row.text(0)
      }
      let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
      lines += try connection.prepare("SELECT \(values) FROM \(table)").all {
        row throws(SQLiteError) in "INSERT INTO \(table) VALUES (\(try row.text(0)));"
      }
    }
    // After the rows, because triggers would otherwise count them twice.
    lines += schema.filter { !$0.hasPrefix("CREATE TABLE") }.map { "\($0);" }
    return (lines + ["COMMIT;", ""]).joined(separator: "\n")
  }

  /// The SQL of the schema, object by object.
  static func schema(of connection: Connection) throws -> [String] {
    try connection.prepare(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).all { row throws(SQLiteError) in try row.text(0) }
  }
}

@Suite("Databases of released schemas")
struct SchemaFixtureTests {
  static let versions = Array(1...Migrations.releasedVersion)

  @Test("There is a database of each released schema", arguments: versions)
  func isKept(version: Int) throws {
    let fixture = SchemaFixture(version: version)
    if Environment.process["SCHEMA_FIXTURE"] == "1", version == Migrations.releasedVersion, !fixture.isThere {
      try fixture.write()
    }
    #expect(fixture.isThere, "make it with SCHEMA_FIXTURE=1 and the program that released the schema")
  }

  @Test(
    "A database of each released schema is migrated with all its rows (R10)", arguments: versions)
  func isMigrated(version: Int) throws {
    let disk = try SchemaFixture(version: version).disk()
    let file = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    #expect(try file.integer("PRAGMA user_version") == Int64(version))
    try expectEveryKindOfRow(file, version: version)
    let counts = try Self.counts(file)
    let purchases = try Self.purchases(file)
    let bodies = try file.prepare("SELECT body FROM events ORDER BY row_id").all {
      row throws(SQLiteError) in row.blob(0)
    }
    let life = Life(path: disk.path(), seed: 1, ledger: Ledger())
    try life.open(at: 0)

    let fresh = SimulatedDisk()
    let other = Life(path: fresh.path(), seed: 1, ledger: Ledger())
    try other.open(at: 0)
    let made = try Connection(path: fresh.path(), mode: .readOnly, busyTimeout: .zero)
    #expect(try SchemaFixture.schema(of: file) == SchemaFixture.schema(of: made))
    #expect(try file.integer("PRAGMA user_version") == Int64(Migrations.currentVersion))
    #expect(try Promises.faults(in: file, Ledger.State()) == [])
    #expect(try Self.counts(file) == counts)
    #expect(try Self.purchases(file) == purchases)
    let otherProcessors = "SELECT count(*) FROM purchases WHERE processor <> 'stripe'"
    #expect(try file.integer(otherProcessors) == 0, "what is older knew one processor")
    try expectReadable(disk, counts)
    let reader = try StoreReader(path: disk.path())
    let events = try reader.events(EventFilter(), limit: 10_000).map(\.row).sorted()
    #expect(try events.map { try reader.body(ofEvent: $0) } == bodies)
    // The relay can continue with the database.
    for step in 30..<36 { #expect(life.run(step) == nil, "step \(step)") }
    #expect(try Promises.faults(in: file, life.ledger.page) == [])
  }

  /// The identifiers of each purchase and its receipt.
  private static func purchases(_ file: Connection) throws -> [String] {
    try file.prepare(
      """
      SELECT format('%s %s %s %s %s %s %s %s', row_id, app, object_type, object_id, session_id, receipt_id,
        state, reason)
      FROM purchases ORDER BY row_id
      """
    ).all { row throws(SQLiteError) in try row.text(0) }
  }

  private func expectEveryKindOfRow(_ file: Connection, version: Int) throws {
    for state in ["waiting", "pending", "delivered", "failed", "cancelled"] {
      #expect(
        try file.integer("SELECT count(*) FROM purchases WHERE state = '\(state)'") ?? 0 > 0, "\(state)")
    }
    var kinds = [
      "purchases WHERE state IS NULL", "contexts WHERE purchase_row IS NULL",
      "contexts WHERE purchase_row IS NOT NULL", "events", "attempts", "breakers", "receipt_counts",
      "delivery_counts", "sequences",
    ]
    if version >= 2 { kinds += ["audit", "jobs", "job_receipts", "job_counts"] }
    for kind in kinds { #expect(try file.integer("SELECT count(*) FROM \(kind)") ?? 0 > 0, "\(kind)") }
  }

  private static func counts(_ file: Connection) throws -> [Int64] {
    try ["contexts", "purchases", "events", "attempts", "breakers"].map { table in
      try file.integer("SELECT count(*) FROM \(table)") ?? 0
    }
  }

  @Test(
    "A real migration that a power loss cuts off has not begun, or is done (R10)", arguments: [0] + versions)
  func isCutOff(version: Int) throws {
    let seed = Torture.seed(1)
    let disk = version == 0 ? SimulatedDisk() : try SchemaFixture(version: version).disk()
    let before = try Self.content(of: disk)
    let copies = Monitor((SeededGenerator(seed: seed), [SimulatedDisk]()))
    disk.watch { [disk] _ in
      copies.withLock { copies in
        copies.1 += [disk.afterKill(), disk.afterCrash(random: &copies.0)]
      }
    }
    try Life(path: disk.path(), seed: 1, ledger: Ledger()).open(at: 0)
    disk.watch(nil)
    let after = try Self.content(of: disk)
    let disks = copies.withLock { $0.1 }
    #expect(version == Migrations.currentVersion || disks.count > 10)
    let stride = Torture.size(short: 7, long: 1)
    for (number, copy) in disks.enumerated() where number % stride == 0 {
      let found = try Self.content(of: copy)
      try #require(found == before || found == after, "TORTURE_SEED=\(seed): copy \(number)")
      // In both cases, the current program can continue with it.
      try Life(path: copy.path(), seed: 1, ledger: Ledger()).open(at: 0)
      #expect(try Self.content(of: copy) == after, "TORTURE_SEED=\(seed): copy \(number)")
    }
  }

  private static func content(of disk: SimulatedDisk) throws -> [String: [String]] {
    // Read-write, because the log may have to be recovered first.
    let file = try Connection(path: disk.path(), mode: .readWriteCreate, busyTimeout: .zero)
    var rows = try Snapshot(of: file).rows
    rows["schema"] = try SchemaFixture.schema(of: file)
    rows["version"] = ["\(try file.integer("PRAGMA user_version") ?? 0)"]
    rows["integrity"] = [try file.text("PRAGMA integrity_check") ?? ""]
    return rows
  }

  /// The current program can read every row.
  private func expectReadable(_ disk: SimulatedDisk, _ counts: [Int64]) throws {
    let reader = try StoreReader(path: disk.path())
    let receipts = try reader.receipts(ReceiptFilter(), limit: 10_000)
    for id in receipts.compactMap(\.receipt?.id) { #expect(try reader.detail(receipt: id) != nil) }
    #expect(try reader.contexts(ContextFilter(), now: Life.start, limit: 10_000).count == Int(counts[0]))
    #expect(try reader.events(EventFilter(), limit: 10_000).count == Int(counts[2]))
    #expect(try reader.breakers().count == Int(counts[4]))
    #expect(try reader.integrityFaults() == [])
  }
}
