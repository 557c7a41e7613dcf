// Tests the breaker's whole table: every state × every verdict, and the time that a pause takes.

import Domain
import Formats
import Testing

private let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let day: Int64 = 86_400_000
private let policy = BreakerPolicy(failures: 3, openFor: .seconds(30))

private let delivered = Verdict.delivered(importID: nil)
private let refused = Verdict.refused(.status(422))
private let down = Verdict.retry(.status(503), retryAfter: nil)
private let wrongKey = Verdict.misconfigured(.status(403))

private func after(_ milliseconds: Int64) -> Timestamp { start.advanced(by: .milliseconds(milliseconds)) }

private func breaker(_ verdicts: (Verdict, at: Int64)..., from first: Breaker = Breaker()) -> Breaker {
  var breaker = first
  for (verdict, moment) in verdicts { breaker.record(verdict, policy: policy, now: after(moment)) }
  return breaker
}

private let opened = breaker((down, at: 0), (down, at: 1), (down, at: 2))
private let paused = breaker((wrongKey, at: 0))

@Suite("The breaker")
struct BreakerTests {
  @Test func `A new breaker admits every delivery`() {
    #expect(Breaker().admission(now: start, probing: false) == .free)
    #expect(Breaker().admission(now: start, probing: true) == .free)
  }

  @Test func `The breaker opens exactly at the configured number of transient failures in a row`() {
    #expect(breaker((down, at: 0), (down, at: 1)).state == .closed)
    #expect(opened.state == .open)
    #expect(opened.failures == 3)
    #expect(opened.since == after(2))
    #expect(opened.probeAt == after(30_002))
    #expect(opened.cause == .status(503))
  }

  @Test(arguments: [delivered, refused])
  func `A success or a refusal restarts the count of failures`(answer: Verdict) {
    let broken = breaker((down, at: 0), (down, at: 1), (answer, at: 2), (down, at: 3), (down, at: 4))
    #expect(broken.state == .closed)
    #expect(broken.failures == 2)
  }

  @Test func `One answer about the configuration pauses deliveries at once`() {
    #expect(paused.state == .paused)
    #expect(paused.since == start)
    #expect(paused.cause == .status(403))
    #expect(paused.probeAt == after(30_000))
  }

  @Test(arguments: [delivered, refused])
  func `A success or a refusal closes it from every state`(answer: Verdict) {
    for before in [Breaker(), opened, paused] {
      let closed = breaker((answer, at: 40_000), from: before)
      #expect(closed.state == .closed)
      #expect(closed.failures == 0)
      #expect(closed.probeAt == nil)
      #expect(closed.since == nil)
      #expect(closed.cause == nil)
      #expect(closed.admission(now: after(40_000), probing: false) == .free)
    }
  }

  @Test("A stored rest that is longer than any the relay grants, set by a clock that ran ahead, is dropped")
  func absurdRest() {
    for (extra, isKept) in [(Duration.zero, true), (Duration.milliseconds(1), false)] {
      var stored = Breaker(restUntil: start.advanced(by: Delivery.retryAfterMax + extra))
      stored.adopt(policy: policy, now: start)
      #expect((stored.restUntil != nil) == isKept)
    }
  }

  @Test(arguments: [opened, paused])
  func `The time that a clock step or a sleep took counts against no receipt`(before: Breaker) {
    var breaker = before
    breaker.clockStepped(by: .hours(1))
    #expect(breaker.pausedTime == before.pausedTime + .hours(1))
    #expect(breaker.probeAt == before.probeAt?.advanced(by: .hours(1)))
  }

  @Test func `A failed probe keeps the breaker open, and its opening time does not change`() {
    let again = breaker((down, at: 30_002), from: opened)
    #expect(again.state == .open)
    #expect(again.since == after(2))
    #expect(again.probeAt == after(60_002))
  }

  @Test func `A probe can turn an open breaker into a paused one, and back`() {
    let wrong = breaker((wrongKey, at: 50_000), from: opened)
    #expect(wrong.state == .paused)
    #expect(wrong.since == after(50_000))
    #expect(wrong.probeAt == after(80_000))
    #expect(wrong.pausedTime(now: after(50_000)) == .zero, "being down is not being wrong")
    let broken = breaker((down, at: 50_000), from: paused)
    #expect(broken.state == .open)
    #expect(broken.since == after(50_000))
    #expect(broken.cause == .status(503))
    #expect(broken.pausedTime == .seconds(50))
    #expect(broken.pausedTime(now: after(day)) == .seconds(50))
  }

