// What a relay's life must contain, so that the tests that interrupt it mean something.

import SQLiteStore
import SimulatedDisk
import Testing

@Suite("A relay's life") struct LifeTests {
  @Test func `It stores compressed events, receipts and contexts, and keys in each of their tables`() throws {
    let disk = SimulatedDisk(seed: 5)
    let life = Life(path: disk.path(), seed: 5, ledger: Ledger())
    try life.open(at: 0)
    for step in 0..<40 { try #require(life.run(step) == nil) }
    life.close()
    let connection = try Connection(path: disk.path(), mode: .readOnly, busyTimeout: .zero)
    for table in ["events", "purchases", "contexts"] {
      let count = try connection.integer("SELECT count(*) FROM \(table) WHERE dictionary IS NOT NULL")
      #expect((count ?? 0) > 0, "\(table)")
    }
    for table in ["key_tail", "recent_keys", "keys"] {
      #expect(try connection.integer("SELECT count(*) FROM \(table)") ?? 0 > 0, "\(table)")
    }
  }
}
