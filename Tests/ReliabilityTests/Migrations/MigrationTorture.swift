// A migration is interrupted at every write and sync, and fails at every statement. The result is the old
// database with all its rows, or the new one, and nothing in between (R10). One thread.

import Platform
import SimulatedDisk
import Store
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Migrations that are cut off")
struct MigrationTorture {
  /// Typical migrations: tables, rewritten rows, a recreated table, an index.
  static let chain = [
    """
    CREATE TABLE notes (row_id INTEGER PRIMARY KEY, text TEXT NOT NULL, weight INTEGER NOT NULL) STRICT;
    CREATE TABLE marks (note INTEGER NOT NULL REFERENCES notes (row_id), mark TEXT NOT NULL) STRICT;
    """,
    """
    ALTER TABLE notes ADD COLUMN kind TEXT;
    UPDATE notes SET kind = CASE weight % 2 WHEN 0 THEN 'even' ELSE 'odd' END;
    CREATE INDEX notes_by_kind ON notes (kind, weight);
    """,
    """
    CREATE TABLE notes_new (row_id INTEGER PRIMARY KEY, text TEXT NOT NULL, length INTEGER NOT NULL) STRICT;
    INSERT INTO notes_new SELECT row_id, text || coalesce(kind, ''), length(text) FROM notes;
    DELETE FROM marks WHERE note % 3 = 0;
    DROP INDEX notes_by_kind;
    CREATE TABLE totals AS SELECT count(*) AS count FROM notes_new;
    """,
  ]

  /// A database at a version of the chain, with or without content in its log.
  private static func disk(version: Int, _ properties: SimulatedDisk.Properties) throws -> SimulatedDisk {
    let disk = SimulatedDisk(properties)
    let connection = try open(disk)
    guard version > 0 else { return disk }
    try Migrator.migrate(connection, from: 0, to: Array(chain[..<version]))
    let note = try connection.prepare("INSERT INTO notes (text, weight) VALUES (?1, ?2)")
    try connection.transaction { () throws(SQLiteError) in
      for n in 0..<150 {
        try note.run([.text(String(repeating: "note \(n) ", count: n % 40)), .integer(Int64(n))])
      }
      try connection.execute("INSERT INTO marks SELECT row_id, 'mark' FROM notes")
    }
    return disk
  }

  private static func open(_ disk: SimulatedDisk) throws -> Connection {
    let connection = try Connection(path: disk.path(), mode: .readWriteCreate, busyTimeout: .zero)
    try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
    return connection
  }

  /// Rows, schema and version: everything that a migration changes.
  private static func content(of disk: SimulatedDisk) throws -> (snapshot: Snapshot, version: Int64) {
    let connection = try open(disk)
    #expect(try connection.text("PRAGMA integrity_check") == "ok")
    return (try Snapshot(of: connection), try connection.integer("PRAGMA user_version") ?? 0)
  }

  private static func error(of body: () throws(SQLiteError) -> Void) -> SQLiteError? {
    do throws(SQLiteError) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  @Test func `A migration that a kill or a power loss cuts off has not begun, or is done (R10)`() throws {
    let seed = Torture.seed(1)
    let losses = Torture.size(short: 1, long: 4)
    var explored = 0
    for properties in Torture.isLong ? PowerLossTorture.disks : [PowerLossTorture.disks[1]] {
      for version in 0..<Self.chain.count {
        let disk = try Self.disk(version: version, properties)
        let before = try Self.content(of: disk)
        let copies = Monitor((SeededGenerator(seed: seed), [SimulatedDisk]()))
        disk.watch { [disk] _ in
          copies.withLock { copies in
            copies.1.append(disk.afterKill())
            for _ in 0..<losses { copies.1.append(disk.afterCrash(random: &copies.0)) }
          }
        }
        try Migrator.migrate(try Self.open(disk), from: version, to: Self.chain)
        disk.watch(nil)
        let after = try Self.content(of: disk)
        #expect(after.version == Int64(Self.chain.count))
        #expect(before.version == Int64(version))
        for (number, copy) in copies.withLock({ $0.1 }).enumerated() {
          // An unreadable copy is a fault.
          let found = try? Self.content(of: copy)
          let isWhole = found.map { $0 == before || $0 == after } ?? false
          try #require(isWhole, "TORTURE_SEED=\(seed): version \(version), \(properties), copy \(number)")
          explored += 1
        }
      }
    }
    #expect(explored > 100)
    Torture.report("migrations", "kills and power losses", explored)
  }

  @Test("A migration that fails at any statement has changed nothing, and goes through afterwards (R10)")
  func everyStatement() throws {
    let statements = Self.chain.map { sql in sql.split(separator: ";").map { "\($0);" }.dropLast() }
    var failed = 0
    for (step, parts) in statements.enumerated() where step > 0 {
      for place in 0...parts.count {
        var broken = Array(parts)
        broken.insert("INSERT INTO nowhere VALUES (1);", at: place)
        var chain = Self.chain
        chain[step] = broken.joined()
        let disk = try Self.disk(version: 1, SimulatedDisk.Properties())
        let before = try Self.content(of: disk)
        let connection = try Self.open(disk)
        #expect(throws: SQLiteError.self) { try Migrator.migrate(connection, from: 1, to: chain) }
        #expect(try Self.content(of: disk) == before, "statement \(place) of version \(step + 1)")
        try Migrator.migrate(connection, from: 1, to: Self.chain)
        #expect(try Self.content(of: disk).version == Int64(Self.chain.count))
        failed += 1
      }
    }
    Torture.report("migrations", "statements that failed", failed)
  }

  @Test func `A migration on a disk that fails at any operation has not begun, or is done (R10)`() throws {
    var failed = 0
    let before = try Self.content(of: try Self.disk(version: 1, SimulatedDisk.Properties()))
    for operation in [SimulatedDisk.Operation.read, .write, .sync, .lock, .memoryLock, .memoryMap, .fileSize]
    {
      for nth in 1... {
        let disk = try Self.disk(version: 1, SimulatedDisk.Properties())
        let connection = try Self.open(disk)
        disk.fail(operation, nth: nth)
        let error = Self.error { () throws(SQLiteError) in
          try Migrator.migrate(connection, from: 1, to: Self.chain)
        }
        let wasReached = disk.faultsInjected > 0
        disk.heal()
        disk.kill()
        let found = try Self.content(of: disk)
        let isDone = found.version == Int64(Self.chain.count)
        try #require(isDone || found == before, "\(operation) \(nth): \(String(describing: error))")
        try #require(
          error != nil || isDone, "\(operation) \(nth): a migration that is not there was reported done")
        guard wasReached else { break }
        failed += 1
      }
    }
    #expect(failed > 20)
    Torture.report("migrations", "operations that failed", failed)
  }
}
