// The committer's queue and thread.

import Domain
import Platform
import SQLiteStore
import Store
import Testing

@testable import Service

@Suite("The committer") struct CommitterTests {
  /// A command that fails.
  private struct Failing: StoreCommand {
    static let error = StoreFault(.constraint, operation: "test", reason: "test")
    func apply(to store: StoreSession) throws(StoreFault) { throw Self.error }
  }

  /// Changes nothing; blocks until it is opened.
  struct Gate: StoreCommand {
    let isOpen = Monitor(false)
    let isReached = Monitor(false)
    func apply(to store: StoreSession) throws(StoreFault) {
      isReached.update { $0 = true }
      let _: Bool? = isOpen.wait(until: soon()) { $0 ? true : nil }
    }
  }

  /// Takes a millisecond.
  private struct Slow: StoreCommand {
    let clock: ManualClock
    func apply(to store: StoreSession) { clock.advance(.milliseconds(1)) }
  }

  private static func bench(queue: Int = 1000, clock: any Clock = SystemClock()) throws -> Bench {
    try Bench([Bench.app(), Bench.app("other")], clock: clock, queue: queue, isStarted: false)
  }

  /// Collects the answers, by number.
  private final class Answers: Sendable {
    private let answers = Monitor<[Int: Result<IngestContext.Outcome, StoreFault>]>([:])

    func record(_ number: Int) -> @Sendable (Result<IngestContext.Outcome, StoreFault>) -> Void {
      { [answers] result in answers.update { $0[number] = result } }
    }

    func wait(_ count: Int) -> [Int: Result<IngestContext.Outcome, StoreFault>] {
      answers.wait(until: soon()) { $0.count >= count ? $0 : nil } ?? answers.withLock { $0 }
    }

    var count: Int { answers.withLock { $0.count } }
  }

  private static func value(_ bench: Bench, _ name: String) -> String? {
    var text = MetricsText()
    bench.metrics.write(to: &text)
    return ScrapedText(text.text).value(name)
  }

  @Test func `When a command is answered, another connection can read its data (R1)`() throws {
    let bench = try Self.bench()
    let other = Monitor(try StoreReader(path: bench.path))
    let seen = Monitor<[Bool]>([])
    for number in 1...50 {
      let isQueued = bench.committer.submit(bench.context(number), from: .external(app: "shop")) { result in
        // A context that cannot be read was answered too early.
        let id = try? result.get().stored?.id
        let found = other.withLock { reader in id.flatMap { try? reader.context(id: $0) } }
        seen.update { $0.append(found != nil) }
      }
      #expect(isQueued)
    }
    try bench.committer.start()
    bench.committer.stop()
    #expect(seen.withLock { $0 } == Array(repeating: true, count: 50))
  }

  @Test func `All waiting commands share one commit, up to its maximum`() throws {
    let bench = try Self.bench(queue: 10_000, clock: ManualClock())
    let answers = Answers()
    for number in 1...100 {
      #expect(
        bench.committer.submit(bench.context(number), from: .internal, completion: answers.record(number)))
    }
    #expect(bench.committer.depth == 100)
    try bench.committer.start()
    #expect(answers.wait(100).count == 100)
    bench.committer.stop()
    #expect(Self.value(bench, "receiptd_commit_batch_count") == "1")
    #expect(Self.value(bench, "receiptd_commit_batch_sum") == "100")
    #expect(Self.value(bench, "receiptd_commit_statements_total").flatMap(Int.init) ?? 0 > 100)
    #expect(Self.value(bench, "receiptd_commit_pages_total").flatMap(Int.init) ?? 0 > 0)

