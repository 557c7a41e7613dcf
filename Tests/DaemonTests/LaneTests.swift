// When one app's lane may start receipts. No thread, no clock, no I/O.

import Domain
import Formats
import HTTPClient
import Platform
import Testing

@testable import Daemon
@testable import Service
@testable import Store

@Suite("A lane") struct LaneTests {
  private static let delivered = Verdict.delivered(importID: nil)
  private static let down = Verdict.retry(.status(503), retryAfter: nil)
  private static let refusedKey = Verdict.misconfigured(.status(403))

  @Test func `As many are under way as its concurrency allows, and never one twice (R3)`() throws {
    var bed = try Bed()
    #expect(bed.room == 3)
    #expect(bed.admit(1, 2, 3, 4, 5) == [1, 2, 3])
    #expect(bed.room == 0)
    #expect(bed.wait == nil)
    #expect(bed.lane.underWay == [1, 2, 3])
    #expect(bed.admit(1, 4) == [])
    bed.end(2, Self.delivered)
    #expect(bed.room == 1)
    #expect(bed.wait == 0)
    #expect(bed.admit(1, 3, 4, 5) == [4])
  }

  @Test("Outcomes that are being written leave the destination its places, up to as many again")
  func unwritten() throws {
    var bed = try Bed()
    #expect(bed.admit(1, 2, 3) == [1, 2, 3])
    for row in [1, 2, 3] as [PurchaseRowID] { bed.lane.judge(Self.delivered, row: row, now: bed.now) }
    bed.lane.note(dueAt: bed.now)
    #expect(bed.room == 3)
    #expect(bed.admit(1, 4, 5, 6, 7) == [4, 5, 6])
    bed.lane.judge(Self.delivered, row: 4, now: bed.now)
    #expect(bed.room == 0, "six are not on disk")
    #expect(bed.wait == nil, "six are not on disk")
    #expect(bed.admit(7) == [], "six are not on disk")
    bed.lane.finish(row: 1, next: nil)
    #expect(bed.room == 1)
    #expect(bed.admit(1, 7, 8) == [1])
  }

  @Test("A receipt whose outcome is not on disk is not admitted again, however often it is offered (R3)")
  func unsettled() throws {
    var bed = try Bed()
    #expect(bed.admit(1) == [1])
    bed.lane.judge(Self.down, row: 1, now: bed.now)
    bed.milliseconds = 1_000_000
    bed.lane.note(dueAt: bed.now)
    #expect(bed.admit(1) == [])
    #expect(bed.lane.underWay == [1])
    #expect(bed.room == 3)
    #expect(bed.admit(1, 2, 2) == [2])
    bed.lane.abandon(row: 1)
    #expect(bed.admit(1) == [])
    bed.lane.finish(row: 1, next: nil)
    #expect(bed.admit(1) == [1])
  }

  @Test func `Its rate admits the deliveries of one second at once, and then one after the other`() throws {
    var bed = try Bed(concurrency: 100, rate: 4)
    #expect(bed.admit(1, 2, 3, 4, 5, 6) == [1, 2, 3, 4])
    #expect(bed.room == 0)
    #expect(bed.wait == 250)
    bed.milliseconds = 249
    #expect(bed.room == 0)
    #expect(bed.admit(5, 6) == [])
    bed.milliseconds = 250
    #expect(bed.room > 0)
    #expect(bed.admit(5, 6) == [5])
    bed.milliseconds = 60_000
    #expect(bed.admit(6, 7, 8, 9, 10, 11) == [6, 7, 8, 9])
  }

  @Test func `It rests until a receipt is due; notifications only shorten the rest`() throws {
    var bed = try Bed()
    bed.lane.rest(until: nil)
    #expect(bed.room == 0)
    #expect(bed.wait == nil)
    bed.lane.note(dueAt: Bed.at(500))
    #expect(bed.room == 0)
    #expect(bed.wait == 500)
    bed.lane.note(dueAt: Bed.at(900))
    #expect(bed.wait == 500)
    bed.lane.note(dueAt: Bed.at(200))
    #expect(bed.wait == 200)
    bed.milliseconds = 200
    #expect(bed.room == 3)
    #expect(bed.wait == 0)
    bed.lane.rest(until: Bed.at(-1000))
    #expect(bed.room == 3)
    #expect(bed.wait == 0)
  }

