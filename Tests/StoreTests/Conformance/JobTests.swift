// Tests that jobs continue after any interruption (R3, R4, R9).

import Domain
import Store
import TestSupport
import Testing

@Suite("Jobs", .everyEngine)
struct JobTests {
  @Test func `A job replays the receipts that matched at its start, records each outcome, and ends`() throws {
    let jobs = try JobStore(failed: 450)
    let job = try jobs.start()
    #expect(job.state == .preparing)
    #expect(job.id.text.hasPrefix("job_"))
    jobs.store.advance(1)
    try jobs.purchase("later", .failed(.gaveUp))
    let running = try jobs.run(job)
    #expect(running.state == .running)
    #expect(running.total == 450)
    #expect(running.count(.released) == 450)
    #expect(try jobs.store.reader.counts().first { $0.state == .pending }?.count == 450)
    let due = try jobs.store.reader.due(app: "ios", now: jobs.store.now, limit: 1000)
    for (index, receipt) in due.enumerated() {
      try jobs.end(receipt.id, index % 3 == 0 ? .failed(.status(400)) : .delivered(importID: nil))
    }
    let done = try jobs.run(job)
    #expect(done.state == .done)
    #expect(done.endedAt == jobs.store.now)
    #expect(done.count(.delivered) == 300)
    #expect(done.count(.failed) == 150)
    #expect(done.missed == [JobCount(outcome: .failed, reason: "http_400", count: 150)])
    #expect(try jobs.store.reader.openJobs() == [])
    #expect(try jobs.store.reader.integrityFaults() == [])
  }

  @Test func `The oldest receipt goes first, and the rate is kept over a restart`() throws {
    let jobs = try JobStore(failed: 5)
    let job = try jobs.start(rate: 2)
    try jobs.run(job)
    #expect(try jobs.states() == ["pending", "failed", "failed", "failed", "failed"])
    jobs.store.advance(499)
    #expect(try jobs.run(job).count(.released) == 1)
    jobs.store.advance(1)
    #expect(try jobs.run(job).count(.released) == 2)
    try jobs.store.reopen()
    jobs.store.advance(hour)
    // After an hour without a runner, the job does not catch up.
    #expect(try jobs.run(job).count(.released) == 3)
    #expect(try jobs.run(job).count(.released) == 3)
    jobs.store.advance(1000)
    #expect(try jobs.run(job).count(.released) == 5)
    try jobs.deliver()
    #expect(try jobs.run(job).state == .done)
  }

  @Test(arguments: [false, true])
  func `A paused job releases nothing; transfers under way continue`(isRestarted: Bool) throws {
    let jobs = try JobStore(failed: 4)
    let job = try jobs.start(rate: 1)
    try jobs.run(job)
    guard case .done(let paused, isChanged: true) = try jobs.store.apply(ChangeJob(id: job.id, .pause)) else {
      Issue.record("not paused")
      return
    }
    #expect(paused.state == .paused)
    if isRestarted { try jobs.store.reopen() }
    jobs.store.advance(hour)
    try jobs.deliver()
    let waiting = try jobs.run(job)
    #expect(waiting.state == .paused)
    #expect(waiting.count(.delivered) == 1)
    #expect(waiting.count(.planned) == 3)
    _ = try jobs.store.apply(ChangeJob(id: job.id, .resume))
    for _ in 0..<3 {
      try jobs.run(job)
      jobs.store.advance(1000)
    }
    try jobs.deliver()
    #expect(try jobs.run(job).state == .done)
  }

  @Test func `A cancelled job does not change the rest, and records released receipts`() throws {
    let jobs = try JobStore(failed: 3)
    let job = try jobs.start(rate: 1)
    try jobs.run(job)
    _ = try jobs.store.apply(ChangeJob(id: job.id, .cancel))
    jobs.store.advance(hour)
    let open = try jobs.run(job)
    #expect(open.state == .cancelled)
    #expect(open.endedAt == nil)
    try jobs.deliver()
    let ended = try jobs.run(job)
    #expect(ended.endedAt != nil)
    #expect(ended.count(.delivered) == 1)
    #expect(ended.count(.planned) == 2)
    #expect(try jobs.states() == ["delivered", "failed", "failed"])
    for change in [ChangeJob.Change.pause, .resume] {
      #expect(try jobs.store.apply(ChangeJob(id: job.id, change)) == .notAllowed(.cancelled))
    }
    #expect(try jobs.store.apply(ChangeJob(id: job.id, .cancel)) == .done(ended, isChanged: false))
  }

