// Tests batches: one transaction for all commands, one command's failure does not affect the others, and what
// is reported afterwards (R1, R8).

import Domain
import TestSupport
import Testing

@testable import Store

/// Makes a change that the store must refuse: a pending receipt without a body.
private struct BreakReceipt: StoreCommand {
  var id: ReceiptID

  func apply(to store: StoreSession) throws(StoreFault) {
    guard let old = try store.purchases.find(receipt: id), let receipt = old.receipt else { return }
    var record = old
    record.receipt = Receipt(id: id, createdAt: receipt.createdAt, state: .pending, reason: nil)
    try store.purchases.update(record, from: old)
  }
}

/// Saves a breaker, and then fails.
private struct BreakAfterBreaker: StoreCommand {
  func apply(to store: StoreSession) throws(StoreFault) {
    try store.breakers.save(
      Breaker(state: .paused, cause: .status(403)), of: AppDestination("ios", "purchasely"))
    throw StoreFault(.misuse, operation: "test", reason: "test")
  }
}

/// Fails with the fault of a database whose disk is gone.
private struct FailAs: StoreCommand {
  var kind: StoreFault.Kind

  func apply(to store: StoreSession) throws(StoreFault) {
    throw StoreFault(kind, operation: "test", reason: "test")
  }
}

private func event(_ n: String, prices: [PriceID] = ["price_1"]) -> IngestEvent {
  IngestEvent(
    app: "ios", processor: "stripe", eventID: "evt_of_\(n)", type: "t", body: [1],
    content: .report(Said.completed(n, user: "u\(n)", prices: prices), keep: true))
}

@Suite("Batches", .everyEngine)
struct WriterTests {
  @Test func `A batch is stored as one, and each is answered once and in order`() throws {
    let store = try TestStore()
    let answers = Answers()
    let batch = (0..<50).map { answers.submission("\($0)", event("\($0)")) }
    let result = store.writer.apply(batch, now: store.now)
    #expect(result.fault == nil)
    #expect(answers.all == (0..<50).map { "\($0): stored" })
    #expect(try store.receipts().count == 50)
    #expect(result.changes.waitUntil == store.after(2 * minute))
    #expect(result.changes.dueAt.isEmpty)
  }

  @Test("A batch that takes long is committed without its last commands, which are not answered")
  func late() throws {
    let store = try TestStore()
    let answers = Answers()
    let batch = (0..<50).map { answers.submission("\($0)", event("\($0)")) }
    let count = StoreWriter.commandsPerClockCheck
    let result = store.writer.apply(batch, now: store.now, limit: BatchLimit { { true } })
    #expect(result.appliedCount == count)
    #expect(answers.all == (0..<count).map { "\($0): stored" })
    #expect(try store.receipts().count == count)
    #expect(store.writer.apply(Array(batch[count...]), now: store.now).appliedCount == 50 - count)
    #expect(answers.all == (0..<50).map { "\($0): stored" })
  }

  @Test func `An empty batch is nothing`() throws {
    let store = try TestStore()
    let result = store.writer.apply([], now: store.now)
    #expect(result.fault == nil)
    #expect(result.changes.isEmpty)
  }

