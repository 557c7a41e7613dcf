// Tests the thread that makes the index of a search, on a clock of the test's own.

import Config
import Domain
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Service
@testable import Upkeep

@Suite("The indexer of a search")
struct SearchIndexerTests {
  private struct NotOwner: Ownership {
    func lease(of app: AppSlug) -> Lease? { nil }
    func endingLease(of app: AppSlug) -> Lease? { nil }
    var apps: Set<AppSlug>? { [] }
    var doesSharedWork: Bool { false }
  }

  private let clock = ManualClock()

  private func events(_ numbers: Range<Int>, _ bench: Bench) -> CommandList<IngestEvent> {
    CommandList(
      numbers.map { number in
        let sample = SampleEvent(number)
        let report = PurchaseReport(
          key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
          clientReference: "user-\(number)", prices: ["price_1"], happenedAt: bench.now)
        return IngestEvent(
          app: "shop", processor: "stripe", eventID: sample.id, type: "test", body: sample.body,
          content: .report(report, keep: true))
      })
  }

  private func indexer(_ bench: Bench, _ ownership: any Ownership = SoleOwner()) throws -> SearchIndexer {
    SearchIndexer(
      reader: try StoreReader(path: bench.path), committer: bench.committer,
      dependencies: Dependencies(log: bench.log, clock: clock), ownership: ownership,
      mentions: ProcessorRegistry.standard.mentions, sizes: SearchSizes(rows: 20, runs: 3))
  }

  private func runs(_ bench: Bench) throws -> [Int64] {
    let integers = ["family = 0 AND level = 0", "family = 0 AND level = 1", "state <> 'ready'"].map {
      "SELECT count(*) FROM search_runs WHERE \($0)"
    }
    return try integers.map { sql in try bench.reader.connection.integer(sql) ?? -1 }
  }

  @Test("It indexes what is stored, merges runs, rests after each piece of work, and then waits")
  func indexes() throws {
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    try bench.committer.start()
    let indexer = try indexer(bench)
    try bench.store(events(0..<150, bench))
    var steps = 0
    while try runs(bench) != [1, 2, 0], steps < 200 {
      let due = indexer.step()
      try bench.store(Barrier())
      #expect(due <= clock.monotonic.advanced(by: SearchIndexer.interval))
      clock.advance(SearchIndexer.interval)
      steps += 1
    }
    #expect(try runs(bench) == [1, 2, 0])
    for number in [0, 77, 149] {
      let address = try #require(
        ProcessorRegistry.standard.mentions("stripe", in: SampleEvent(number).body).addresses.first)
      let found = try bench.reader.find(
        #require(FindQuery(address)), FindFilter(), mentions: ProcessorRegistry.standard.mentions,
        now: bench.now, limit: 10)
      #expect(found.list.count == 1)
      #expect(found.list.first?.match == .address)
      #expect(!found.isIndexing)
    }
    #expect(try bench.reader.contradictions() == [])
  }

  @Test("It rests for nineteen times as long as its work took, and only the owner of shared work indexes")
  func rests() throws {
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    #expect(bench.committer.submit(events(0..<30, bench), from: .internal) { _ in })
    _ = bench.committer.commitWaiting()
    let other = try indexer(bench, NotOwner())
    _ = other.step()
    #expect(bench.committer.depth == 0)
    let indexer = try indexer(bench)
    _ = indexer.step()
    #expect(bench.committer.depth == 1, "the key")
    #expect(indexer.step() == clock.monotonic.advanced(by: SearchIndexer.interval), "one command at a time")
    clock.advance(.milliseconds(10))
    _ = bench.committer.commitWaiting()
    #expect(indexer.step() == clock.monotonic.advanced(by: .milliseconds(190)))
    #expect(bench.committer.depth == 0)
    clock.advance(.milliseconds(190))
    _ = indexer.step()
    #expect(bench.committer.depth == 1)
    _ = bench.committer.commitWaiting()
    #expect(try runs(bench) == [1, 0, 0])
  }
}
