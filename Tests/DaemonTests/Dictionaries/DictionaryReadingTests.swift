// Which bodies the trainer reads, and when it ends: it may not read a large database, nor hold up a stop.

import Domain
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Daemon
@testable import Service
@testable import Upkeep

@Suite("What a dictionary is learned from")
struct DictionaryReadingTests {
  private let clock = ManualClock()

  /// A bench whose committer runs on the test's thread.
  private func bench() throws -> Bench { try Bench([Bench.app()], clock: clock, isStarted: false) }

  /// JSON of this many bytes. Its members are the same with each number, and their values are not.
  private func body(_ number: Int, bytes: Int) -> [UInt8] {
    var text = #"{"number": \#(number)"#
    for index in 0... {
      let member = #", "member_\#(index &* 7919 % 100_003)": "\#(index % 3 == 0 ? number : 0)""#
      guard text.utf8.count + member.utf8.count + 12 < bytes else { break }
      text += member
    }
    let rest = String(repeating: "-", count: max(0, bytes - text.utf8.count - 13))
    return Array(#"\#(text), "rest": "\#(rest)"}"#.utf8)
  }

  /// Stores events with bodies of this many bytes.
  /// - Parameter isGuest: whether nothing identifies the customers.
  private func store(_ count: Int, bytes: Int, isGuest: Bool = false, _ bench: Bench) throws {
    for number in 0..<count {
      let report = PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
        clientReference: isGuest ? nil : "user-\(number)", prices: ["price_1"], happenedAt: bench.now)
      let body = body(number, bytes: bytes)
      #expect(body.count == bytes)
      let event = IngestEvent(
        app: "shop", processor: "stripe", eventID: EventID("evt_\(number)"), type: "test",
        body: body, content: .report(report, keep: true))
      #expect(bench.committer.submit(event, from: .internal) { _ in })
      if number % 100 == 99 { while bench.committer.commitWaiting() {} }
    }
    while bench.committer.commitWaiting() {}
  }

  /// Makes a dictionary if there is enough to learn from.
  /// - Returns: how many bodies it was learned from; nil if none was made.
  private func train(_ bench: Bench) throws -> Int? {
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    _ = bench.core.trainer.step(&rounds)
    while bench.committer.commitWaiting() {}
    guard bench.committer.packers.event.current != nil else { return nil }
    let line = try bench.waitForLog("compressed with a new dictionary")
    let count = try #require(line.split(separator: " ").first { $0.hasPrefix("learned_from=") })
    return Int(count.dropFirst("learned_from=".count))
  }

  @Test("It reads the newest bodies until their bytes are enough")
  func bytes() throws {
    let bench = try bench()
    try store(700, bytes: 3000, bench)
    let enough = (DictionaryCandidate.bytesWanted + 2999) / 3000
    #expect(500..<700 ~= enough)
    #expect(try train(bench) == enough)
  }

  @Test("It reads a thousand short bodies at most")
  func bodies() throws {
    let bench = try bench()
    try store(DictionaryTrainer.bodiesMax + 100, bytes: 300, bench)
    #expect(try train(bench) == DictionaryTrainer.bodiesMax)
  }

  @Test("It does not read more than 8 MiB, even if these are too few bodies")
  func long() throws {
    let bench = try bench()
    let bytes = DictionaryTrainer.bodyBytesMax
    let rules = DictionaryTrainer.Rules(bodiesMin: DictionaryTrainer.bytesMax / bytes + 1)
    try store(rules.bodiesMin, bytes: bytes, bench)
    let trainer = DictionaryTrainer(
      reader: try StoreReader(path: bench.path), committer: bench.committer,
      dependencies: Dependencies(log: bench.log, clock: clock), rules: rules)
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    _ = trainer.step(&rounds)
    #expect(bench.committer.depth == 0, "no dictionary is made of them")
    // One body less to wait for, and the same bytes are enough.
    let lesser = DictionaryTrainer(
      reader: try StoreReader(path: bench.path), committer: bench.committer,
      dependencies: Dependencies(log: bench.log, clock: clock), rules: .init(bodiesMin: rules.bodiesMin - 1))
    rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    _ = lesser.step(&rounds)
    #expect(bench.committer.depth == 1)
  }

  @Test("A stop ends the reading")
  func stop() throws {
    let bench = try bench()
    try store(600, bytes: 3000, bench)
    bench.core.trainer.stop()
    #expect(try train(bench) == nil)
  }

  @Test("After too few bodies it searches again a minute later, however many are reported")
  func rest() throws {
    let bench = try bench()
    try store(500, bytes: StoredBody.bytesMin - 1, bench)
    var rounds = DictionaryTrainer.Rounds(clock, bench.committer.packers)
    let next = bench.core.trainer.step(&rounds)
    #expect(next == clock.monotonic.advanced(by: DictionaryTrainer.interval))
    let body = StoredBody([UInt8](repeating: 7, count: 1000))
    for _ in 0..<1200 { _ = bench.committer.packers.event.pack(body) }
    let soon = bench.core.trainer.step(&rounds)
    #expect(soon == clock.monotonic.advanced(by: DictionaryTrainer.searchPause))
  }

  @Test("Customers whom nothing identifies count as one")
  func guests() throws {
    let bench = try bench()
    try store(50, bytes: 300, isGuest: true, bench)
    var owners: [String] = []
    try bench.reader.newestBodies(.event, rows: 100, storedMax: 1000) { _, owner in
      owners.append(owner)
      return true
    }
    #expect(owners == Array(repeating: "", count: 50))
  }
}