  @Test func `It opens exactly at the configured number of failures in a row`() throws {
    var bed = try Bed()
    #expect(bed.admit(1, 2) == [1, 2])
    bed.end(1, Self.down)
    #expect(bed.room == 2)
    #expect(bed.lane.breaker.state == .closed)
    bed.end(2, Self.delivered)
    #expect(bed.admit(1) == [1])
    bed.end(1, Self.down)
    #expect(bed.lane.breaker.state == .closed)
    #expect(bed.admit(1) == [1])
    bed.end(1, Self.down)
    #expect(bed.lane.breaker.state == .open)
    #expect(bed.room == 0)
    #expect(bed.wait == 100)
  }

  @Test(arguments: [Breaker.State.open, .paused])
  func `While it is stopped, it admits one probe at a time`(state: Breaker.State) throws {
    let breaker = Breaker(state: state, probeAt: Bed.at(50), since: Bed.at(0), cause: .status(503))
    var bed = try Bed(breaker: breaker)
    #expect(bed.room == 0)
    #expect(bed.wait == 50)
    #expect(bed.admit(1) == [])
    bed.milliseconds = 50
    #expect(bed.room == 1)
    #expect(bed.wait == 0)
    #expect(bed.admit(1, 2, 3) == [1])
    #expect(bed.room == 0)
    #expect(bed.admit(2) == [])
    #expect(bed.wait.map { $0 > 0 } == true)
    // Not even much later, while the probe is under way.
    bed.milliseconds = 1_000_000
    #expect(bed.room == 0)
    #expect(bed.admit(2) == [])
    bed.end(1, state == .open ? Self.down : Self.refusedKey)
    #expect(bed.room == 0)
    #expect(bed.wait == 100)
    bed.milliseconds += 100
    #expect(bed.admit(2, 3) == [2])
    bed.end(2, Self.delivered)
    #expect(bed.lane.breaker.state == .closed)
    #expect(bed.room == 3)
    #expect(bed.admit(1, 3, 4, 5) == [1, 3, 4])
  }

  @Test func `After a probe without a verdict another one may go`() throws {
    var bed = try Bed(breaker: Breaker(state: .open, probeAt: Bed.at(0)))
    #expect(bed.admit(1) == [1])
    bed.lane.abandon(row: 1)
    #expect(bed.admit(1, 2) == [2])
  }

  @Test func `A transfer that ends beside a probe does not end the probe`() throws {
    var bed = try Bed()
    #expect(bed.admit(1, 2, 3) == [1, 2, 3])
    bed.end(1, Self.refusedKey)
    bed.milliseconds = 100
    #expect(bed.room == 1)
    #expect(bed.admit(4) == [4])
    bed.end(2, Self.refusedKey)
    bed.milliseconds = 1000
    #expect(bed.room == 0)
    #expect(bed.admit(5) == [])
    bed.end(4, Self.refusedKey)
    bed.milliseconds = 1100
    #expect(bed.admit(5) == [5])
  }

  @Test("A rest that the destination asked for applies to all receipts, and ends automatically")
  func coolDown() throws {
    var bed = try Bed()
    #expect(bed.admit(1, 2) == [1, 2])
    bed.end(1, .coolDown(.status(429), for: .seconds(60)))
    #expect(bed.room == 0)
    #expect(bed.wait == 60_000)
    // A concurrent success does not shorten it.
    bed.end(2, Self.delivered)
    #expect(bed.room == 0)
    #expect(bed.wait == 60_000)
    bed.milliseconds = 59_999
    #expect(bed.room == 0)
    bed.milliseconds = 60_000
    #expect(bed.room == 3)
  }

  @Test("A rest that the destination asked for outlasts a reload that changes nothing about it")
  func reloadWhileResting() throws {
    var bed = try Bed()
    #expect(bed.admit(1) == [1])
    bed.end(1, .coolDown(.status(429), for: .seconds(60)))
    try bed.use(App(Bench.app(delivery: Bench.delivery(rate: 10))))
    #expect(bed.room == 0)
    #expect(bed.wait == 60_000)
    try bed.use(App(Bench.app(key: "another-key")))
    #expect(bed.room == 4)
  }