    let flooded = try Self.bench(queue: 10_000, clock: ManualClock())
    let count = Committer.batchMax + 1
    for number in 1...count {
      _ = flooded.committer.submit(flooded.context(number), from: .internal) { _ in }
    }
    try flooded.committer.start()
    flooded.committer.stop()
    #expect(Self.value(flooded, "receiptd_commit_batch_count") == "2")
    #expect(try flooded.reader.contexts(ContextFilter(), now: flooded.now, limit: 10_000).count == count)
  }

  @Test func `A commit that takes long ends early, and the remaining commands follow in order`() throws {
    let clock = ManualClock()
    let bench = try Self.bench(clock: clock)
    let answered = Monitor<[Int]>([])
    for number in 1...100 {
      let isQueued = bench.committer.submit(Slow(clock: clock), from: .internal) { _ in
        answered.update { $0.append(number) }
      }
      #expect(isQueued)
    }
    try bench.committer.start()
    bench.committer.stop()
    #expect(answered.withLock { $0 } == Array(1...100))
    // After 16 commands the time is up.
    #expect(Self.value(bench, "receiptd_commit_batch_count") == "7")
    #expect(Self.value(bench, "receiptd_commit_batch_sum") == "100")
  }

  @Test(
    "A full queue refuses requests, leaves room for other apps, and accepts inside commands (R8, R11)"
  )
  func refusals() throws {
    let bench = try Self.bench(queue: 10)
    let answers = Answers()
    func submit(_ number: Int, _ origin: Committer.Origin) -> Bool {
      bench.committer.submit(bench.context(number), from: origin, completion: answers.record(number))
    }
    for number in 1...5 { #expect(submit(number, .external(app: "shop"))) }
    #expect(bench.committer.refusal(for: "shop") == .busy)
    #expect(bench.committer.refusal(for: "other") == nil)
    #expect(!submit(6, .external(app: "shop")))
    #expect(bench.committer.hasRoom)
    for number in 7...11 { #expect(submit(number, .external(app: "other"))) }
    #expect(!bench.committer.hasRoom)
    #expect(!submit(12, .external(app: "third")))
    for number in 13...30 { #expect(submit(number, .internal)) }
    #expect(bench.committer.depth == 28)
    try bench.committer.start()
    let answered = answers.wait(28)
    #expect(answered[6] == nil)
    #expect(answered[12] == nil)
    #expect(answered.count == 28)
    #expect(bench.committer.refusal(for: "shop") == nil)
    #expect(submit(31, .external(app: "shop")))
    bench.committer.stop()
    #expect(answers.count == 29)
  }

  @Test func `Inside commands take room from requests, but not from an app's share`() throws {
    let bench = try Self.bench(queue: 4)
    for number in 1...3 { #expect(bench.committer.submit(bench.context(number), from: .internal) { _ in }) }
    #expect(bench.committer.submit(bench.context(4), from: .external(app: "shop")) { _ in })
    #expect(!bench.committer.submit(bench.context(5), from: .external(app: "other")) { _ in })
    // A queue of capacity 1 accepts one request.
    let narrow = try Self.bench(queue: 1)
    #expect(narrow.committer.submit(narrow.context(1), from: .external(app: "shop")) { _ in })
    #expect(!narrow.committer.submit(narrow.context(2), from: .external(app: "shop")) { _ in })
  }

  @Test func `A stop stores and answers all waiting commands, and accepts no more (R1)`() throws {
    let bench = try Self.bench(queue: 10_000)
    let answers = Answers()
    for number in 1...2500 {
      #expect(
        bench.committer.submit(bench.context(number), from: .internal, completion: answers.record(number)))
    }
    try bench.committer.start()
    bench.committer.stop()
    #expect(answers.count == 2500)
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10_000).count == 2500)
    for origin in [Committer.Origin.internal, .external(app: "shop")] {
      #expect(
        !bench.committer.submit(bench.context(1), from: origin) { _ in Issue.record("it was answered") })
    }
    #expect(!bench.committer.hasRoom)
    #expect(bench.committer.refusal(for: "shop") == .stopping)
  }

  @Test func `A failed command affects no other, and its fault is reported until a batch succeeds`() throws {
    let bench = try Self.bench()
    let answers = Answers()
    let failed = Monitor<[StoreFault]>([])
    for number in 1...10 {
      #expect(
        bench.committer.submit(bench.context(number), from: .internal, completion: answers.record(number)))
      guard number % 5 == 0 else { continue }
      _ = bench.committer.submit(Failing(), from: .internal) { result in
        if case .failure(let error) = result { failed.update { $0.append(error) } }
      }
    }
    try bench.committer.start()
    let answered = answers.wait(10)
    let errors = failed.wait(until: soon()) { $0.count == 2 ? $0 : nil }
    #expect(errors == [Failing.error, Failing.error])
    for answer in answered.values {
      let id = try #require(try answer.get().stored).id
      #expect(try bench.reader.context(id: id) != nil)
    }
    #expect(answered.count == 10)
    _ = try bench.store(bench.context(11))
    _ = try bench.store(bench.context(12))
    #expect(bench.committer.fault == nil)
    #expect(throws: Failing.error) { try bench.store(Failing()) }
    // The fault is recorded after the batch, which only the next batch shows.
    bench.committer.stop()
    #expect(bench.committer.fault == Failing.error)
  }

  @Test func `The duration of a batch can be read while it is under way`() throws {
    let bench = try Self.bench()
    try bench.committer.start()
    #expect(bench.committer.busyTime(now: .now()) == .zero)
    let gate = Gate()
    #expect(bench.committer.submit(gate, from: .internal) { _ in })
    #expect(gate.isReached.wait(until: soon()) { $0 ? true : nil } == true)
    let later = MonotonicInstant.now().advanced(by: .seconds(60))
    #expect((Duration.seconds(60)..<Duration.seconds(90)).contains(bench.committer.busyTime(now: later)))
    // A submit does not block meanwhile.
    #expect(bench.committer.submit(bench.context(1), from: .external(app: "shop")) { _ in })
    gate.isOpen.update { $0 = true }
    bench.committer.stop()
    #expect(bench.committer.busyTime(now: .now()) == .zero)
    #expect(bench.committer.depth == 0)
  }

  @Test func `Concurrent commands are all answered, each with its own result`() throws {
    let bench = try Self.bench(queue: 100_000)
    try bench.committer.start()
    let answers = Answers()
    let committer = bench.committer
    let contexts = (0..<4).map { part in (0..<250).map { bench.context(part * 250 + $0) } }
    let threads = try contexts.enumerated().map { part, contexts in
      try WorkerThread(name: "requests-\(part)") {
        for (position, context) in contexts.enumerated() {
          let number = part * 250 + position
          _ = committer.submit(context, from: .external(app: "shop"), completion: answers.record(number))
        }
      }
    }
    for thread in threads { thread.join() }
    let answered = answers.wait(1000)
    bench.committer.stop()
    for (part, contexts) in contexts.enumerated() {
      for (position, context) in contexts.enumerated() {
        #expect(try answered[part * 250 + position]?.get().stored?.id == context.id)
      }
    }
  }
}
