// Decisions about receipts while a job with them runs: the later decision wins (R3).

import Domain
import Store
import TestSupport
import Testing

@Suite("Jobs and decisions while they run", .everyEngine)
struct JobDecisionTests {
  @Test func `A receipt that an operator cancels while a paced job runs stays cancelled (R3)`() throws {
    let jobs = try JobStore(failed: 3)
    let job = try jobs.start(rate: 1)
    try jobs.run(job)
    let last = try #require(try jobs.store.receipts().last?.receipt?.id)
    #expect(try jobs.store.apply(CancelReceipt(id: last, note: "refunded")) == .done)
    for _ in 0..<3 {
      jobs.store.advance(1000)
      try jobs.run(job)
    }
    let running = try jobs.current(job)
    #expect(running.count(.released) == 2)
    #expect(running.count(.skipped) == 1)
    #expect(running.missed.first { $0.outcome == .skipped }?.reason == "is_cancelled")
    #expect(try jobs.states() == ["pending", "pending", "cancelled"])
  }

  @Test func `A receipt delivered meanwhile is not sent twice, also with --force (R3)`() throws {
    let jobs = try JobStore(failed: 2)
    let job = try jobs.start(force: true, rate: 1)
    try jobs.run(job)
    let other = try #require(try jobs.store.receipts().last?.receipt?.id)
    _ = try jobs.store.apply(ReplayReceipt(id: other, force: false, dueAt: jobs.store.now))
    try jobs.deliver()
    jobs.store.advance(10_000)
    let done = try jobs.run(job)
    #expect(done.count(.delivered) == 1)
    #expect(done.count(.skipped) == 1)
    #expect(done.state == .done)
    #expect(try jobs.states() == ["delivered", "delivered"])
  }

  @Test(
    "A job by ids leaves alone a receipt that was cancelled or delivered since (R3)",
    arguments: [ReceiptState.cancelled, .delivered])
  func decidedSince(state: ReceiptState) throws {
    let jobs = try JobStore(failed: 2)
    let ids = try jobs.store.receipts().compactMap(\.receipt?.id)
    let request = JobRequest(source: .ids(count: 2), force: true, ratePerSecond: 1, actor: "ann")
    let job = try jobs.store.apply(StartJob(request))
    #expect(try jobs.store.apply(ExtendJob(job: job.id, from: nil, to: "0", receipts: ids, isLast: true)))
    jobs.store.advance(1)
    try jobs.run(job)
    let planned = try #require(try jobs.store.receipts().first { $0.receipt?.state == .failed }?.receipt?.id)
    switch state {
    case .cancelled: _ = try jobs.store.apply(CancelReceipt(id: planned, note: "refunded"))
    default:
      _ = try jobs.store.apply(ReplayReceipt(id: planned, force: false, dueAt: jobs.store.now))
      try jobs.deliver()
    }
    jobs.store.advance(5000)
    let after = try jobs.run(job)
    #expect(after.count(.skipped) == 1)
    #expect(try jobs.store.reader.receipt(id: planned)?.receipt?.state == state)
  }

  @Test(arguments: [false, true])
  func `Two replays of one group at the same time send each receipt once`(force: Bool) throws {
    let jobs = try JobStore(failed: 4)
    let first = try jobs.start(force: force, rate: 1)
    let second = try jobs.start(force: force, rate: 1)
    var sent = 0
    for _ in 0..<5 {
      for job in [first, second] { try jobs.run(job) }
      sent += try jobs.store.reader.dueRows(app: "ios", now: jobs.store.now, limit: 10).count
      try jobs.deliver()
      jobs.store.advance(1000)
    }
    let done = [try jobs.run(first), try jobs.run(second)]
    #expect(done.map(\.state) == [.done, .done])
    #expect(sent == 4)
    #expect(done.reduce(0) { $0 + $1.count(.delivered) } == 4)
    // The second was prepared after the first had released one, which it therefore did not choose.
    #expect(done.reduce(0) { $0 + $1.count(.skipped) } == 3)
    #expect(Set(done.flatMap(\.missed).compactMap(\.reason)).isSubset(of: ["delivered", "is_pending"]))
    #expect(try jobs.states() == Array(repeating: "delivered", count: 4))
  }

  @Test func `A paused job without remaining receipts ends`() throws {
    let jobs = try JobStore(failed: 2)
    let job = try jobs.start()
    try jobs.run(job)
    guard case .done(_, true) = try jobs.store.apply(ChangeJob(id: job.id, .pause)) else {
      Issue.record("it cannot be paused")
      return
    }
    try jobs.deliver()
    let done = try jobs.run(job)
    #expect(done.state == .done)
    #expect(done.endedAt != nil)
    #expect(try jobs.store.reader.openJobs() == [])
  }
}
