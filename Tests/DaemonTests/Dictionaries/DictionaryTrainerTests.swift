// Tests how the relay gets its dictionaries: from webhooks to rows that are smaller, on a clock of the test's
// own.

import Config
import Cryptography
import Domain
import Formats
import HTTPClient
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Daemon
@testable import HTTPServer
@testable import Service
@testable import Upkeep

@Suite("The dictionaries for events")
struct DictionaryTrainerTests {
  private let clock = ManualClock()

  private func bench(folder: TemporaryFolder? = nil) throws -> Bench {
    let bench = try Bench([Bench.app()], folder: folder, clock: clock, isStarted: false)
    try bench.committer.start()
    return bench
  }

  /// Sends events as the processor does.
  private func post(_ samples: [SampleEvent], to server: Server, _ bench: Bench) throws {
    let key = try HMACSHA256(key: Array("whsec_test".utf8))
    let pool = try TransferPool(connectionsMax: 16)
    var waiting = samples[...]
    var underWay = 0
    while !waiting.isEmpty || underWay > 0 {
      while underWay < 16, let sample = waiting.popFirst() {
        let time = bench.now.unixMilliseconds / 1000
        let code = key.authenticationCode(for: Array("\(time).".utf8), sample.body)
        let request = TransferRequest(
          method: .post, url: "http://127.0.0.1:\(server.port)/v1/shop/webhooks/stripe",
          headers: [TransferHeader("Stripe-Signature", "t=\(time),v1=\(Hex.encode(code))")],
          body: sample.body, timeout: .seconds(60))
        try pool.start(request, tag: 0)
        underWay += 1
      }
      for done in pool.run(timeout: .seconds(1)) {
        underWay -= 1
        #expect(done.result.status == 200)
      }
    }
  }

  /// Stores events of this many customers without compressing them.
  private func store(_ numbers: Range<Int>, _ bench: Bench, named name: String = "campaign") throws {
    try bench.store(
      CommandList(
        numbers.map { number in
          let sample = SampleEvent(number)
          let report = PurchaseReport(
            key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
            clientReference: "user-\(number)", prices: ["price_1"], happenedAt: bench.now)
          let text = String(decoding: sample.body, as: UTF8.self)
          return IngestEvent(
            app: "shop", processor: "stripe", eventID: sample.id, type: "test",
            body: Array(text.replacing("campaign", with: name).utf8), content: .report(report, keep: true))
        }))
  }

  private func integer(_ sql: String, _ bench: Bench) throws -> Int64? {
    try Connection(path: bench.path, mode: .readOnly, busyTimeout: .seconds(10)).integer(sql)
  }

  @Test(
    "Events come in, a dictionary is made of them, later rows are small, and retention shrinks the others")
  func endToEnd() throws {
    let bench = try bench()
    defer { bench.committer.stop() }
    let server = try bench.serve()
    defer { server.stop(grace: .zero) }
    let samples = (0..<520).map { SampleEvent($0) }
    try post(Array(samples.prefix(500)), to: server, bench)
    #expect(try integer("SELECT count(*) FROM events WHERE dictionary IS NULL", bench) == 500)
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    #expect(bench.core.trainer.step(&rounds) == clock.monotonic.advanced(by: DictionaryTrainer.interval))
    #expect(try bench.waitForLog("compressed with a new dictionary").contains("learned_from=500"))
    try post(Array(samples.suffix(20)), to: server, bench)
    #expect(try integer("SELECT count(*) FROM events WHERE dictionary = 1", bench) == 20)
    let (raw, packed) = try (
      integer("SELECT avg(length(body)) FROM events WHERE dictionary IS NULL", bench) ?? 0,
      integer("SELECT avg(length(body)) FROM events WHERE dictionary = 1", bench) ?? 0
    )
    #expect(packed * 4 < raw, "\(raw) bytes became \(packed)")
    let run = RetentionRun(.init(), clock)
    var steps = 0
    while !run.step(bench.committer, now: bench.now, log: bench.log, onFault: { _, _ in }), steps < 100 {
      try bench.store(Barrier())
      steps += 1
    }
    #expect(try integer("SELECT count(*) FROM events WHERE dictionary IS NULL", bench) == 0)
    for sample in samples { #expect(try bench.reader.events(id: sample.id).map(\.body) == [sample.body]) }
    let file = try Connection(path: bench.path, mode: .readOnly, busyTimeout: .seconds(10))
    let content = try #require(
      try file.prepare("SELECT content FROM dictionaries").all { row throws(SQLiteError) in row.blob(0) }
        .first)
    let learned = SearchedBytes(content)
    let found = samples.flatMap(\.personal).filter { learned.has($0) }
    #expect(found == [])
    #expect(try bench.reader.contradictions() == [])
    // A restart goes on with the same dictionary (R9).
    bench.committer.stop()
    let again = try self.bench(folder: bench.folder)
    defer { again.committer.stop() }
    #expect(again.committer.packers.event.current?.number == 1)
    let body = SampleEvent(9000).body
    #expect(again.committer.packers.event.pack(StoredBody(body)).dictionary == 1)
  }

