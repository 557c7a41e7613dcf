// Pauses of apps in the store: what counts against a receipt, and steps of the clock.

import Domain
import Platform
import Store
import Testing

@Suite("Pauses of apps", .everyEngine)
struct PauseTests {
  private static func pause(_ store: TestStore, for time: Duration? = nil, app: AppSlug = "ios") throws {
    try store.apply(PauseApp(app: app, for: time, actor: "ann", reason: "flood"))
  }

  /// The time that counts as paused at the start of the receipt's retries.
  private static func pausedBase(_ store: TestStore, _ number: String) throws -> Duration {
    var filter = ReceiptFilter()
    filter.objectID = ObjectID("sub_\(number)")
    return try #require(try store.reader.receipts(filter, limit: 1).first?.receipt?.pausedBase)
  }

  @Test func `A pause and its end are stored, with who and why`() throws {
    let store = try TestStore()
    try Self.pause(store, for: .seconds(3600))
    try store.reopen()
    let pause = try #require(try store.reader.pauses()["ios"])
    #expect(pause.since == store.now)
    #expect(pause.until == store.after(hour))
    #expect(pause.actor == "ann")
    #expect(pause.reason == "flood")
    #expect(try store.reader.pause(of: "ios") == pause)
    #expect(try store.reader.pauses()["web"] == nil)
    #expect(try store.reader.pause(of: "web") == AppPause())
    store.advance(minute)
    let ended = try store.apply(ResumeApp(app: "ios"))
    #expect(ended?.reason == "flood")
    #expect(try store.apply(ResumeApp(app: "ios")) == nil, "it is over")
    #expect(try store.reader.pauses()["ios"]?.pausedTime(now: store.after(day)) == .seconds(60))
  }

