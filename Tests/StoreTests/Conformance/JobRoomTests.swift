// Tests how many receipts a job releases: for each app no more than its deliveries have room for.

import Domain
import Store
import TestSupport
import Testing

@Suite("What a job releases", .everyEngine)
struct JobRoomTests {
  /// Failed receipts of two apps whose rules allow `window` replays to be due.
  private static func jobs(failed: Int = 12, window: Int = 5) throws -> JobStore {
    let jobs = try JobStore(failed: failed)
    let rules = AppRules(
      join: JoinPolicy(), processors: .stripe, replayWindow: window, compose: TestStore.compose)
    jobs.store.writer.use(rules: ["ios": rules, "web": rules])
    jobs.windows = ["ios": window, "web": window]
    return jobs
  }

  /// Pauses the deliveries of one app for a minute.
  private static func pause(_ jobs: JobStore) throws {
    let breaker = Breaker(
      state: .paused, probeAt: jobs.store.after(minute), since: jobs.store.now, cause: .status(403))
    try jobs.store.apply(SaveBreaker(app: "ios", breaker: breaker))
  }

  @Test func `A job without a rate releases no more receipts than can be under way`() throws {
    let jobs = try Self.jobs()
    let job = try jobs.start()
    for round in 0..<3 {
      let running = try jobs.run(job)
      #expect(running.count(.released) == (round < 2 ? 5 : 2), "round \(round)")
      #expect(try jobs.store.reader.replaysDue(app: "ios", now: jobs.store.now, limit: 99) <= 5)
      var work = JobWork(job: job.row, windows: jobs.windows)
      guard case .wait = try work.next(jobs.store.reader, now: jobs.store.now) else {
        Issue.record("a full window is a reason to wait")
        return
      }
      try jobs.deliver()
    }
    #expect(try jobs.run(job).state == .done)
    #expect(try jobs.store.reader.integrityFaults() == [])
  }

  @Test func `The room also bounds a job whose rate is faster than the destination`() throws {
    let jobs = try Self.jobs()
    let job = try jobs.start(rate: 50)
    for _ in 0..<100 {
      try jobs.run(job)
      jobs.store.advance(20)
    }
    #expect(try jobs.current(job).count(.released) == 5)
  }

  @Test("Receipts that wait for their next attempt leave room, so a failing receipt delays no job")
  func waitingReceiptsLeaveRoom() throws {
    let jobs = try Self.jobs()
    let job = try jobs.start()
    try jobs.run(job)
    try jobs.deliver(.retry(at: jobs.store.after(day), spent: true))
    #expect(try jobs.run(job).count(.released) == 10)
  }

  @Test func `While its app is paused, a job releases nothing and names the app`() throws {
    let jobs = try Self.jobs()
    for number in 0..<3 { try jobs.purchase("web\(number)", .failed(.status(422)), status: 422, app: "web") }
    let job = try jobs.start()
    try Self.pause(jobs)
    let running = try jobs.run(job)
    #expect(running.count(.released) == 3, "the other app's are not held up (R11)")
    #expect(try jobs.store.reader.holds(running, now: jobs.store.now).map(\.app) == ["ios"])
    _ = try jobs.store.apply(SaveBreaker(app: "ios", breaker: Breaker()))
    #expect(try jobs.run(job).count(.released) == 8)
    #expect(try jobs.store.reader.holds(jobs.current(job), now: jobs.store.now).isEmpty)
  }

  @Test("A job skips the receipts of a paused app that was removed from the configuration (R4)")
  func withoutItsApp() throws {
    let jobs = try Self.jobs()
    for number in 0..<3 { try jobs.purchase("web\(number)", .failed(.status(422)), status: 422, app: "web") }
    let job = try jobs.start()
    try Self.pause(jobs)
    #expect(try jobs.run(job).count(.planned) == 12, "they wait for their app")

    let web = AppRules(join: JoinPolicy(), processors: .stripe, replayWindow: 5, compose: TestStore.compose)
    jobs.store.writer.use(rules: ["web": web])
    jobs.windows = ["web": 5]
    let running = try jobs.run(job)
    #expect(running.missed == [JobCount(outcome: .skipped, reason: "app", count: 12)])
    #expect(running.count(.released) == 3)
    #expect(running.count(.planned) == 0)
    #expect(try jobs.store.reader.holds(running, now: jobs.store.now).isEmpty)
    for due in try jobs.store.reader.due(app: "web", now: jobs.store.now, limit: 10) {
      try jobs.end(due.id, .delivered(importID: nil))
    }
    #expect(try jobs.run(job).state == .done)
    #expect(try jobs.store.reader.openJobs().isEmpty, "nobody looks at it any more")
    #expect(try jobs.states().filter { $0 == "failed" }.count == 12, "as they were")
    #expect(try jobs.store.reader.integrityFaults() == [])
  }

  @Test func `A held job releases one receipt as the probe when the app has no other due receipt`() throws {
    let jobs = try Self.jobs()
    let job = try jobs.start()
    let breaker = Breaker(state: .open, probeAt: jobs.store.now, since: jobs.store.now, cause: .status(503))
    _ = try jobs.store.apply(SaveBreaker(app: "ios", breaker: breaker))
    #expect(try jobs.run(job).count(.released) == 1)
    jobs.store.advance(hour)
    #expect(try jobs.run(job).count(.released) == 1, "one at a time")
  }

  @Test func `A cancellation delivers nothing, so it does not wait for room`() throws {
    let jobs = try Self.jobs()
    try Self.pause(jobs)
    let job = try jobs.run(try jobs.start(.cancel))
    #expect(job.state == .done)
    #expect(job.count(.cancelled) == 12)
  }

  @Test func `New receipts are due before replays, however overdue those are`() throws {
    let jobs = try Self.jobs(failed: 2)
    try jobs.run(try jobs.start())
    jobs.store.advance(hour)
    try jobs.purchase("new", nil)
    let reader = jobs.store.reader
    let new = try reader.dueRows(
      AppDestination("ios", "purchasely"), isReplay: false, now: jobs.store.now, limit: 10)
    #expect(new.count == 1)
    #expect(try reader.dueRows(app: "ios", now: jobs.store.now, limit: 1) == new)
    #expect(
      try reader.dueRows(AppDestination("ios", "purchasely"), isReplay: true, now: jobs.store.now, limit: 10)
        .count == 2)
    // A receipt that has ended is not a replay any more.
    try jobs.deliver()
    #expect(try jobs.store.receipts().allSatisfy { $0.receipt?.isReplay == false })
  }
}
