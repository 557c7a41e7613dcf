// Tests of the tiers of keys against a model: with moves, rollbacks, restarts and other programs.

import Domain
import FoundationEssentials
import Platform
import Testing

@testable import SQLiteStore
@testable import Store

@Suite("Keys in tiers")
struct TieredKeysTests {
  @Test func `A damaged entry of the tail is ignored: a row that is 0, the smallest number, or incomplete`() {
    let entries = [3, 0, .min, -4].map { KeyEntry(key: 7, row: $0) }
    let bytes = KeyEntry.bytes(of: entries) + [1, 2, 3]
    #expect(KeyEntry.entries(in: bytes) == [KeyEntry(key: 7, row: 3), KeyEntry(key: 7, row: -4)])
  }

  /// The owner's connection and its keys, with small generations.
  struct Owner {
    let connection: Connection
    let memory = KeyMemory()
    let keys: TieredKeys

    init(_ path: String, _ sizes: KeySizes) throws {
      connection = try Database.open(path: path, role: .owner)
      keys = try TieredKeys(connection, memory, sizes: sizes)
    }

    /// Runs `body` in a transaction, which is rolled back if it throws.
    func transaction(_ body: () throws -> Void) throws {
      try connection.begin()
      try keys.begin()
      do {
        try body()
        try keys.beforeCommit()
        try connection.execute("COMMIT")
        keys.didCommit()
      } catch {
        connection.rollBack()
        keys.didRollBack()
        throw error
      }
    }

    func count(_ table: String) throws -> Int64 {
      try connection.integer("SELECT count(*) FROM \(table)") ?? 0
    }

    /// How many entries are in the sorted tables.
    func sorted() throws -> Int64 { try count("recent_keys") + count("keys") }
  }

  private struct Cancelled: Error {}

  func key(_ number: Int) -> RowKey { RowKey(.user, UserID("user \(number)"), app: "ios") }

  func withOwner(
    _ generation: Int, recentPart: Int = 2_048, _ body: (String, Owner) throws -> Void
  ) throws {
    let folder = try makeDirectory()
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = folder.appending(path: "keys.db").path
    try body(path, Owner(path, .init(generation: generation, recentPart: recentPart)))
  }

  @Test("After any adds, removals, rollbacks, restarts and writes of others, each key has its rows")
  func model() throws {
    try withOwner(64, recentPart: 4) { path, first in
      var owner = first
      var random = SeededGenerator(seed: 7)
      var model: [Int: Set<Int64>] = [:]
      for step in 0..<3_000 {
        var next = model
        let keeps = Int.random(in: 0..<10, using: &random) > 0
        func change(_ keys: any KeyIndex) throws {
          for _ in 0..<Int.random(in: 1...12, using: &random) {
            let number = Int.random(in: 0..<40, using: &random)
            let row = Int64.random(in: 1...30, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
              try keys.erase(key(number), row: row)
              next[number]?.remove(row)
            case 1...3:
              try keys.remove(key(number), row: row)
              next[number]?.remove(row)
            default:
              try keys.add(key(number), row: row)
              next[number, default: []].insert(row)
            }
          }
          if !keeps { throw Cancelled() }
        }
        if step % 50 == 49 {
          let other = try Database.open(path: path, role: .guest)
          try other.begin()
          do {
            let keys = PlainKeys(other, nil)
            try change(keys)
            try keys.beforeCommit()
            try other.execute("COMMIT")
          } catch is Cancelled {
            other.rollBack()
          }
        } else {
          do { try owner.transaction { try change(owner.keys) } } catch is Cancelled {}
        }
        if keeps { model = next }
        if step % 211 == 210 { owner = try Owner(path, .init(generation: 64, recentPart: 4)) }
        guard step % 20 == 0 else { continue }
        try owner.transaction {}
        try expect(model, in: owner, path)
      }
      #expect(try owner.count("keys") > 0)
      #expect(try owner.count("recent_keys") > 0)
    }
  }

  /// Each kind of connection finds the rows of the model.
  private func expect(_ model: [Int: Set<Int64>], in owner: Owner, _ path: String) throws {
    let reader = try Database.open(path: path, role: .reader)
    let (alone, beside) = (PlainKeys(reader, nil), PlainKeys(reader, owner.memory))
    for number in 0..<40 {
      let expected = model[number, default: []].sorted(by: >)
      // Of more than the limit any may be missing.
      for limit in 1...3 {
        for keys in [owner.keys, alone, beside] as [any KeyIndex] {
          let few = try keys.rows(key(number), limit: limit)
          #expect(few.count == min(limit, expected.count), "key \(number), \(limit) rows")
          #expect(Set(few).isSubset(of: expected), "key \(number), \(limit) rows")
        }
      }
      let found = try owner.keys.rows(key(number), limit: 1_000)
      #expect(found == expected, "key \(number)")
      #expect(try alone.rows(key(number), limit: 1_000) == expected, "key \(number), from the tables")
      #expect(try beside.rows(key(number), limit: 1_000) == expected, "key \(number), from the memory")
      let numbers = RowKey.numbers(.user, UserID("user \(number)"))
      for keys in [owner.keys, alone, beside] as [any KeyIndex] {
        #expect(try keys.rows(numbers).sorted(by: >) == expected, "key \(number), in a range")
      }
    }
  }

