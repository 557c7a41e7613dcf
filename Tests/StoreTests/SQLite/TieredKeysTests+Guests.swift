// Tests of the tiers of keys beside another program that writes.

import Testing

@testable import SQLiteStore

extension TieredKeysTests {
  @Test func `Another program that writes after every few commits does not stop the moves`() throws {
    try withOwner(500) { path, owner in
      let guest = try Database.open(path: path, role: .guest)
      for row in 1...6_000 {
        try owner.transaction { owner.keys.add(key(row), row: Int64(row)) }
        guard row % 5 == 0 else { continue }
        try guest.begin()
        let keys = PlainKeys(guest, nil)
        keys.add(key(10_000 + row), row: Int64(10_000 + row))
        try keys.beforeCommit()
        try guest.execute("COMMIT")
      }
      #expect(try owner.count("key_tail") < 2_000)
      owner.memory.withState { #expect($0.active.count < 1_500) }
      try owner.transaction {}
      for row in 1...6_000 { #expect(try owner.keys.rows(key(row), limit: 2) == [Int64(row)]) }
      for row in stride(from: 10_005, through: 16_000, by: 5) {
        #expect(try owner.keys.rows(key(row), limit: 2) == [Int64(row)])
      }
    }
  }

  @Test("A reader beside the owner finds what another program has added since the owner's last transaction")
  func readsGuests() throws {
    try withOwner(500) { path, owner in
      try owner.transaction { owner.keys.add(key(1), row: 1) }
      let guest = try Database.open(path: path, role: .guest)
      try guest.begin()
      let keys = PlainKeys(guest, nil)
      keys.add(key(1), row: 2)
      #expect(try keys.rows(key(1), limit: 5) == [2, 1])
      try keys.beforeCommit()
      try guest.execute("COMMIT")
      let reader = PlainKeys(try Database.open(path: path, role: .reader), owner.memory)
      #expect(try reader.rows(key(1), limit: 5) == [2, 1])
    }
  }
}