  @Test func `One command that cannot be stored affects no other`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("first", prices: ["price_1"]))
    let id = try #require(try store.only().receipt?.id)
    let answers = Answers()
    let result = store.writer.apply(
      [
        answers.submission("before", event("1")), answers.submission("bad", BreakReceipt(id: id)),
        answers.submission("after", event("2")),
      ], now: store.now)
    #expect(result.fault?.kind == .constraint)
    #expect(answers.all == ["before: stored", "bad: constraint", "after: stored"])
    let states = try store.receipts().map(TestStore.status)
    #expect(states == Array(repeating: "waiting/context", count: 3))
    #expect(result.changes.waitUntil == store.after(2 * minute))
  }

  @Test func `Replays of a batch with a failed command are reported as due`() throws {
    /// A batch with every kind of change.
    func batch(_ store: TestStore, _ more: Submission...) throws -> StoreChanges {
      let answers = Answers()
      try store.post(user: "u1")
      try store.ingest(Said.completed("1", prices: ["price_1"]))
      let id = try #require(try store.only().receipt?.id)
      let source = JobSource.ids(count: 0)
      let job = try store.apply(StartJob(JobRequest(source: source, actor: "ann")))
      try store.post(user: "u3")
      let named = Said.completed("3", user: "u3", prices: ["price_1"])
      let result = store.writer.apply(
        [
          answers.submission("replay", ReplayReceipt(id: id, force: false, dueAt: store.now)),
          answers.submission("new", event("2")),
          answers.submission(
            "due",
            IngestEvent(
              app: "ios", processor: "stripe", eventID: "evt_3", type: "t", body: [1],
              content: .report(named, keep: true))),
          answers.submission("job", ExtendJob(job: job.id, from: nil, to: nil, receipts: [], isLast: true)),
          answers.submission("look-up", event("4", prices: [])),
        ] + more, now: store.now)
      return result.changes
    }
    let whole = try batch(TestStore(rules: Self.asking))
    let answers = Answers()
    let split = try batch(TestStore(rules: Self.asking), answers.submission("bad", BreakAfterBreaker()))
    #expect(answers.all == ["bad: misuse"])
    #expect(whole.replaysDueAt["ios"] != nil)
    #expect(whole.dueAt["ios"] != nil)
    #expect(whole.lookupsDueAt[AppProcessor("ios", "stripe")] != nil)
    #expect(whole.waitUntil != nil)
    #expect(whole.hasJobs)
    #expect(!whole.contextIDs.isEmpty)
    #expect(!whole.transitions.isEmpty)
    #expect(split.replaysDueAt == whole.replaysDueAt)
    #expect(split.dueAt == whole.dueAt)
    #expect(split.lookupsDueAt == whole.lookupsDueAt)
    #expect(split.waitUntil == whole.waitUntil)
    #expect(split.hasJobs)
    #expect(split.contextIDs.count == whole.contextIDs.count)
    #expect(split.transitions.count == whole.transitions.count)
  }

  private static let asking: [AppSlug: AppRules] = [
    "ios": AppRules(join: JoinPolicy(settle: .zero), processors: .askedStripe, compose: TestStore.compose)
  ]

  @Test func `A command that fails alone gets its error and stores nothing`() throws {
    let store = try TestStore()
    let answers = Answers()
    let result = store.writer.apply([answers.submission("bad", BreakAfterBreaker())], now: store.now)
    #expect(answers.all == ["bad: misuse"])
    #expect(result.fault?.kind == .misuse)
    #expect(result.changes.isEmpty)
    #expect(throws: StoreFault(.misuse, operation: "test", reason: "test")) {
      try store.apply(BreakAfterBreaker())
    }
    #expect(try store.reader.breakers().isEmpty)
  }

  @Test func `A failed command's cached breaker is dropped with it`() throws {
    let store = try TestStore()
    let answers = Answers()
    let paused = Breaker(state: .paused, cause: .status(403))
    _ = store.writer.apply([answers.submission("bad", BreakAfterBreaker())], now: store.now)
    try store.apply(SaveBreaker(app: "ios", breaker: paused))
    #expect(
      try store.reader.breakers() == [AppDestination("ios", "purchasely"): paused],
      "it is not taken for kept already")
  }

  @Test(
    "When the database fails, all commands fail at once and none is retried alone",
    arguments: [StoreFault.Kind.syncFailed, .busy, .inputOutput, .readOnly, .interrupted])
  func databaseFails(kind: StoreFault.Kind) throws {
    let store = try TestStore()
    let answers = Answers()
    let result = store.writer.apply(
      [answers.submission("one", event("1")), answers.submission("two", FailAs(kind: kind))], now: store.now)
    #expect(result.fault?.kind == kind)
    #expect(result.changes.isEmpty)
    #expect(answers.all == ["one: \(kind.rawValue)", "two: \(kind.rawValue)"])
    #expect(try store.receipts().isEmpty)
  }

  @Test func `Observers learn the due times, changed contexts and the next wait`() throws {
    let store = try TestStore()
    let id = try store.post(user: "u1")
    let answers = Answers()
    var result = store.writer.apply([answers.submission("1", event("1"))], now: store.now)
    #expect(result.changes.contextIDs == [id])
    #expect(result.changes.dueAt == ["ios": store.now])
    #expect(result.changes.waitUntil == nil)
    let receiptID = try store.only().receiptID
    let report = AttemptReport(
      startedAt: store.now, duration: .milliseconds(1), status: 500, error: nil, isAmbiguous: false,
      response: []
    )
    let retry = RecordAttempt(
      of: receiptID, app: "ios", report: report, decision: .retry(at: store.after(7), spent: true))
    result = store.writer.apply([answers.submission("2", retry)], now: store.now)
    #expect(result.changes.dueAt == ["ios": store.after(7)])
    let unrelated = IngestEvent(
      app: "ios", processor: "stripe", eventID: "evt_x", type: "ping", body: [], content: .nothing(.ignored))
    #expect(store.writer.apply([answers.submission("3", unrelated)], now: store.now).changes.isEmpty)
  }

  @Test func `After a clean stop everything is still there (R9)`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    try store.writer.finish()
    try store.reopen()
    #expect(try store.status() == "waiting/context")
    #expect(try store.reader.integrityFaults().isEmpty)
  }

  @Test func `A count that is not the number of receipts is found by the database's check (R4)`() throws {
    let store = try TestStore()
    try store.ingest(.said(prices: ["price_1"]))
    #expect(try store.reader.integrityFaults().isEmpty)
    try store.execute("UPDATE receipt_counts SET count = count + 1")
    #expect(try store.reader.integrityFaults() == ["the count of receipts is wrong: ios, waiting context"])
  }
}