  @Test func `A transfer that could not start is retried later, and blocks no other until then`() throws {
    var bed = try Bed(concurrency: 1, breaker: Breaker(state: .open, probeAt: Bed.at(0)))
    #expect(bed.admit(1) == [1])
    bed.lane.putBack(row: 1, until: Bed.at(1000))
    #expect(bed.lane.underWay.isEmpty)
    #expect(bed.room == 0)
    #expect(bed.wait == 1000)
    bed.milliseconds = 1000
    #expect(bed.room == 1)
    #expect(bed.admit(1) == [1])
  }

  @Test("A retired lane starts nothing, accepts ended transfers, and resumes with a new configuration")
  func retiring() throws {
    var bed = try Bed()
    #expect(bed.admit(1) == [1])
    bed.lane.retire()
    #expect(bed.room == 0)
    #expect(bed.wait == nil)
    #expect(bed.admit(2) == [])
    bed.end(1, Self.delivered)
    #expect(bed.lane.underWay.isEmpty)
    #expect(bed.room == 0)
    #expect(bed.wait == nil)
    try bed.use(bed.lane.app)
    #expect(bed.room == 3)
  }

  @Test func `A new configuration probes at once, keeps what is under way, and has its own rate`() throws {
    let breaker = Breaker(state: .paused, probeAt: Bed.at(3_600_000), since: Bed.at(0), cause: .status(403))
    var bed = try Bed(rate: 1, breaker: breaker)
    #expect(bed.room == 0)
    let generation = bed.lane.generation
    let app = try App(Bench.app(key: "new", delivery: Bench.delivery(concurrency: 2, rate: 1000)))
    try bed.use(app)
    #expect(bed.lane.generation == generation + 1)
    #expect(bed.room == 1)
    #expect(bed.admit(1, 2) == [1])
    try bed.use(app)
    #expect(bed.lane.underWay == [1])
    #expect(bed.room == 0)
    bed.end(1, Self.delivered)
    #expect(bed.admit(1, 2, 3) == [1, 2])
  }

  @Test("Receipts that always get a 500 do not stop the others: another one is tried at once, and passes")
  func poisoned() throws {
    var bed = try Bed()
    #expect(bed.admit(1, 2) == [1, 2])
    let again = Lane.Due(at: Bed.at(2000), isReplay: false)
    bed.end(1, Self.down, wasAnswered: true, next: again)
    bed.end(2, Self.down, wasAnswered: true, next: again)
    #expect(bed.lane.breaker.state == .open)
    #expect(bed.room == 1, "without waiting for the regular probe")
    #expect(bed.wait == 0)
    #expect(bed.admit(3, 4) == [3], "one at a time")
    #expect(bed.room == 0)
    bed.end(3, Self.delivered)
    #expect(bed.lane.breaker.state == .closed)
    #expect(bed.lane.failures.alone == [1, 2])
    // They fail for good, one at a time, and the breaker stays closed.
    bed.milliseconds = 2000
    #expect(bed.lane.startable([1, 2, 5]) == [1, 5])
    for _ in 0..<5 {
      #expect(bed.admit(1) == [1])
      #expect(bed.lane.startable([2, 5]) == [5])
      bed.end(1, Self.down, wasAnswered: true, next: again)
      #expect(bed.lane.breaker.state == .closed)
    }
    bed.lane.finish(row: 1, next: nil)
    #expect(bed.lane.failures.alone == [2], "it has left the queue")
  }

  @Test func `If no other receipt passes either, the next round begins at the regular time`() throws {
    var bed = try Bed(openFor: .seconds(30))
    let again = Lane.Due(at: Bed.at(2000), isReplay: false)
    #expect(bed.admit(1, 2) == [1, 2])
    bed.end(1, Self.down, wasAnswered: true, next: again)
    bed.end(2, Self.down, wasAnswered: true, next: again)
    for row in [3, 4, 5, 6] as [PurchaseRowID] {
      bed.milliseconds += 10
      #expect(bed.admit(row) == [row])
      bed.end(row, Self.down, wasAnswered: true, next: again)
    }
    bed.lane.note(dueAt: bed.now)
    #expect(bed.room == 0)
    #expect(bed.wait == 30_000)
    bed.milliseconds += 30_000
    #expect(bed.lane.startable([1, 2, 7]) == [7, 1, 2], "the one that has not failed yet goes first")
    #expect(bed.admit(7) == [7])
    bed.end(7, Self.down)
    #expect(bed.room == 0, "the destination was not reached")
  }