  @Test(arguments: [opened, paused])
  func `While the breaker is not closed, one probe goes at its time, and never two`(stopped: Breaker) throws {
    let probeAt = try #require(stopped.probeAt)
    let before = probeAt - .milliseconds(1)
    #expect(stopped.admission(now: before, probing: false) == .none(until: probeAt))
    #expect(stopped.admission(now: probeAt, probing: false) == .probe)
    #expect(stopped.admission(now: probeAt.advanced(by: .days(1)), probing: false) == .probe)
    let later = probeAt.advanced(by: .seconds(1))
    #expect(stopped.admission(now: probeAt, probing: true) == .none(until: later))
    #expect(stopped.admission(now: before, probing: true) == .none(until: before.advanced(by: .seconds(1))))
  }

  @Test func `Without a stored time, the next probe may go at once`() {
    #expect(Breaker(state: .open).admission(now: start, probing: false) == .probe)
    #expect(Breaker(state: .paused).admission(now: start, probing: true) == .none(until: after(1000)))
  }

  @Test func `A 429 starts a rest in every state, opens no breaker and counts no failure`() {
    for before in [Breaker(), opened, paused] {
      let resting = breaker((.coolDown(.status(429), for: .minutes(10)), at: 100), from: before)
      #expect(resting.state == before.state)
      #expect(resting.failures == before.failures)
      #expect(resting.restUntil == after(600_100))
      #expect(resting.admission(now: after(600_099), probing: false) == .none(until: after(600_100)))
      let then = resting.admission(now: after(600_100), probing: false)
      #expect(then == (before.state == .closed ? .free : .probe))
    }
  }

  @Test func `A rest is at most a day, the longer of two counts, and a success does not end it`() {
    let long = breaker((.coolDown(.status(429), for: .longest), at: 0))
    #expect(long.restUntil == after(day))
    let shorter = breaker((.coolDown(.status(429), for: .seconds(1)), at: 0), from: long)
    #expect(shorter.restUntil == after(day))
    let delivering = breaker((delivered, at: 5000), from: long)
    #expect(delivering.admission(now: after(5000), probing: false) == .none(until: after(day)))
    #expect(breaker((delivered, at: day), from: long).restUntil == nil, "but it is forgotten once it is over")
  }

  @Test func `Only the time of pauses adds up`() {
    var known = breaker((wrongKey, at: 1000), (wrongKey, at: 31_000))
    #expect(
      known.pausedTime(now: after(41_000)) == .seconds(40), "a second refusal goes on with the same pause")
    known.record(delivered, policy: policy, now: after(61_000))
    #expect(known.pausedTime == .seconds(60))
    #expect(known.pausedTime(now: after(day)) == .seconds(60))
    known.record(wrongKey, policy: policy, now: after(100_000))
    known.record(down, policy: policy, now: after(110_000))
    known.record(delivered, policy: policy, now: after(900_000))
    #expect(known.pausedTime(now: after(day)) == .seconds(70))
  }

  @Test func `A clock that was set back reduces no paused time`() {
    #expect(paused.pausedTime(now: after(-day)) == .zero)
    #expect(breaker((delivered, at: -day), from: paused).pausedTime == .zero)
  }

  @Test func `A stored breaker continues unchanged after it is read again (R9)`() {
    for before in [Breaker(), opened, paused, breaker((down, at: 0))] {
      let restored = Breaker(
        state: before.state, failures: before.failures, probeAt: before.probeAt, restUntil: before.restUntil,
        since: before.since, cause: before.cause, pausedTime: before.pausedTime)
      #expect(restored == before)
      for verdict in [delivered, refused, down, wrongKey] {
        #expect(
          breaker((verdict, at: 40_000), from: restored) == breaker((verdict, at: 40_000), from: before))
      }
    }
  }

  @Test(arguments: [opened, paused])
  func `When the configuration was read again, a probe goes at once`(stopped: Breaker) {
    var ready = stopped
    ready.probeNow(now: after(4))
    #expect(ready.admission(now: after(4), probing: false) == .probe)
    #expect(ready.state == stopped.state)
    #expect(ready.since == stopped.since)
  }

  @Test(arguments: [
    Breaker(), opened, paused,
  ])
  func `A rest outlasts a reload, unless the destination changed`(stopped: Breaker) {
    var resting = breaker((.coolDown(.status(429), for: .minutes(10)), at: 3), from: stopped)
    resting.probeNow(now: after(4))
    #expect(resting.admission(now: after(4), probing: false) == .none(until: after(600_003)))
    resting.endRest()
    #expect(resting.admission(now: after(4), probing: false) == (stopped.state == .closed ? .free : .probe))
  }
}
