// Tests bodies that are compressed: each is read as it was received, whatever its form.

import Cryptography
import Domain
import Platform
import TestSupport
import Testing

@testable import Store

@Suite("Dictionaries of bodies")
struct BodyDictionaryTests {
  @Test(
    "A shipped dictionary never changes, because stored bodies need it",
    arguments: [
      (BodyDictionary.stripe, "48fb365485704fbca3c388351c85f60bd982df60f031e61f678b83f8beba9f7d"),
      (BodyDictionary.swedbank, "bed895cea47df66d2f2902c40d31ec5fd29b317d818faca69247409194f07268"),
      (BodyDictionary.receipt, "b22b51deaf128462f9a5a48d854ea4ab69fc406539eef6454f3c03f0f0d0af9c"),
    ])
  func isKept(dictionary: BodyDictionary, digest: String) {
    #expect(Hex.encode(SHA256.digest(dictionary.content)) == digest)
  }

  @Test func `Each has its own number, which its frames state`() throws {
    #expect(BodyDictionary.allCases.map(\.rawValue) == [1, 2, 3])
    for dictionary in BodyDictionary.allCases {
      // Magic number, frame header with Dictionary_ID_flag 1, content size (RFC 8878 §3.1.1).
      let frame = dictionary.pack(SampleEvent(1).body).bytes
      #expect(frame[4] & 3 == 1)
      #expect(frame[4] & 0x20 != 0)
      #expect(Int64(frame[5]) == dictionary.rawValue)
    }
  }

