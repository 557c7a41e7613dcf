// Tests writes that depend on earlier reads: each repeats the values it read in its condition. So a fault of
// this program, or an engine that lets another writer in between, is detected (R4, R5).

import Domain
import TestSupport
import Testing

@testable import Store

/// Gives one context to two purchases, as two writers would that both read it while it was unused.
private struct ClaimTwice: StoreCommand {
  var context: ContextID
  var rows: [PurchaseRowID]

  func apply(to store: StoreSession) throws(StoreFault) {
    let unknown = ContextRecord(
      id: context, app: "ios", userID: "nobody", blob: ContextBlob(text: "", priceID: nil),
      receivedAt: store.now, postedAt: store.now, expiresAt: store.now)
    let read = try store.contexts.find(app: "ios", id: context) ?? unknown
    var joiner = Joiner(store)
    for row in rows { try joiner.claim(read, for: row, from: nil) }
  }
}

/// Changes a receipt based on an outdated read.
private struct ChangeOutdated: StoreCommand {
  var read: PurchaseRecord
  /// Whether to delete it; otherwise it is cancelled.
  var deletes = false

  func apply(to store: StoreSession) throws(StoreFault) {
    guard !deletes else { return try store.purchases.delete(read) }
    var joiner = Joiner(store)
    _ = try joiner.apply(.cancelled(note: "late"), to: read)
  }
}

/// Releases a job's receipt.
private struct Release: StoreCommand {
  var job: JobRowID

  func apply(to store: StoreSession) throws(StoreFault) {
    try store.jobs.set(.released, nil, of: 1, from: .planned, job: job, position: -1)
  }
}

/// Pauses a job based on a read while it was running.
private struct Pause: StoreCommand {
  var job: Job

  func apply(to store: StoreSession) throws(StoreFault) {
    var paused = job
    paused.state = .paused
    try store.jobs.update(paused, from: .running)
  }
}

@Suite("Writes with preconditions", .everyEngine)
struct GuardTests {
  private func fault<Command: StoreCommand>(of command: Command, _ store: TestStore) -> StoreFault? {
    do throws(StoreFault) {
      _ = try store.writer.apply(command, now: store.now)
      return nil
    } catch {
      return error
    }
  }

  /// A context of another user, and two purchases that wait for a context.
  private func two(_ store: TestStore) throws -> (context: ContextID, rows: [PurchaseRowID]) {
    for n in ["1", "2"] { try store.ingest(Said.completed(n, prices: ["price_1"])) }
    return (try store.post(user: "other"), try store.receipts().map(\.rowID))
  }

  @Test func `A context that another purchase has claimed meanwhile cannot be claimed (R5)`() throws {
    let store = try TestStore()
    let (context, rows) = try two(store)
    let fault = fault(of: ClaimTwice(context: context, rows: rows), store)
    #expect(fault?.kind == .constraint)
    #expect(fault?.description == "claim a context: the row changed after it was read")
    #expect(try store.context(context).state == .open, "nothing of the command is kept")
  }

  @Test func `A violated precondition is the error of its command, and affects no other`() throws {
    let store = try TestStore()
    let (context, rows) = try two(store)
    let answers = Answers()
    let event = IngestEvent(
      app: "ios", processor: "stripe", eventID: "evt", type: "t", body: [], content: .nothing(.ignored))
    let result = store.writer.apply(
      [
        answers.submission("before", contextCommand(store, "1")),
        answers.submission("bad", ClaimTwice(context: context, rows: rows)),
        answers.submission("after", event),
      ], now: store.now)
    #expect(answers.all == ["before: stored", "bad: constraint", "after: stored"])
    #expect(result.fault?.kind == .constraint)
  }

  private func contextCommand(_ store: TestStore, _ text: String) -> IngestContext {
    store.contextCommand(text, user: "third")
  }

  @Test func `A claim names the purchase that has the context, if one has it`() throws {
    let store = try TestStore()
    let (context, rows) = try two(store)
    #expect(fault(of: ClaimTwice(context: context, rows: [rows[0]]), store) == nil)
    #expect(fault(of: ClaimTwice(context: context, rows: [rows[1]]), store) == nil, "it was read again")
    #expect(fault(of: ClaimTwice(context: "ctx_unknown", rows: [rows[0]]), store)?.kind == .constraint)
  }

  @Test func `A receipt that changed its state meanwhile is neither changed nor deleted (R4)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(prices: ["price_1"]))
    let waiting = try store.only()
    try store.post()
    #expect(try store.only().receipt?.state == .pending)
    #expect(fault(of: ChangeOutdated(read: waiting), store)?.operation == "change a purchase")
    #expect(fault(of: ChangeOutdated(read: waiting, deletes: true), store)?.operation == "delete a purchase")
    #expect(try store.only().receipt?.state == .pending)
    #expect(fault(of: ChangeOutdated(read: try store.only()), store) == nil)
    #expect(try store.reader.integrityFaults().isEmpty)
  }

  @Test("A job's receipt is processed once, and a job changes only from the state that was read")
  func jobs() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(prices: ["price_1"]))
    let job = try store.apply(StartJob(JobRequest(source: .ids(count: 1), actor: "ann")))
    let id = try store.only().receiptID
    _ = try store.apply(ExtendJob(job: job.id, from: nil, to: nil, receipts: [id], isLast: false))
    #expect(fault(of: Pause(job: job), store)?.operation == "change a job", "it is not running yet")
    #expect(fault(of: Release(job: job.row), store) == nil)
    #expect(fault(of: Release(job: job.row), store)?.kind == .constraint)
  }
}