  @Test func `A job whose program died while it listed receipts ends automatically`() throws {
    let jobs = try JobStore(failed: 2)
    let source = JobSource.ids(count: 2)
    let job = try jobs.store.apply(StartJob(JobRequest(source: source, actor: "ann")))
    let ids = try jobs.store.receipts().map(\.receiptID)
    #expect(
      try jobs.store.apply(ExtendJob(job: job.id, from: nil, to: "1", receipts: [ids[1]], isLast: false)))
    #expect(try jobs.run(job).state == .preparing)
    jobs.store.advance(minute)
    let ended = try jobs.run(job)
    #expect(ended.state == .cancelled)
    #expect(ended.note != nil)
    #expect(ended.endedAt != nil)
    #expect(
      try !jobs.store.apply(ExtendJob(job: job.id, from: "1", to: "2", receipts: [ids[0]], isLast: true)))
    #expect(try jobs.states() == ["failed", "failed"])
  }

  @Test func `A job leaves the receipts of an app that only another relay knows to that relay`() throws {
    let jobs = try JobStore(failed: 2)
    let job = try jobs.start()
    jobs.store.writer.use(rules: [:])
    var work = JobWork(job: job.row)
    work.isMine = { $0 != "ios" }
    for _ in 0..<9 {
      guard case .apply(let step) = try work.next(jobs.store.reader, now: jobs.store.now) else { break }
      try jobs.store.apply(step)
    }
    #expect(try jobs.current(job).count(.planned) == 2)
    // The other relay does nothing but release them.
    jobs.store.writer.use(rules: TestStore.rules)
    var other = JobWork(job: job.row, windows: jobs.windows)
    other.doesAll = false
    guard case .apply(let step) = try other.next(jobs.store.reader, now: jobs.store.now) else {
      Issue.record("it releases nothing")
      return
    }
    try jobs.store.apply(step)
    #expect(try jobs.current(job).count(.released) == 2)
  }

  @Test("Receipts that changed meanwhile are skipped with a reason; deleted ones are skipped (R3)")
  func changedMeanwhile() throws {
    let jobs = try JobStore(failed: 4)
    let job = try jobs.start(rate: 0.001)
    try jobs.run(job, stepsMax: 1)
    let receipts = try jobs.store.receipts()
    // The receipt was still under way, and was accepted.
    try jobs.end(receipts[1].receiptID, .delivered(importID: nil))
    _ = try jobs.store.apply(
      Retain(table: .receipts, cutoff: jobs.store.after(hour), afterRow: receipts[2].rowID.number - 1))
    for _ in 0..<4 {
      try jobs.run(job)
      jobs.store.advance(1_000_000)
    }
    try jobs.deliver()
    let done = try jobs.run(job)
    #expect(done.state == .done)
    #expect(done.count(.delivered) == 1)
    #expect(done.count(.gone) == 2)
    #expect(done.missed.first { $0.outcome == .skipped }?.reason == "delivered")
  }

  @Test(arguments: [false, true])
  func `A delivered receipt is accepted only with --force (R3)`(isForced: Bool) throws {
    let jobs = try JobStore(failed: 1)
    try jobs.purchase("d", .delivered(importID: nil))
    let job = try jobs.run(try jobs.start(force: isForced) { _ in })
    #expect(job.total == (isForced ? 2 : 1))
    #expect(job.count(.released) == job.total)
  }

  @Test func `Two programs that run one job keep its rate, and process no receipt twice`() throws {
    let jobs = try JobStore(failed: 6)
    let job = try jobs.start(rate: 10)
    var (one, two) = (JobWork(job: job.row), JobWork(job: job.row))
    for _ in 0..<12 {
      let turns = [
        try one.next(jobs.store.reader, now: jobs.store.now),
        try two.next(jobs.store.reader, now: jobs.store.now),
      ]
      for case .apply(let step) in turns { try jobs.store.apply(step) }
      jobs.store.advance(50)
    }
    let job2 = try jobs.current(job)
    #expect(job2.total == 6)
    #expect(job2.count(.released) + job2.count(.planned) == 6)
    // The first is due at once, then one every 100 ms from the end of the preparation.
    #expect(job2.count(.released) == 6)
    #expect(try jobs.store.reader.counts().first { $0.state == .pending }?.count == 6)
  }

  @Test func `Receipts are cancelled and completed in bulk, too`() throws {
    let jobs = try JobStore(failed: 3)
    let job = try jobs.run(try jobs.start(.cancel))
    #expect(job.state == .done)
    #expect(job.count(.cancelled) == 3)
    #expect(job.missed == [])
    #expect(try jobs.store.receipts().allSatisfy { $0.receipt?.note == "why" })
    for number in 0..<3 { try jobs.store.ingest(Said.completed("p\(number)")) }
    jobs.store.advance(30 * day)
    try jobs.store.endWaits()
    let completing = try jobs.run(try jobs.start(.complete, price: "price_9") { $0.reason = "price" })
    #expect(completing.total == 3)
    #expect(completing.count(.released) == 3)
    #expect(try jobs.store.receipts().filter { $0.receipt?.priceID == "price_9" }.count == 3)
  }
}
