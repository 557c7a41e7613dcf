// Tests a database whose dictionaries were damaged without the store, which a foreign key prevents otherwise.

import Domain
import SQLite
import Store
import TestSupport
import Testing

@Suite("Dictionaries that are missing or damaged")
struct MissingDictionaryTests {
  /// Two events, each compressed with another dictionary, and an event that is stored as received.
  private func store() throws -> TestStore {
    let store = try TestStore()
    let packer = BodyPacker()
    for number in 1...2 {
      try Bodies.use(Bodies.dictionary(number * 10_000), store, packer)
      try store.apply(Bodies.command("evt_\(number)", SampleEvent(number).body, packer))
    }
    try store.apply(Bodies.command("evt_raw", SampleEvent(3).body))
    return store
  }

  /// Changes the file as another program would: foreign keys are off by default.
  private func damage(_ store: TestStore, _ sql: String) throws {
    let file = try Connection(path: store.path, mode: .readWrite, busyTimeout: .seconds(10))
    try file.execute(sql)
    try store.reopen()
  }

  private func bodies(_ id: EventID, _ store: TestStore) throws -> [[UInt8]] {
    try store.reader.events(id: id).map(\.body)
  }

  @Test("A dictionary that bodies need cannot be deleted")
  func isKept() throws {
    #expect(throws: StoreFault.self) { try store().execute("DELETE FROM dictionaries WHERE number = 1") }
  }

  @Test("A missing dictionary is a fault of its events, which the check names; everything else goes on")
  func isMissing() throws {
    let store = try store()
    try damage(store, "DELETE FROM dictionaries WHERE number = 1")
    let fault = #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_1") }
    #expect(fault?.kind == .corrupt)
    #expect(fault?.reason.hasPrefix("dictionary 1 is not stored; a backup with") == true)
    #expect(try bodies("evt_2", store) == [SampleEvent(2).body])
    #expect(try bodies("evt_raw", store) == [SampleEvent(3).body])
    #expect(try store.reader.events(EventFilter(), limit: 10).count == 3)
    let faults = try store.reader.integrityFaults()
    #expect(faults.count == 1)
    #expect(faults.first?.contains("dictionaries") == true, "\(faults)")
    #expect(try store.reader.contradictions().contains { $0.contains("a body needs a dictionary") })
    // The next number is not one that was used.
    #expect(try store.writer.apply(StoreDictionary(Bodies.dictionary()), now: store.now) == 3)
    _ = try store.writer.apply(Bodies.command("evt_4", SampleEvent(4).body), now: store.now)
    #expect(try bodies("evt_4", store) == [SampleEvent(4).body])
    #expect(try store.writer.apply(CompressBodies(), now: store.now) == false)
    #expect(try bodies("evt_raw", store) == [SampleEvent(3).body])
  }

  @Test("A damaged dictionary is a fault of its events, and never another text")
  func isDamaged() throws {
    for (damage, reason) in [
      ("x'00'", "dictionary 1 is damaged"),
      ("substr(content, 1, 40)", "dictionary 1 is damaged"),
      // Content of the same id.
      (
        "CAST(substr(content, 1, length(content) - 3000) || zeroblob(3000) AS BLOB)",
        "the compressed bytes are damaged"
      ),
      ("(SELECT content FROM dictionaries WHERE number = 2)", "it was not compressed with dictionary 1"),
    ] {
      let store = try store()
      try self.damage(store, "UPDATE dictionaries SET content = \(damage) WHERE number = 1")
      let fault = #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_1") }
      #expect(fault?.kind == .corrupt)
      #expect(fault?.reason.contains(reason) == true, "\(String(describing: fault))")
      #expect(try bodies("evt_2", store) == [SampleEvent(2).body])
    }
  }

  @Test("An erased body with a dictionary violates a rule of the store")
  func emptyWithDictionary() throws {
    let store = try store()
    #expect(try store.reader.contradictions() == [])
    try damage(store, "UPDATE events SET body = x'' WHERE event_id = 'evt_1'")
    #expect(try store.reader.contradictions().contains { $0.contains("a body needs a dictionary") })
  }
}