  @Test func `What is added is moved into the index, and nothing stays in the tail or in memory`() throws {
    try withOwner(100) { _, owner in
      for row in 1...1_000 {
        try owner.transaction { owner.keys.add(key(row), row: Int64(row)) }
      }
      #expect(try owner.sorted() > 700)
      #expect(try owner.count("key_tail") < 300)
      // Those that are left are moved after a while without any more.
      for _ in 0..<1_200 { try owner.transaction {} }
      #expect(try owner.sorted() == 1_000)
      #expect(try owner.count("key_tail") == 1)
      owner.memory.withState { state in
        #expect(state.active.count == 0)
        #expect(state.sealed == nil)
      }
    }
  }

  @Test func `A commit moves few entries, even if all have the same key`() throws {
    try withOwner(5_000) { _, owner in
      try owner.transaction {
        for row in 1...5_000 { owner.keys.add(key(1), row: Int64(row)) }
      }
      var before = try owner.sorted()
      for _ in 0..<400 {
        try owner.transaction {}
        let after = try owner.sorted()
        #expect(after - before <= 32)
        before = after
      }
      #expect(before == 5_000)
      #expect(try owner.keys.rows(key(1), limit: 3) == [5_000, 4_999, 4_998])
    }
  }

  @Test func `A crash in the middle of a move loses no key, and the move is done again`() throws {
    try withOwner(200) { path, owner in
      try owner.transaction {
        for row in 1...200 { owner.keys.add(key(row), row: Int64(row)) }
      }
      for _ in 0..<3 { try owner.transaction {} }
      let moved = try owner.sorted()
      #expect((1..<200).contains(moved))
      let next = try Owner(path, .init(generation: 200, recentPart: 2_048))
      for row in 1...200 {
        #expect(try next.keys.rows(key(row), limit: 10) == [Int64(row)])
      }
      for _ in 0..<300 { try next.transaction {} }
      #expect(try next.sorted() == 200)
      #expect(try next.count("key_tail") == 1)
    }
  }

  @Test func `An erased key leaves no trace in either table`() throws {
    try withOwner(1) { _, owner in
      try owner.transaction { owner.keys.add(key(1), row: 1) }
      for _ in 0..<20 { try owner.transaction {} }
      #expect(try owner.sorted() == 1)
      try owner.transaction { owner.keys.add(key(1), row: 2) }
      try owner.transaction {
        owner.keys.erase(key(1), row: 1)
        owner.keys.erase(key(1), row: 2)
      }
      #expect(try owner.sorted() == 0)
      #expect(try owner.connection.integer("SELECT sum(length(entries)) FROM key_tail") ?? 0 == 0)
      #expect(try owner.keys.rows(key(1), limit: 10) == [])
    }
  }

  @Test func `Rows that were removed take no place of rows that were not`() throws {
    try withOwner(2_000) { _, owner in
      try owner.transaction { for row in 1...300 { owner.keys.add(key(1), row: Int64(row)) } }
      for _ in 0..<1_400 { try owner.transaction {} }
      #expect(try owner.sorted() == 300)
      try owner.transaction {
        owner.keys.add(key(1), row: 1_000)
        for row in 2...300 { owner.keys.remove(key(1), row: Int64(row)) }
      }
      #expect(try owner.keys.rows(key(1), limit: 5) == [1_000, 1])
    }
  }

  @Test func `A key that is added again in the transaction that erased it stays`() throws {
    try withOwner(4) { path, owner in
      try owner.transaction { owner.keys.add(key(1), row: 1) }
      try owner.transaction {
        owner.keys.erase(key(1), row: 1)
        owner.keys.add(key(1), row: 1)
      }
      for row in 2...20 { try owner.transaction { owner.keys.add(key(row), row: Int64(row)) } }
      for _ in 0..<300 { try owner.transaction {} }
      #expect(try owner.keys.rows(key(1), limit: 5) == [1])
      #expect(try Owner(path, .init(generation: 4, recentPart: 2_048)).keys.rows(key(1), limit: 5) == [1])
    }
  }

  @Test func `A part that has become large is moved on, a few entries with each commit`() throws {
    try withOwner(500, recentPart: 2) { _, owner in
      for row in 1...4_000 { try owner.transaction { owner.keys.add(key(row), row: Int64(row)) } }
      let aged = try owner.count("keys")
      #expect((1_000..<4_000).contains(aged))
      for _ in 0..<1_400 { try owner.transaction {} }
      #expect(try owner.sorted() == 4_000)
      for row in 1...4_000 { #expect(try owner.keys.rows(key(row), limit: 2) == [Int64(row)]) }
    }
  }

  @Test func `A number depends on the kind, the value and the app; all apps of a value are neighbours`() {
    let keys = [
      RowKey(.user, UserID("a"), app: "ios"), RowKey(.user, UserID("b"), app: "ios"),
      RowKey(.user, UserID("a"), app: "web"), RowKey(.customer, CustomerID("a"), app: "ios"),
    ]
    #expect(Set(keys.map(\.number)).count == keys.count)
    let numbers = RowKey.numbers(.user, UserID("a"))
    #expect(keys.map { numbers.contains($0.number) } == [true, false, true, false])
    // Stored, so it must never change.
    #expect(keys[0].number == -4_064_399_217_294_566_643)
  }
}