  @Test func `While every due receipt was tried in the round, the lane sleeps until the next one`() throws {
    var bed = try Bed(failures: 1, openFor: .seconds(30))
    #expect(bed.admit(1) == [1])
    bed.end(1, Self.down, wasAnswered: true, next: Lane.Due(at: Bed.at(2000), isReplay: false))
    bed.milliseconds = 2000
    #expect(bed.room == 1)
    #expect(bed.lane.failures.another(of: [(1, nil)]) == nil)
    for replays in [false, true] { bed.lane.rest(until: nil, replays: replays) }
    bed.lane.noteHeldBack()
    #expect(bed.wait == 28_000)
    bed.lane.note(dueAt: bed.now)
    #expect(bed.admit(2) == [2], "a new receipt is tried at once")
  }

  @Test("While the destination rests no other receipt is tried, also if its breaker opens meanwhile")
  func restBeforeRound() throws {
    var bed = try Bed(failures: 1, openFor: .seconds(30))
    #expect(bed.admit(1, 2) == [1, 2])
    bed.end(1, .coolDown(.status(429), for: .seconds(60)))
    bed.end(2, Self.down, wasAnswered: true)
    #expect(bed.lane.breaker.state == .open)
    #expect(bed.room == 0)
    #expect(bed.admit(3) == [])
    bed.milliseconds = 60_000
    #expect(bed.admit(3) == [3])
  }

  @Test func `What fails alone has a quarter of the places`() throws {
    var bed = try Bed(concurrency: 8, failures: 3)
    #expect(bed.admit(1, 2, 3, 4) == [1, 2, 3, 4])
    for row in [1, 2, 3] as [PurchaseRowID] {
      bed.end(row, Self.down, wasAnswered: true, next: Lane.Due(at: Bed.at(0), isReplay: false))
    }
    bed.end(4, Self.delivered)
    #expect(bed.lane.failures.alone == [1, 2, 3])
    #expect(bed.lane.startable([1, 2, 3, 5]) == [1, 2, 5])
  }

  @Test func `After a failed read the lane reads again at its time, and sleeps until then`() throws {
    var bed = try Bed()
    bed.lane.readsAgainAt = bed.monotonic.advanced(by: .seconds(1))
    #expect(bed.room == 0)
    #expect(bed.wait == 1000)
    bed.milliseconds = 1000
    #expect(bed.room == 3)
  }

  @Test func `A probe asks for a fresh connection, other deliveries do not`() throws {
    let bed = try Bed()
    let receipt = try #require(Bed.due([1]).first)
    #expect(bed.lane.request(for: receipt, isProbe: true, now: bed.now).wantsFreshConnection)
    #expect(!bed.lane.request(for: receipt, isProbe: false, now: bed.now).wantsFreshConnection)
  }

  @Test("An operator's request to retry ends a day's rest, and is not applied again after a restart")
  func retryNow() throws {
    var bed = try Bed()
    #expect(bed.admit(1) == [1])
    bed.end(1, .coolDown(.status(429), for: .days(1)))
    #expect(bed.room == 0)
    bed.lane.use(AppPause(retryAt: bed.now), now: bed.now)
    #expect(bed.room == 3)
    bed.end(2, .coolDown(.status(429), for: .days(1)))
    bed.lane.use(AppPause(retryAt: bed.now), now: bed.now)
    #expect(bed.room == 0, "it was applied before")
    let resting = Breaker(state: .open, probeAt: Bed.at(9000), restUntil: Bed.at(60_000))
    var restarted = try Bed(breaker: resting, readsPauses: false)
    restarted.lane.use(AppPause(retryAt: bed.now), now: bed.now)
    #expect(restarted.room == 0)
    restarted.lane.use(AppPause(retryAt: Bed.at(1)), now: bed.now)
    #expect(restarted.room == 1, "an open breaker probes at once")
  }
}
