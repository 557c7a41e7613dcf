// Tests a database whose dictionaries were damaged without the store, which a foreign key prevents otherwise.

import Domain
import SQLiteStore
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
    #expect(fault?.reason.hasPrefix("dictionary 1 is not stored; bodies compressed with it") == true)
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

  @Test("The number of a lost dictionary is not used again, so that it can be put back")
  func isLost() throws {
    let store = try store()
    let query = "SELECT quote(content) || ', ' || quote(digest) FROM dictionaries WHERE number = 2"
    let row = try #require(
      try store.reader.connection.prepare(query).first { row throws(StoreFault) in try row.text(0) })
    try damage(store, "DELETE FROM dictionaries")
    #expect(try store.writer.apply(StoreDictionary(Bodies.dictionary()), now: store.now) == 3)
    #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_2") }
    try damage(
      store,
      """
      INSERT INTO dictionaries (number, kind, made_at, content, digest, passed_row)
        VALUES (2, 'event', 1, \(row), 0)
      """)
    #expect(try bodies("evt_2", store) == [SampleEvent(2).body])
  }

  @Test("A damaged dictionary is a fault of its events, and never another text")
  func isDamaged() throws {
    for (damage, reason) in [
      ("x'00'", "dictionary 1 is damaged"),
      ("substr(content, 1, 40)", "dictionary 1 is damaged"),
      // Content of the same id.
      (
        "CAST(substr(content, 1, length(content) - 3000) || zeroblob(3000) AS BLOB)",
        "dictionary 1 is damaged"
      ),
      ("(SELECT content FROM dictionaries WHERE number = 2)", "dictionary 1 is damaged"),
      (
        """
        (SELECT content FROM dictionaries WHERE number = 2),
          digest = (SELECT digest FROM dictionaries WHERE number = 2)
        """, "it was not compressed with dictionary 1"
      ),
    ] {
      let store = try store()
      try self.damage(store, "UPDATE dictionaries SET content = \(damage) WHERE number = 1")
      let fault = #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_1") }
      #expect(fault?.kind == .corrupt)
      #expect(fault?.reason.contains(reason) == true, "\(String(describing: fault))")
      #expect(try bodies("evt_2", store) == [SampleEvent(2).body])
    }
  }

  @Test("A context that cannot be read stops no purchase of its user, and no other context")
  func unreadableContext() throws {
    let store = try TestStore()
    try store.post("old")
    try damage(store, "UPDATE contexts SET ply_context = '', frame = x'00', dictionary = 99")
    store.advance(1)
    let event = Bodies.command("evt_1", [], content: .report(.said(prices: ["price_1"]), keep: true))
    _ = try store.writer.apply(event, now: store.now)
    #expect(try store.receipts().map(TestStore.status) == ["waiting/context"])
    _ = try store.writer.apply(store.contextCommand("new", user: "u1"), now: store.now)
    #expect(try store.receipts().map(TestStore.status) == ["pending: u1 subscription sub_1 price_1 new"])
  }

  @Test("An erased body with a dictionary violates a rule of the store")
  func emptyWithDictionary() throws {
    let store = try store()
    #expect(try store.reader.contradictions() == [])
    try damage(store, "UPDATE events SET body = x'' WHERE event_id = 'evt_1'")
    #expect(try store.reader.contradictions().contains { $0.contains("a body needs a dictionary") })
  }
}
