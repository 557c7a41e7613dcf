// Tests bodies that are compressed: each is read as it was received, whatever its form.

import Domain
import Platform
import Store
import TestSupport
import Testing

/// Dictionaries, and events that belong to no purchase.
enum Bodies {
  /// A dictionary of events of other customers than those of the tests.
  static func dictionary(_ first: Int = 10_000) throws -> [UInt8] {
    let samples = (first..<first + 300).map { SampleEvent($0).body }
    return try DictionaryTraining.dictionary(
      from: Array(samples.joined()), sizes: samples.map(\.count), bytesMax: 8 << 10)
  }

  static func command(
    _ id: EventID, _ body: [UInt8], _ packer: BodyPacker? = nil,
    content: IngestEvent.Content = .nothing(.ignored)
  ) -> IngestEvent {
    var command = IngestEvent(
      app: "ios", processor: "stripe", eventID: id, type: "test", body: body, content: content)
    if let packer { command.pack(with: packer) }
    return command
  }

  /// Stores a dictionary, and makes the packer use it.
  @discardableResult
  static func use(_ content: [UInt8], _ store: TestStore, _ packer: BodyPacker) throws -> DictionaryNumber {
    let number = try store.apply(StoreDictionary(content))
    packer.use(try BodyDictionary(number, madeAt: store.now, content: content))
    return number
  }

  /// Compresses slice by slice until nothing is left.
  /// - Returns: the number of slices.
  @discardableResult
  static func compressAll(_ store: TestStore) throws -> Int {
    var slices = 1
    while try store.apply(CompressBodies()), slices < 1000 { slices += 1 }
    return slices
  }
}

@Suite("Bodies of events", .everyEngine)
struct BodyTests {
  private func body(_ id: EventID, _ store: TestStore) throws -> [UInt8]? {
    try store.reader.events(id: id).first?.body
  }

