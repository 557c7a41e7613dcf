// Migrations of the real schema: the first one, and one that may follow, are interrupted at every write and
// sync. One thread.

import Migrations
import Platform
import SimulatedDisk
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Migrations of the real schema")
struct SchemaMigrationTests {
  /// The real migrations, and a next one: a table, a column with an index, changed rows.
  private static let next =
    Migrations.sqlite + [
      """
      CREATE TABLE additions (row_id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
      INSERT INTO additions (text) SELECT object_id FROM purchases;
      ALTER TABLE purchases ADD COLUMN added INTEGER NOT NULL DEFAULT 7;
      UPDATE purchases SET added = row_id WHERE state IS NOT NULL;
      CREATE INDEX purchases_added ON purchases (added);
      """
    ]

  @Test func `A first start that a power loss cuts off has made no schema, or all of it (R10)`() throws {
    _ = try expectAllOrNothing(SimulatedDisk()) { disk in
      try Life(path: disk.path(), seed: 1, ledger: Ledger()).open(at: 0)
    }
  }

  @Test("A next version that a power loss cuts off has not begun, or is done and has all rows (R10)")
  func second() throws {
    let disk = SimulatedDisk(seed: 2)
    let life = Life(path: disk.path(), seed: 11, ledger: Ledger(), isTerse: true)
    try life.open(at: 0)
    for step in 0..<24 { try #require(life.run(step) == nil) }
    life.close()
    let (before, after) = try expectAllOrNothing(disk) { disk in
      let file = try Connection(path: disk.path(), mode: .readWrite, busyTimeout: .zero)
      try file.execute("PRAGMA synchronous = FULL")
      let version = Int(try file.integer("PRAGMA user_version") ?? 0)
      try Migrator.migrate(file, from: version, to: Self.next)
    }
    for (table, rows) in before where !["purchases", "schema", "version"].contains(table) {
      #expect(after[table] == rows, "\(table)")
    }
    let purchases = try #require(before["purchases"])
    #expect(!purchases.isEmpty)
    #expect(after["purchases"]?.count == purchases.count)
    #expect(after["additions"]?.count == purchases.count)
    #expect(after["version"] == ["\(Self.next.count)"])
  }

  /// Migrates a database, and copies of its disk as a kill or a power loss leaves it at each write.
  /// - Returns: the content before and after.
  private func expectAllOrNothing(
    _ disk: SimulatedDisk, _ migrate: (SimulatedDisk) throws -> Void
  ) throws -> (before: [String: [String]], after: [String: [String]]) {
    let seed = Torture.seed(1)
    let before = try Self.content(of: disk)
    let copies = Monitor((SeededGenerator(seed: seed), [SimulatedDisk]()))
    disk.watch { [disk] _ in
      copies.withLock { copies in
        copies.1 += [disk.afterKill(), disk.afterCrash(random: &copies.0)]
      }
    }
    try migrate(disk)
    disk.watch(nil)
    let after = try Self.content(of: disk)
    #expect(after != before)
    let disks = copies.withLock { $0.1 }
    #expect(disks.count > 10)
    let stride = Torture.size(short: 7, long: 1)
    for (number, copy) in disks.enumerated() where number % stride == 0 {
      let found = try Self.content(of: copy)
      try #require(found == before || found == after, "TORTURE_SEED=\(seed): copy \(number)")
      // In both cases, the program can continue with it.
      try migrate(copy)
      #expect(try Self.content(of: copy) == after, "TORTURE_SEED=\(seed): copy \(number)")
    }
    return (before, after)
  }

  private static func content(of disk: SimulatedDisk) throws -> [String: [String]] {
    // Read-write, because the log may have to be recovered first.
    let file = try Connection(path: disk.path(), mode: .readWriteCreate, busyTimeout: .zero)
    var rows = try Snapshot(of: file).rows
    rows["schema"] = try file.prepare(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).all { row throws(SQLiteError) in try row.text(0) }
    rows["version"] = ["\(try file.integer("PRAGMA user_version") ?? 0)"]
    rows["integrity"] = [try file.text("PRAGMA integrity_check") ?? ""]
    return rows
  }
}