  @Test func `It makes a body, a callback and a context much smaller`() throws {
    let event = SampleEvent(1).body
    #expect(BodyDictionary.stripe.pack(event).bytes.count * 2 < event.count)
    let callback = Array(
      (#"{"orderReference":"549213","paymentOrder":{"id":"/psp/paymentorders/5adc265f-f87f-4313-577e-"#
        + #"08d3dca1a26c","instrument":"paymentorders","number":12345678}}"#).utf8)
    #expect(BodyDictionary.swedbank.pack(callback).bytes.count * 2 < callback.count)
    let context = Array(
      ("eyJvcmlnaW5hbF9wbGF0Zm9ybSI6IklPUyIsInN0cmlwZV9wcmljZV9pZCI6InN0cmlwZS5tb250aGx5X3ByZW1pdW1f"
        + "MTIzIiwic3RyaXBlX29iamVjdF90eXBlIjoic3Vic2NyaXB0aW9uIiwicHJlc2VudGF0aW9uX2lkIjoicHJlc19iUnpyVFY0"
        + "NktvZzRua2JKWjFwY01tU1ZoNXRsIn0=").utf8)
    #expect(BodyDictionary.receipt.pack(context).bytes.count * 3 < context.count * 2)
  }
}

@Suite("Bodies of events", .everyEngine)
struct BodyTests {
  private static func command(
    _ id: EventID, _ body: [UInt8], from processor: ProcessorName = "stripe",
    content: IngestEvent.Content = .nothing(.ignored)
  ) -> IngestEvent {
    IngestEvent(app: "ios", processor: processor, eventID: id, type: "test", body: body, content: content)
  }

  private func body(_ id: EventID, _ store: TestStore) throws -> [UInt8]? {
    try store.reader.events(id: id).first?.body
  }

  @Test func `Bodies of each processor are read as they were received, also after a restart`() throws {
    let store = try TestStore()
    let samples = (0..<6).map { SampleEvent($0) }
    for (number, sample) in samples.enumerated() {
      let processor: ProcessorName = ["stripe", "swedbank", "other"][number % 3]
      try store.apply(Self.command(sample.id, sample.body, from: processor))
    }
    let numbers = "SELECT count(*) FROM events WHERE processor = "
    #expect(try store.integer("\(numbers) 'stripe' AND dictionary = 1") == 2)
    #expect(try store.integer("\(numbers) 'swedbank' AND dictionary = 2") == 2)
    #expect(try store.integer("\(numbers) 'other' AND dictionary IS NULL") == 2)
    for _ in 0..<2 {
      for sample in samples { #expect(try body(sample.id, store) == sample.body) }
      let row = try #require(try store.reader.row(ofEvent: samples[4].id, app: nil))
      #expect(try store.reader.body(ofEvent: row) == samples[4].body)
      var seen: [[UInt8]] = []
      _ = try store.reader.searchEvents(after: 0, through: 100) { _, body in
        seen.append(body)
        return false
      }
      #expect(seen == samples.map(\.body))
      try store.reopen()
    }
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `A body that would not shrink, or is short, is stored as it is`() throws {
    let store = try TestStore()
    var random = SeededGenerator(seed: 5)
    let noise = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let bodies: [(id: EventID, bytes: [UInt8])] = [
      ("evt_noise", noise), ("evt_short", Array(#"{"object": "event"}"#.utf8)), ("evt_empty", []),
    ]
    for body in bodies { try store.apply(Self.command(body.id, body.bytes)) }
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 3)
    for body in bodies { #expect(try self.body(body.id, store) == body.bytes) }
  }

  @Test func `A body that is itself a frame, as a client may send it, is read as it was received`() throws {
    let store = try TestStore()
    let frame = try FrameCodec(dictionary: BodyDictionary.stripe.content).compress(SampleEvent(3).body)
    let bomb = try FrameCodec().compress([UInt8](repeating: 0, count: 1 << 20))
    for (id, bytes) in [("evt_frame", frame), ("evt_bomb", bomb)] as [(EventID, [UInt8])] {
      try store.apply(Self.command(id, bytes))
      try store.apply(Self.command("raw_\(id)", bytes, from: "other"))
      #expect(try body(id, store) == bytes)
      #expect(try body("raw_\(id)", store) == bytes)
    }
  }

  @Test("A body with a dictionary of a newer version is a fault of its event, which the check names")
  func unknownDictionary() throws {
    let store = try TestStore()
    for number in 1...2 { try store.apply(Self.command("evt_\(number)", SampleEvent(number).body)) }
    try store.execute("UPDATE events SET dictionary = 99 WHERE event_id = 'evt_1'")
    let fault = #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_1") }
    #expect(fault?.kind == .corrupt)
    #expect(fault?.reason == "it was compressed with dictionary 99, which only a newer version has")
    #expect(try body("evt_2", store) == SampleEvent(2).body)
    #expect(try store.reader.events(EventFilter(), limit: 10).count == 2)
    let faults = try store.reader.integrityFaults()
    #expect(faults == ["rows of events that need a dictionary which this program does not have: 1"])
  }

  @Test func `A damaged body is a fault of its event alone, and says so`() throws {
    let store = try TestStore()
    for number in 1...3 { try store.apply(Self.command("evt_\(number)", SampleEvent(number).body)) }
    let damages = [
      ("substr(body, 1, length(body) - 1)", "the compressed bytes are damaged"),
      ("x'00'", "the compressed bytes are damaged"),
      ("x'28B52FFDE0FFFFFFFFFFFFFF7F010000'", "state no size, or one beyond the limit"),
      ("x'28B52FFD00000100'", "state no size, or one beyond the limit"),
      ("x'28B52FFD2000010000'", "it was not compressed with dictionary 1"),
    ]
    for (damage, reason) in damages {
      try store.execute("UPDATE events SET body = \(damage) WHERE event_id = 'evt_2'")
      let fault = #expect(throws: StoreFault.self) { try store.reader.events(id: "evt_2") }
      #expect(fault?.kind == .corrupt)
      #expect(fault?.reason.contains(reason) == true, "\(String(describing: fault))")
      #expect(try body("evt_1", store) == SampleEvent(1).body)
      #expect(try body("evt_3", store) == SampleEvent(3).body)
    }
  }

  @Test func `A context that cannot be read stops no purchase of its user, and no other context`() throws {
    let store = try TestStore()
    try store.post("old")
    try store.execute("UPDATE contexts SET ply_context = '', frame = x'00', dictionary = 3")
    try store.reopen()
    store.advance(1)
    let said = IngestEvent.Content.report(.said(prices: ["price_1"]), keep: true)
    try store.apply(Self.command("evt_1", [], content: said))
    #expect(try store.receipts().map(TestStore.status) == ["waiting/context"])
    _ = try store.writer.apply(store.contextCommand("new", user: "u1"), now: store.now)
    #expect(try store.receipts().map(TestStore.status) == ["pending: u1 subscription sub_1 price_1 new"])
  }

  @Test("An erased body with a dictionary, and one with that of receipts, violate a rule of the store")
  func contradictions() throws {
    let store = try TestStore()
    try store.apply(Self.command("evt_1", SampleEvent(1).body))
    #expect(try store.reader.contradictions() == [])
    for damage in ["body = x''", "dictionary = 3"] {
      try store.execute("UPDATE events SET \(damage) WHERE event_id = 'evt_1'")
      #expect(try store.reader.contradictions().contains { $0.contains("the dictionary of receipts") })
      try store.execute("UPDATE events SET body = x'00', dictionary = 1")
    }
  }

  @Test func `An event whose body is compressed is processed again, and its bytes stay`() throws {
    let store = try TestStore()
    let sample = SampleEvent(8)
    try store.apply(Self.command(sample.id, sample.body, content: .nothing(.unparsed)))
    let row = try #require(try store.reader.row(ofEvent: sample.id, app: nil))
    let said = IngestEvent.Content.report(Said.completed(prices: ["price_1"]), keep: true)
    for _ in 0..<2 {
      try store.apply(ReprocessEvent(Self.command(sample.id, sample.body, content: said), row: row))
    }
    #expect(try store.receipts().count == 1)
    #expect(try body(sample.id, store) == sample.body)
    #expect(try store.integer("SELECT dictionary FROM events") == 1)
  }

  @Test("An erasure empties a compressed body, and its event is recognised when it comes again (R2)")
  func erasure() throws {
    let store = try TestStore()
    let (joined, loose) = (SampleEvent(8), SampleEvent(9))
    let said = Said.completed("jane", user: "user-jane", prices: ["price_1"])
    let event = Self.command(joined.id, joined.body, content: .report(said, keep: true))
    try store.apply(event)
    try store.apply(Self.command(loose.id, loose.body))
    let rows = try store.reader.purchases(ofUser: "user-jane", limit: 10).map(\.row)
    try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    try store.apply(ForgetEvents(rows: [try #require(try store.reader.row(ofEvent: loose.id, app: nil))]))
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 2)
    #expect(try store.integer("SELECT sum(length(body)) FROM events") == 0)
    #expect(try store.apply(event) == .repeated)
    let dump = try TestEngine.current.dump(store.folder)
    for text in joined.personal + loose.personal { #expect(!dump.contains(text), "\(text)") }
  }
}