  @Test("Bodies of several dictionaries, and of none, are read as they were received, also after a restart")
  func severalDictionaries() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    let samples = (0..<6).map { SampleEvent($0) }
    for (number, sample) in samples.enumerated() {
      if number % 2 == 0 {
        #expect(
          try Bodies.use(Bodies.dictionary(10_000 * (number + 1)), store, packer)
            == DictionaryNumber(Int64(number / 2 + 1)))
      }
      try store.apply(Bodies.command(sample.id, sample.body, packer))
      try store.apply(Bodies.command("raw_\(sample.id)", sample.body))
    }
    #expect(try store.integer("SELECT count(DISTINCT dictionary) FROM events") == 3)
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 6)
    #expect(try store.integer("SELECT max(length(body)) FROM events WHERE dictionary > 0") ?? 0 < 700)
    for _ in 0..<2 {
      for sample in samples {
        #expect(try body(sample.id, store) == sample.body)
        #expect(try body("raw_\(sample.id)", store) == sample.body)
      }
      let row = try #require(try store.reader.row(ofEvent: samples[4].id, app: nil))
      #expect(try store.reader.body(ofEvent: row) == samples[4].body)
      var seen: [[UInt8]] = []
      _ = try store.reader.searchEvents(after: 0, through: 100) { _, body in
        seen.append(body)
        return false
      }
      #expect(seen == samples.flatMap { [$0.body, $0.body] })
      try store.reopen()
    }
    #expect(try store.reader.newestDictionary(.event)?.number == 3)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test("A body that would not shrink is stored as it is, and so is one without a dictionary")
  func staysRaw() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    try store.apply(Bodies.command("evt_before", SampleEvent(1).body, packer))
    try Bodies.use(Bodies.dictionary(), store, packer)
    var random = SeededGenerator(seed: 5)
    let noise = (0..<3000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let bodies: [(id: EventID, bytes: [UInt8])] = [
      ("evt_noise", noise), ("evt_short", Array(#"{"object": "event"}"#.utf8)), ("evt_empty", []),
    ]
    for body in bodies { try store.apply(Bodies.command(body.id, body.bytes, packer)) }
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 4)
    for body in bodies { #expect(try self.body(body.id, store) == body.bytes) }
  }

  @Test("A body that is itself a frame, as a client may send it, is read as it was received")
  func looksCompressed() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    let content = try Bodies.dictionary()
    try Bodies.use(content, store, packer)
    let frame = try FrameCodec(dictionary: content).compress(SampleEvent(3).body)
    let bomb = try FrameCodec().compress([UInt8](repeating: 0, count: 1 << 20))
    for (id, bytes) in [("evt_frame", frame), ("evt_bomb", bomb)] as [(EventID, [UInt8])] {
      try store.apply(Bodies.command(id, bytes, packer))
      try store.apply(Bodies.command("raw_\(id)", bytes))
      #expect(try body(id, store) == bytes)
      #expect(try body("raw_\(id)", store) == bytes)
    }
  }

  @Test("A body with a dictionary that is not stored is refused")
  func unknownDictionary() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    packer.use(try BodyDictionary(7, madeAt: store.now, content: Bodies.dictionary()))
    let fault = #expect(throws: StoreFault.self) {
      try store.apply(Bodies.command("evt_1", SampleEvent(1).body, packer))
    }
    #expect(fault?.kind == .constraint)
    #expect(try store.integer("SELECT count(*) FROM events") == 0)
  }

  @Test("A damaged body is a fault of its event alone, and says so")
  func damaged() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    try Bodies.use(Bodies.dictionary(), store, packer)
    for number in 1...3 { try store.apply(Bodies.command("evt_\(number)", SampleEvent(number).body, packer)) }
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

  @Test("An event whose body is compressed is processed again, and its bytes stay")
  func reprocess() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    try Bodies.use(Bodies.dictionary(), store, packer)
    let sample = SampleEvent(8)
    try store.apply(Bodies.command(sample.id, sample.body, packer, content: .nothing(.unparsed)))
    let row = try #require(try store.reader.row(ofEvent: sample.id, app: nil))
    let said = IngestEvent.Content.report(Said.completed(prices: ["price_1"]), keep: true)
    for event in [
      Bodies.command(sample.id, sample.body, content: said),
      Bodies.command(sample.id, sample.body, packer, content: said),
    ] { try store.apply(ReprocessEvent(event, row: row)) }
    #expect(try store.receipts().count == 1)
    #expect(try body(sample.id, store) == sample.body)
    #expect(try store.integer("SELECT dictionary FROM events") == 1)
  }

  @Test("An erasure empties a compressed body, and its event is recognised when it comes again (R2)")
  func erasure() throws {
    let store = try TestStore()
    let packer = BodyPacker()
    try Bodies.use(Bodies.dictionary(), store, packer)
    let (joined, loose) = (SampleEvent(8), SampleEvent(9))
    let said = Said.completed("jane", user: "user-jane", prices: ["price_1"])
    let event = Bodies.command(joined.id, joined.body, packer, content: .report(said, keep: true))
    try store.apply(event)
    try store.apply(Bodies.command(loose.id, loose.body, packer))
    let rows = try store.reader.purchases(ofUser: "user-jane", limit: 10).map(\.row)
    try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    try store.apply(
      ForgetEvents(rows: [try #require(try store.reader.row(ofEvent: loose.id, app: nil))]))
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 2)
    #expect(try store.integer("SELECT sum(length(body)) FROM events") == 0)
    #expect(try store.apply(event) == .repeated)
    // It is looked at, and stays empty.
    try Bodies.compressAll(store)
    #expect(try store.integer("SELECT count(*) FROM events WHERE dictionary IS NULL") == 2)
    let dump = try TestEngine.current.dump(store.folder)
    for text in joined.personal + loose.personal { #expect(!dump.contains(text), "\(text)") }
  }
}