  @Test("A dictionary is made as soon as enough bodies came, and not before")
  func soon() throws {
    let bench = try bench()
    defer { bench.committer.stop() }
    let packer = bench.committer.packers.event
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    try store(0..<499, bench)
    let next = bench.core.trainer.step(&rounds)
    #expect(next == clock.monotonic.advanced(by: DictionaryTrainer.interval))
    #expect(bench.core.trainer.step(&rounds) == next, "it is not due")
    try store(499..<600, bench)
    for _ in 0..<599 { _ = packer.pack(StoredBody(SampleEvent(1).body)) }
    #expect(bench.core.trainer.step(&rounds) == next, "nothing was reported")
    _ = packer.pack(StoredBody(SampleEvent(1).body))
    let soon = bench.core.trainer.step(&rounds)
    #expect(soon == clock.monotonic.advanced(by: DictionaryTrainer.storeTime))
    #expect(packer.current == nil)
    clock.advance(DictionaryTrainer.storeTime)
    _ = bench.core.trainer.step(&rounds)
    try bench.store(Barrier())
    #expect(packer.current?.number == 1)
  }

  @Test("Receipts and contexts get their own dictionary, and are read as they were")
  func receipts() throws {
    let bench = try bench()
    defer { bench.committer.stop() }
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    func context(_ number: Int) -> String {
      let text = """
        {"presentation_id": "\(String(number &* 7919, radix: 36))", "placement_id": "onboarding", \
        "stripe_price_id": "price_1MbKJHJaEiB9UwXBPt0fFq4O", "stripe_object_type": "subscription"}
        """
      return Base64.encode(Array(text.utf8))
    }
    func store(_ numbers: Range<Int>) throws {
      try bench.store(
        CommandList(
          numbers.map { number in
            let report = PurchaseReport(
              key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
              clientReference: "user-\(number)", context: ContextBlob(text: context(number), priceID: nil),
              prices: ["price_1"], happenedAt: bench.now)
            return IngestEvent(
              app: "shop", processor: "stripe", eventID: "evt_\(number)", type: "test", body: [],
              content: .report(report, keep: true))
          }))
    }
    try store(0..<520)
    #expect(
      try integer("SELECT count(*) FROM purchases WHERE context_at > 0 AND ply_context IS NULL", bench)
        == 520)
    _ = bench.core.trainer.step(&rounds)
    try bench.store(Barrier())
    #expect(bench.committer.packers.receipt.current?.number == 1)
    #expect(bench.committer.packers.event.current == nil)
    try store(520..<540)
    #expect(try integer("SELECT count(*) FROM purchases WHERE dictionary = 1", bench) == 20)
    let sizes = try [
      integer("SELECT avg(length(body)) FROM purchases WHERE dictionary IS NULL", bench),
      integer("SELECT avg(length(body)) FROM purchases WHERE dictionary = 1", bench),
    ].compactMap(\.self)
    #expect(sizes[1] * 3 < sizes[0], "\(sizes)")
    for number in [0, 519, 520, 539] {
      let key = PurchaseKey(type: .subscription, id: "sub_\(number)")
      let record = try bench.reader.details(object: key.id).first?.record
      #expect(record?.purchase.context?.text == context(number))
      let body = String(decoding: record?.receipt?.body ?? [], as: UTF8.self)
      #expect(body.contains(context(number)))
    }
    #expect(try bench.reader.contradictions() == [])
  }

  @Test("A day later another dictionary is made, which replaces the present one only if it is clearly better")
  func again() throws {
    let bench = try bench()
    defer { bench.committer.stop() }
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    func step() throws {
      _ = bench.core.trainer.step(&rounds)
      try bench.store(Barrier())
    }
    try store(0..<500, bench)
    try step()
    #expect(bench.committer.packers.event.current?.number == 1)
    // As good as the present one.
    clock.advance(DictionaryTrainer.interval)
    try step()
    #expect(bench.committer.packers.event.current?.number == 1)
    // Events change: these have long texts that nothing was known of.
    let news = (0..<12).map { #"new_\#($0)": "kind_\#($0)_\#(String($0 &* 7919, radix: 36))", ""# }.joined()
    try store(1000..<2000, bench, named: news + "campaign")
    try step()
    #expect(bench.committer.packers.event.current?.number == 1, "it is not due")
    clock.advance(DictionaryTrainer.interval)
    try step()
    #expect(bench.committer.packers.event.current?.number == 2)
    #expect(try integer("SELECT count(*) FROM dictionaries", bench) == 2)
  }

  @Test("A dictionary that cannot be read is reported, events are stored uncompressed, and another is made")
  func unreadable() throws {
    let bench = try bench()
    try store(0..<500, bench)
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    _ = bench.core.trainer.step(&rounds)
    try bench.store(Barrier())
    bench.committer.stop()
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try file.execute("UPDATE dictionaries SET content = x'00'")
    let again = try self.bench(folder: bench.folder)
    defer { again.committer.stop() }
    #expect(try again.waitForLog("could not read the event dictionary").contains("dictionary 1 is damaged"))
    #expect(again.committer.packers.event.current == nil)
    rounds = DictionaryTrainer.Rounds(clock, again.committer.packers)
    _ = again.core.trainer.step(&rounds)
    try again.store(Barrier())
    #expect(again.committer.packers.event.current?.number == 2)
  }

  @Test("A dictionary that cannot be stored is reported, and not used")
  func notStored() throws {
    let bench = try bench()
    defer { bench.committer.stop() }
    try store(0..<500, bench)
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try file.execute(
      "CREATE TRIGGER refuse BEFORE INSERT ON dictionaries BEGIN SELECT raise(ABORT, 'test'); END")
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    _ = bench.core.trainer.step(&rounds)
    _ = try bench.waitForLog("could not store a dictionary")
    #expect(bench.committer.packers.event.current == nil)
  }
}
