// Operators' pauses: the dispatcher holds an app's deliveries, and releases them.

import Domain
import Formats
import Platform
import SQLiteStore
import Store
import Testing

@testable import Daemon
@testable import Service

@Suite("Deliveries of a paused app") struct AppPauseDeliveryTests {
  /// Delivers two receipts of another app; afterwards the dispatcher has checked every app since the call.
  private static func lookAround(_ bench: Bench, _ numbers: ClosedRange<Int>) throws {
    for number in numbers {
      try bench.sell(number, app: "other")
      try bench.waitFor(number, .delivered, app: "other")
    }
  }

  private static func pause(_ time: Duration? = nil) -> PauseApp {
    PauseApp(app: "shop", for: time, actor: "ann", reason: "flood")
  }

  @Test func `Nothing is sent until it is resumed, no budget is spent, and other apps go on (R11)`() throws {
    let (destination, other) = (try ScriptedDestination(), try ScriptedDestination())
    let policy = Bench.delivery(giveUpAfter: .milliseconds(200))
    let bench = try Bench([
      Bench.app(url: destination.url, delivery: policy), Bench.app("other", url: other.url),
    ])
    _ = try bench.store(Self.pause())
    for number in 1...3 { try bench.sell(number) }
    try Self.lookAround(bench, 1...2)
    #expect(destination.received.isEmpty)
    // The time to give up passes meanwhile.
    let first = try #require(try bench.receipt(1)?.receipt?.retrySince)
    try bench.waitUntil { bench.now.duration(since: first) > .milliseconds(400) }
    destination.use { $0 <= 3 ? ScriptedDestination.answer(500) : ScriptedDestination.accepted($0) }
    _ = try bench.store(ResumeApp(app: "shop"))
    for number in 1...3 { try bench.waitFor(number, .delivered) }
  }

  @Test func `What is under way is completed, and stored`() throws {
    let (destination, other) = (try ScriptedDestination { _ in nil }, try ScriptedDestination())
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other", url: other.url)])
    try bench.sell(1)
    try destination.waitForHeld(1)
    _ = try bench.store(Self.pause())
    try bench.sell(2)
    destination.use { ScriptedDestination.accepted($0) }
    destination.release()
    try bench.waitFor(1, .delivered)
    try Self.lookAround(bench, 1...2)
    #expect(destination.received.count == 1)
    #expect(try bench.receipt(2)?.receipt?.state == .pending)
  }

  @Test func `A pause with a time ends without an operator, and survives a restart (R9)`() throws {
    let (destination, other) = (try ScriptedDestination(), try ScriptedDestination())
    let apps = [Bench.app(url: destination.url), Bench.app("other", url: other.url)]
    let before = try Bench(apps)
    _ = try before.store(Self.pause(.milliseconds(1500)))
    let until = try #require(try before.reader.pauses()["shop"]?.until)
    try before.sell(1)
    let bench = try before.restarted(apps)
    try bench.waitFor(1, .delivered)
    let attempt = try #require(try bench.attempts(1).first)
    #expect(attempt.startedAt >= until)
    try bench.waitUntil { bench.logText.contains("hold on the deliveries has ended") }
  }

  @Test func `A pause by another program is found without a notification`() throws {
    let (destination, other) = (try ScriptedDestination(), try ScriptedDestination())
    let bench = try Bench([Bench.app(url: destination.url), Bench.app("other", url: other.url)])
    let guest = try StoreWriter(path: bench.path, role: .guest, rules: bench.directory.rules)
    _ = try guest.apply(Self.pause(), now: bench.now)
    bench.dispatcher.checkAll()
    try Self.lookAround(bench, 1...2)
    try bench.sell(1)
    try Self.lookAround(bench, 3...4)
    #expect(destination.received.isEmpty)
    _ = try guest.apply(ResumeApp(app: "shop"), now: bench.now)
    try bench.waitFor(1, .delivered)
  }

  @Test func `A lane of a paused app has no room, not even for a probe, and waits for the end`() throws {
    var bed = try LaneTests.Bed(openFor: .milliseconds(10))
    var pause = AppPause()
    pause.begin(now: bed.now, until: LaneTests.Bed.at(5000), actor: "ann", reason: nil)
    bed.lane.use(pause, now: bed.now)
    #expect(bed.room == 0)
    #expect(bed.wait == 5000)
    #expect(bed.admit(1, 2).isEmpty)
    bed.milliseconds = 4999
    #expect(bed.room == 0)
    #expect(bed.lane.pausedTime(now: bed.now) == .milliseconds(4999))
    bed.milliseconds = 5000
    #expect(bed.room == 3)
    #expect(bed.lane.pausedTime(now: bed.now) == .milliseconds(5000))
    pause.begin(now: bed.now, until: nil, actor: "ann", reason: nil)
    bed.lane.use(pause, now: bed.now)
    #expect(bed.room == 0)
    #expect(bed.wait == nil, "only a notification can change anything")
  }

  @Test func `After a step of the clock a lane is paused for as long as before`() throws {
    var bed = try LaneTests.Bed()
    var pause = AppPause()
    pause.begin(now: bed.now, until: LaneTests.Bed.at(5000), actor: "ann", reason: nil)
    bed.lane.use(pause, now: bed.now)
    let later = bed.now.advanced(by: .hours(1))
    bed.lane.clockStepped(by: .hours(1), now: later)
    #expect(bed.lane.waitTime(now: later, monotonic: bed.monotonic) == .seconds(5))
    #expect(bed.lane.pausedTime(now: later) == .hours(1), "the time that the step skipped, and no more")
  }

  @Test func `A lane has no room before the pause of its app is known`() throws {
    var bed = try LaneTests.Bed(openFor: .milliseconds(10), readsPauses: false)
    #expect(bed.room == 0)
    #expect(bed.wait == nil, "the dispatcher reads the pauses, whatever is due")
    bed.lane.use(AppPause(), now: bed.now)
    #expect(bed.room == 3)
    #expect(bed.wait == 0)
  }
}
