// Tests retention's compression of bodies that are stored as they were received.

import Domain
import Store
import TestSupport
import Testing

@Suite("Bodies that retention compresses", .everyEngine)
struct CompressBodiesTests {
  private func fill(_ store: TestStore, _ numbers: Range<Int>) throws {
    for number in numbers {
      let sample = SampleEvent(number)
      try store.apply(Bodies.command(sample.id, sample.body))
    }
  }

  private func countRaw(_ store: TestStore) throws -> Int64? {
    try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL")
  }

  @Test("Nothing happens without a dictionary; with one, all bodies shrink in slices, and are read as before")
  func all() throws {
    let store = try TestStore()
    try fill(store, 0..<230)
    try store.apply(Bodies.command("evt_short", Array("{}".utf8)))
    #expect(try store.apply(CompressBodies()) == false)
    #expect(try countRaw(store) == 231)
    try store.apply(StoreDictionary(Bodies.dictionary()))
    let before = try store.integer("SELECT sum(length(body)) FROM events") ?? 0
    #expect(try store.apply(CompressBodies()) == true)
    #expect(try countRaw(store) == 131, "one slice")
    #expect(try Bodies.compressAll(store) == 2)
    #expect(try countRaw(store) == 1)
    let after = try store.integer("SELECT sum(length(body)) FROM events") ?? 0
    #expect(after * 3 < before, "\(before) bytes became \(after)")
    for number in [0, 99, 100, 229] {
      let sample = SampleEvent(number)
      #expect(try store.reader.events(id: sample.id).map(\.body) == [sample.body])
    }
  }

  @Test("Each row is looked at once, also after a restart and with a newer dictionary")
  func once() throws {
    let store = try TestStore()
    try fill(store, 0..<3)
    try store.apply(StoreDictionary(Bodies.dictionary()))
    try Bodies.compressAll(store)
    #expect(try countRaw(store) == 0)
    try store.apply(StoreDictionary(Bodies.dictionary(20_000)))
    try store.reopen()
    try fill(store, 3..<5)
    try Bodies.compressAll(store)
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary = 1") == 3)
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary = 2") == 2)
    #expect(try store.integer("SELECT passed_row FROM dictionaries WHERE number = 2") == 5)
    // What is behind the mark is not read again.
    try store.execute("UPDATE dictionaries SET passed_row = 1000 WHERE number = 2")
    try fill(store, 5..<6)
    #expect(try store.apply(CompressBodies()) == true, "rows are numbered from the start again")
    try Bodies.compressAll(store)
    #expect(try countRaw(store) == 0)
  }

  @Test("A slice stops after a megabyte of long bodies, and the pass of retention after its slices")
  func bounded() throws {
    let store = try TestStore()
    try store.apply(StoreDictionary(Bodies.dictionary()))
    for number in 0..<5 {
      let long = Array(repeating: SampleEvent(number).body, count: 300).flatMap(\.self)
      try store.apply(Bodies.command("evt_\(number)", long))
    }
    #expect(try store.apply(CompressBodies()) == true)
    #expect(try countRaw(store) == 3)
    #expect(try store.apply(RetentionSlice.bodies(CompressBodies(slicesLeft: 1))).next == nil)
    #expect(try countRaw(store) == 1)
    let last = try store.apply(RetentionSlice.bodies(CompressBodies(slicesLeft: 2)))
    #expect(last.next == nil)
    #expect(last.deleted == 0)
    #expect(try countRaw(store) == 0)
  }
}