  @Test("A receipt that is replayed after a pause starts with the time that was paused before it")
  func base() throws {
    let jobs = try JobStore(failed: 0)
    let store = jobs.store
    try Self.pause(store, for: .seconds(60))
    store.advance(hour)
    let id = try jobs.purchase("1", .failed(.status(422)), status: 422)
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try Self.pausedBase(store, "1") == .seconds(60))
    try Self.pause(store)
    store.advance(minute)
    try store.apply(ResumeApp(app: "ios"))
    try jobs.deliver(.failed(.status(422)))
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try Self.pausedBase(store, "1") == .seconds(120))
  }

  @Test func `Another program's pause counts in the next transaction`() throws {
    let jobs = try JobStore(failed: 0)
    let store = jobs.store
    let id = try jobs.purchase("1", .failed(.status(422)), status: 422)
    let other = try store.engine.openWriter(rules: TestStore.rules, random: SeededGenerator(seed: 9))
    _ = try other.apply(PauseApp(app: "ios", for: .seconds(60), actor: "ann", reason: nil), now: store.now)
    store.advance(hour)
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try Self.pausedBase(store, "1") == .seconds(60))
  }

  @Test(arguments: [-day, hour])
  func `After a step of the clock a pause has the same length left`(milliseconds: Int64) throws {
    let store = try TestStore()
    try Self.pause(store, for: .seconds(60))
    store.advance(20 * second)
    store.advance(milliseconds)
    _ = try store.apply(FollowClock(step: .milliseconds(milliseconds)))
    let pause = try #require(try store.reader.pauses()["ios"])
    #expect(pause.isActive(now: store.after(39 * second)))
    #expect(!pause.isActive(now: store.after(40 * second)))
  }

  @Test func `A pause of a clock that ran ahead begins at the start, with its length`() throws {
    let store = try TestStore()
    store.advance(day)
    try Self.pause(store, for: .seconds(60))
    store.advance(-day)
    _ = try store.apply(FollowClock(step: nil))
    let pause = try #require(try store.reader.pauses()["ios"])
    #expect(pause.since == store.now)
    #expect(pause.until == store.after(minute))
  }

  @Test func `A job releases nothing of a paused app, and says why; other apps go on (R11)`() throws {
    let jobs = try JobStore(failed: 3)
    for number in 0..<2 { try jobs.purchase("web\(number)", .failed(.status(422)), status: 422, app: "web") }
    jobs.windows = ["ios": 10, "web": 10]
    let job = try jobs.start()
    try Self.pause(jobs.store, for: .seconds(60))
    let running = try jobs.run(job)
    #expect(running.count(.released) == 2)
    guard case .pause("ios", let pause) = try jobs.store.reader.holds(running, now: jobs.store.now).first
    else {
      Issue.record("the pause is why it does not move")
      return
    }
    #expect(pause.actor == "ann")
    jobs.store.advance(minute)
    #expect(try jobs.run(job).count(.released) == 5)
  }

  @Test func `A job's rate can be changed while it runs or is paused, and not after its end`() throws {
    let jobs = try JobStore(failed: 20)
    jobs.windows = ["ios": 100, "web": 100]
    let job = try jobs.start(rate: 0.001)
    #expect(try jobs.run(job).count(.released) == 1)
    jobs.store.advance(second)
    let changed = try jobs.store.apply(ChangeJob(id: job.id, .rate(5)))
    guard case .done(let faster, isChanged: true) = changed else {
      Issue.record("a running job takes a rate")
      return
    }
    #expect(faster.request.ratePerSecond == 5)
    #expect(try jobs.store.apply(ChangeJob(id: job.id, .rate(5))) == .done(faster, isChanged: false))
    for _ in 0..<9 {
      try jobs.run(job)
      jobs.store.advance(200)
    }
    #expect(try jobs.current(job).count(.released) == 10)
    _ = try jobs.store.apply(ChangeJob(id: job.id, .pause))
    _ = try jobs.store.apply(ChangeJob(id: job.id, .rate(nil)))
    #expect(try jobs.current(job).request.ratePerSecond == nil)
    _ = try jobs.store.apply(ChangeJob(id: job.id, .resume))
    #expect(try jobs.run(job).count(.released) == 20)
    try jobs.deliver()
    #expect(try jobs.run(job).state == .done)
    #expect(try jobs.store.apply(ChangeJob(id: job.id, .rate(1))) == .notAllowed(.done))
  }

  @Test("A request to retry now ends what breakers wait for, makes retries due, and keeps a pause")
  func retryNow() throws {
    let jobs = try JobStore(failed: 0)
    let store = jobs.store
    let later = store.after(day)
    _ = try jobs.purchase("1", .retry(at: later, spent: true), status: 429)
    let place = AppDestination("ios", "purchasely")
    try store.apply(SaveBreaker(place, Breaker(restUntil: later)))
    let other = AppDestination("web", "purchasely")
    try store.apply(SaveBreaker(other, Breaker(restUntil: later)))
    #expect(try store.apply(RetryNow(app: "ios")))
    #expect(try store.reader.breakers()[place]?.restUntil == nil)
    #expect(try store.reader.breakers()[other]?.restUntil == later)
    #expect(try store.reader.dueRows(place, isReplay: false, now: store.now, limit: 9).count == 1)
    #expect(try store.reader.pauses()["ios"]?.retryAt == store.now)
    #expect(try store.reader.pauses()["ios"]?.since == nil, "no pause, also not one of no length")
    #expect(try store.reader.pauses()["ios"]?.until == nil)
    #expect(try !store.apply(RetryNow(app: "ios")), "nothing waited any more")
    try Self.pause(store)
    try store.apply(RetryNow(app: "ios"))
    #expect(try store.reader.pauses()["ios"]?.isActive(now: store.now) == true)
  }

  @Test func `Of the due receipts, those that became due last are read first, with their prices`() throws {
    let jobs = try JobStore(failed: 0)
    let store = jobs.store
    for number in 1...3 {
      _ = try jobs.purchase("\(number)", .retry(at: store.after(second), spent: true), status: 503)
    }
    let place = AppDestination("ios", "purchasely")
    let found = try store.reader.newestDue(place, isReplay: false, now: store.now, limit: 2)
    let oldest = try store.reader.dueRows(place, isReplay: false, now: store.now, limit: 9)
    #expect(oldest.count == 3)
    #expect(found.map(\.row) == Array(oldest.reversed().prefix(2)))
    #expect(found.allSatisfy { $0.price != nil })
    let middle = try #require(try store.receipts().first { $0.rowID == oldest[1] }?.receipt?.id)
    try jobs.end(middle, .failed(.status(422)), status: 422)
    #expect(try Set(store.reader.pending(among: oldest).map(\.row)) == [oldest[0], oldest[2]])
  }
}
