// Work that is due by time.

import Domain
import Formats
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Service
@testable import Upkeep

/// Changes nothing; when it is answered, all earlier commands have been stored.
struct Barrier: StoreCommand {
  func apply(to store: StoreSession) throws(StoreFault) {}
}

@Suite("The housekeeper") struct HousekeeperTests {
  private static let day: Int64 = 86_400_000

  /// For passes of retention without a fault.
  private let unexpected: @Sendable (String, StoreFault) -> Void = { table, error in
    Issue.record("\(table): \(error)")
  }

  @Test func `A wait ends at its time, and not before`() throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .seconds(60)))
    let bench = try Bench([app], clock: clock, isStarted: false)
    try bench.startHousekeeping()
    try bench.buy(1)
    let waiting = try #require(try bench.receipt(1)?.receipt)
    #expect(waiting.state == .waiting)
    #expect(waiting.reason == .context)
    #expect(waiting.waitUntil == bench.now.advanced(by: .seconds(60)))
    clock.advance(.milliseconds(59_999))
    try bench.step(clock)
    try bench.store(Barrier())
    #expect(try bench.receipt(1)?.receipt?.state == .waiting)
    clock.advance(.milliseconds(1))
    bench.housekeeper.checkNow()
    #expect(try bench.waitFor(1, .pending).readyAt == bench.now)
  }

  @Test func `The earliest of several waits counts, whichever was set last`() throws {
    let clock = ManualClock()
    let slow = Bench.app("slow", join: JoinPolicy(waitForContext: .seconds(60)))
    let fast = Bench.app("fast", join: JoinPolicy(waitForContext: .seconds(10)))
    let bench = try Bench([slow, fast], clock: clock, isStarted: false)
    try bench.startHousekeeping()
    try bench.buy(1, app: "slow")
    try bench.buy(1, app: "fast")
    clock.advance(.seconds(10))
    bench.housekeeper.checkNow()
    try bench.waitFor(1, .pending, app: "fast")
    #expect(try bench.receipt(1, app: "slow")?.receipt?.state == .waiting)
    clock.advance(.seconds(50))
    bench.housekeeper.checkNow()
    try bench.waitFor(1, .pending, app: "slow")
  }

  @Test func `Waits that were over while receiptd was down end at the start (R9)`() throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .seconds(60)))
    let before = try Bench([app], clock: clock, isStarted: false)
    try before.committer.start()
    for number in 1...5 { try before.buy(number) }
    before.stop()
    clock.advance(.days(1))
    let bench = try Bench([app], folder: before.folder, clock: clock, isStarted: false)
    try bench.startHousekeeping()
    for number in 1...5 { try bench.waitFor(number, .pending) }
  }

  @Test func `A wait set by another process is found without a notification`() throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .seconds(3)))
    let bench = try Bench([app], clock: clock, isStarted: false)
    try bench.startHousekeeping()
    try bench.step(clock)
    let guest = try StoreWriter(path: bench.path, role: .guest, rules: bench.directory.rules)
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_1"), observations: .paid,
      clientReference: "user-1", prices: ["price_1"], happenedAt: bench.now)
    let event = IngestEvent(
      app: "shop", processor: "stripe", eventID: "evt_1", type: "test", body: [],
      content: .report(report, keep: true))
    #expect(try guest.apply(event, now: bench.now) == .stored(.receipt))
    clock.advance(Dependencies.lookInterval)
    // By the manual clock the sleep is over; the notification only simulates its end.
    try bench.step(clock)
    try bench.waitFor(1, .pending)
  }

  @Test func `Ends of waits that cannot be stored are retried`() throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .seconds(1)))
    let bench = try Bench([app], clock: clock, isStarted: false)
    try bench.startHousekeeping()
    try bench.buy(1)
    let obstacle = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try obstacle.execute(
      "CREATE TRIGGER obstacle BEFORE UPDATE ON purchases BEGIN SELECT RAISE(ABORT, 'not now'); END")
    clock.advance(.seconds(1))
    bench.housekeeper.checkNow()
    let line = try bench.waitForLog("could not end the waits")
    #expect(!line.contains("look at the disk"), "\(line)")
    try obstacle.execute("DROP TRIGGER obstacle")
    clock.advance(Housekeeper.faultPause)
    bench.housekeeper.checkNow()
    try bench.waitFor(1, .pending)
  }

  @Test(
    "Retention deletes from every table in slices, only old rows that have ended (R4)")
  func retention() throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .days(400)))
    let bench = try Bench([app], clock: clock, isStarted: false)
    for number in 1...1200 { _ = bench.committer.submit(bench.context(number), from: .internal) { _ in } }
    try bench.committer.start()
    try bench.buy(2000)
    clock.advance(.days(31))
    for number in 1...7 { try bench.post(3000 + number) }
    let run = RetentionRun(.init(), bench.clock)
    var steps = 0
    while !run.step(bench.committer, now: bench.now, log: bench.log, onFault: unexpected), steps < 100 {
      try bench.store(Barrier())
      steps += 1
    }
    // Three slices of contexts, one of each other table, and one empty slice at the end of each.
    #expect((6..<100).contains(steps))
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10_000).count == 7)
    #expect(try bench.receipt(2000)?.receipt?.state == .waiting)
    #expect(try bench.waitForLog("table=contexts").contains("rows=1200"))
    #expect(try bench.waitForLog("table=events").contains("rows=1"))
  }

  @Test func `One pass deletes all old purchases without a receipt, and ids of deleted ones`() throws {
    let clock = ManualClock()
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    let numbers =
      "WITH RECURSIVE counting (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counting WHERE n < 3210)"
    let now = bench.now.unixMilliseconds
    try file.execute(
      """
      INSERT INTO purchases (app, processor, destination, object_type, object_id, observations, prices,
        prices_of_checkout, happened_at, first_seen_at, updated_at)
      \(numbers) SELECT 'shop', 'stripe', 'purchasely', 'subscription', 'sub_' || n, 16, '',
        0, \(now), \(now), \(now) FROM counting
      """)
    try file.execute(
      """
      INSERT INTO past_purchases (object_id, app, processor, until)
      \(numbers) SELECT 'cs_' || n, 'shop', 'stripe', \(now) FROM counting
      """)
    clock.advance(.days(31))
    try bench.committer.start()
    let run = RetentionRun(.init(), bench.clock)
    var steps = 0
    while !run.step(bench.committer, now: bench.now, log: bench.log, onFault: unexpected), steps < 100 {
      // Other commands are applied after each slice.
      try bench.post(steps)
      steps += 1
    }
    #expect(try file.integer("SELECT count(*) FROM purchases") == 0)
    #expect(try file.integer("SELECT count(*) FROM past_purchases") == 0)
    #expect((14..<100).contains(steps), "no slice takes more than 500 rows")
    #expect(try bench.waitForLog("table=past_purchases").contains("rows=3210"))
    #expect(try bench.waitForLog("purchases without a receipt").contains("rows=3210"))
  }

  @Test(arguments: [Duration.zero, .milliseconds(10)])
  func `A step of the clock keeps no wait from being decided again after a reload`(pause: Duration) throws {
    let clock = ManualClock()
    let app = Bench.app(join: JoinPolicy(waitForContext: .days(60)))
    let bench = try Bench([app], clock: clock, isStarted: false)
    try bench.committer.start()
    clock.setWall(by: .days(1))
    var rounds = Housekeeper.Rounds(clock)
    try bench.buy(1)
    let reloaded = try App(Bench.app(join: JoinPolicy(waitForContext: .hours(1))))
    bench.committer.use(rules: ["shop": reloaded.rules])
    clock.setWall(by: .days(-1))
    bench.housekeeper.reconsider(apps: ["shop"])
    clock.advance(pause)
    for _ in 0..<5 {
      _ = bench.housekeeper.step(&rounds)
      try bench.store(Barrier())
      clock.advance(Housekeeper.slicePause)
    }
    let until = try #require(try bench.receipt(1)?.receipt?.waitUntil)
    #expect(until <= bench.now.advanced(by: .hours(1)))
  }

  /// Begins a pass of retention over 1200 old rows, and goes on with it after a change.
  /// - Returns: how many rows are left.
  private func rowsLeft(_ change: (Housekeeper, ManualClock) -> Void) throws -> Int64? {
    let clock = ManualClock()
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    try bench.committer.start()
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    let now = bench.now.unixMilliseconds
    try file.execute(
      """
      INSERT INTO purchases (app, processor, destination, object_type, object_id, observations, prices,
        prices_of_checkout, happened_at, first_seen_at, updated_at)
      WITH RECURSIVE counting (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counting WHERE n < 1200)
      SELECT 'shop', 'stripe', 'purchasely', 'subscription', 'sub_' || n, 16, '',
        0, \(now), \(now), \(now) FROM counting
      """)
    clock.setWall(by: .days(400))
    var rounds = Housekeeper.Rounds(clock)
    _ = bench.housekeeper.step(&rounds)
    try bench.store(Barrier())
    change(bench.housekeeper, clock)
    for _ in 0..<20 {
      clock.advance(Housekeeper.slicePause)
      _ = bench.housekeeper.step(&rounds)
      try bench.store(Barrier())
    }
    return try file.integer("SELECT count(*) FROM purchases")
  }

  @Test func `A pass of retention that began with a wrong clock ends when the clock is set back`() throws {
    let left = try rowsLeft { _, clock in clock.setWall(by: .days(-400)) }
    #expect(left == 700, "one slice was under way")
  }

  @Test func `A pass of retention deletes nothing more that is to be kept since a reload`() throws {
    let left = try rowsLeft { housekeeper, _ in housekeeper.use(retention: .init(events: .days(800))) }
    #expect(left == 700, "one slice was under way")
  }

  @Test("A table from which nothing can be deleted is reported, and stops the retention of no other")
  func retentionFault() throws {
    let clock = ManualClock()
    let bench = try Bench([Bench.app()], clock: clock, isStarted: false)
    let file = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try file.execute("CREATE TRIGGER refuse BEFORE DELETE ON events BEGIN SELECT raise(ABORT, 'test'); END")
    try bench.committer.start()
    try bench.post(1)
    try bench.buy(2)
    clock.advance(.days(31))
    let faults = Monitor<[String]>([])
    let run = RetentionRun(.init(), bench.clock)
    var steps = 0
    while !run.step(
      bench.committer, now: bench.now, log: bench.log,
      onFault: { table, error in faults.update { $0.append("\(table) \(error.kind)") } }), steps < 100
    {
      try bench.store(Barrier())
      steps += 1
    }
    #expect(faults.withLock { $0 } == ["events constraint"])
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10).isEmpty)
  }

  @Test func `A slice of retention waits for the one before it`() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    let run = RetentionRun(.init(), bench.clock)
    for _ in 0..<5 {
      let isOver = run.step(bench.committer, now: bench.now, log: bench.log, onFault: unexpected)
      #expect(!isOver)
      #expect(bench.committer.depth == 1)
    }
    bench.committer.stop()
  }

  @Test func `A pass of retention ends with the committer`() throws {
    let bench = try Bench([Bench.app()], isStarted: false)
    bench.committer.stop()
    let run = RetentionRun(.init(), bench.clock)
    let isOver = run.step(bench.committer, now: bench.now, log: bench.log, onFault: unexpected)
    #expect(isOver)
  }

  @Test func `Retention starts automatically, and other work continues beside it`() throws {
    let bench = try Bench([Bench.app()], retention: .init(contexts: .milliseconds(1)), isStarted: false)
    for number in 1...1200 { _ = bench.committer.submit(bench.context(number), from: .internal) { _ in } }
    try bench.committer.start()
    try bench.store(Barrier())
    // At the start of the pass even the last contexts are older than their retention.
    let stored = bench.now
    try bench.waitUntil { bench.now.duration(since: stored) > .milliseconds(2) }
    try bench.housekeeper.start()
    try bench.buy(5000)
    #expect(try bench.waitForLog("table=contexts").contains("rows=1200"))
    #expect(try bench.receipt(5000)?.receipt?.state == .pending)
    bench.stop()
    #expect(try bench.reader.contexts(ContextFilter(), now: bench.now, limit: 10).isEmpty)
  }

  @Test func `Retention runs once an hour, and more often for short retention times`() {
    func interval(_ change: (inout Configuration.Retention) -> Void) -> Duration {
      var retention = Configuration.Retention()
      change(&retention)
      return Housekeeper.interval(of: retention)
    }
    #expect(interval { _ in } == .hours(1))
    #expect(interval { $0.events = .hours(6) } == .minutes(36))
    #expect(interval { $0.attempts = .seconds(1) } == .seconds(60))
  }
}
