// Tests the decision after one attempt, for every verdict, and the retry budget and schedule.

import Formats
import Platform
import Testing

@testable import Domain

private let start = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let hour: Int64 = 3_600_000
private let day = 24 * hour
private let policy = DeliveryPolicy(retry: RetryPolicy(jitter: 0))

private func after(_ milliseconds: Int64) -> Timestamp { start.advanced(by: .milliseconds(milliseconds)) }

private func decide(
  _ verdict: Verdict, attempts: Int64 = 0, paused: Int64 = 0, probe: Bool = false, at offset: Int64 = 0,
  policy: DeliveryPolicy = policy
) -> Delivery.Decision {
  var random = SeededGenerator(seed: 7)
  let budget = RetryBudget(spentAttempts: attempts, startedAt: start, pausedTime: .milliseconds(paused))
  return Delivery.decide(
    verdict, budget: budget, probe: probe, policy: policy, now: after(offset), random: &random)
}

@Suite("The decision after an attempt")
struct DeliveryDecisionTests {
  @Test(arguments: [0, 8 * day])
  func `A 2xx delivers and a refusal fails, with any remaining budget`(offset: Int64) {
    #expect(decide(.delivered(importID: "imp"), at: offset) == .delivered(importID: "imp"))
    #expect(decide(.delivered(importID: nil), at: offset) == .delivered(importID: nil))
    #expect(decide(.refused(.status(422)), at: offset) == .failed(.status(422)))
  }

  @Test(arguments: [0, 8 * day, 900 * day])
  func `A wrong configuration gives no receipt up and spends no budget`(offset: Int64) {
    let again = Delivery.Decision.retry(at: after(offset + 30_000), spent: false)
    #expect(decide(.misconfigured(.status(403)), attempts: 99, at: offset) == again)
    #expect(decide(.misconfigured(.status(403)), probe: true, at: offset) == again)
  }

  @Test func `A transient failure is retried by the schedule, whose last pause repeats`() {
    let pauses: [Int64] = [
      2000, 10_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000,
      43_200_000,
      43_200_000, 43_200_000,
    ]
    for (attempts, pause) in pauses.enumerated() {
      let decision = decide(.retry(Reason("timeout"), retryAfter: nil), attempts: Int64(attempts))
      #expect(decision == .retry(at: after(pause), spent: true))
    }
    let far = decide(.retry(Reason("timeout"), retryAfter: nil), attempts: .max)
    #expect(far == .retry(at: after(43_200_000), spent: true))
  }

  @Test func `Retry-After counts if it is later than the schedule, up to a day`() {
    let rows: [(Int64, Int64)] = [
      (0, 2000), (1999, 2000), (2001, 2001), (day, day), (day + 1, day), (.max, day), (-5, 2000),
    ]
    for (asked, waited) in rows {
      let answer = decide(.retry(.status(503), retryAfter: .milliseconds(asked)))
      #expect(answer == .retry(at: after(waited), spent: true), "\(asked)")
      let rest = decide(.coolDown(.status(429), for: .milliseconds(asked)))
      #expect(rest == .retry(at: after(waited), spent: true), "\(asked)")
    }
  }

  @Test func `A probe of a destination that is down spends nothing`() {
    let failed = Verdict.retry(.status(500), retryAfter: nil)
    #expect(decide(failed, probe: true) == .retry(at: after(2000), spent: false))
    #expect(
      decide(.coolDown(.status(429), for: .milliseconds(5)), probe: true)
        == .retry(at: after(2000), spent: false))
  }

  @Test func `When the retry time is used up, the next failure is the last`() {
    for verdict in [
      Verdict.retry(.status(500), retryAfter: nil), .coolDown(.status(429), for: .milliseconds(1)),
    ] {
      for probe in [false, true] {
        let last = decide(verdict, probe: probe, at: 7 * day - 1)
        #expect(last == .retry(at: after(7 * day - 1 + 2000), spent: !probe))
        #expect(decide(verdict, probe: probe, at: 7 * day) == .failed(.gaveUp))
      }
    }
  }

  @Test func `Time under a wrong configuration does not count`() {
    let failed = Verdict.retry(.status(500), retryAfter: nil)
    let at = 7 * day + 5 * hour
    #expect(decide(failed, paused: 5 * hour, at: at) == .failed(.gaveUp))
    #expect(decide(failed, paused: 5 * hour + 1, at: at) == .retry(at: after(at + 2000), spent: true))
    #expect(decide(failed, paused: -900 * day, at: hour) == .retry(at: after(hour + 2000), spent: true))
  }

  @Test func `A budget ends exactly at its time, and a clock that was set back does not use it up`() {
    let retry = RetryPolicy()
    func isUsedUp(_ offset: Int64, paused: Int64 = 0) -> Bool {
      RetryBudget(spentAttempts: 0, startedAt: start, pausedTime: .milliseconds(paused))
        .isUsedUp(policy: retry, now: after(offset))
    }
    #expect(!isUsedUp(7 * day - 1))
    #expect(isUsedUp(7 * day))
    #expect(!isUsedUp(7 * day, paused: 1))
    #expect(isUsedUp(7 * day + 1, paused: 1))
    #expect(!isUsedUp(-day))
    #expect(!isUsedUp(0))
  }

  @Test(arguments: [0.2, 0.5, 1.0])
  func `Jitter stays within its share either way, and uses all of it`(share: Double) {
    var random = SeededGenerator(seed: 42)
    let retry = RetryPolicy(schedule: [.seconds(10)], jitter: share)
    let bounds = Int64(10_000 * (1 - share))...Int64(10_000 * (1 + share))
    let pauses = (0..<20_000).map { _ in
      Delivery.pause(afterAttempts: 0, policy: retry, random: &random).milliseconds
    }
    #expect(pauses.allSatisfy(bounds.contains))
    let spread = Double(bounds.upperBound - bounds.lowerBound)
    #expect(Double(pauses.min() ?? 0) < Double(bounds.lowerBound) + spread / 100)
    #expect(Double(pauses.max() ?? 0) > Double(bounds.upperBound) - spread / 100)
    let mean = Double(pauses.reduce(0, +)) / 20_000
    #expect(abs(mean - 10_000) < spread / 50)
  }

  @Test func `Extreme settings of the schedule do not trap`() {
    var random = SeededGenerator(seed: 1)
    func pause(_ schedule: [Duration], jitter: Double = 0, attempts: Int64 = 0) -> Duration {
      let retry = RetryPolicy(schedule: schedule, jitter: jitter)
      return Delivery.pause(afterAttempts: attempts, policy: retry, random: &random)
    }
    #expect(pause([]) == .zero)
    #expect(pause([.milliseconds(5), .milliseconds(9)], attempts: -1) == .milliseconds(9))
    #expect(pause([.milliseconds(5)], jitter: -3) == .milliseconds(5))
    #expect((0...10).contains(pause([.milliseconds(5)], jitter: 7).milliseconds))
    #expect(pause([.longest], jitter: 0.2) > .zero)
    #expect(pause([Duration(attoseconds: .max)], jitter: 0.2) > .zero)
  }

  @Test func `Pauses of receipts that failed together differ`() {
    var random = SeededGenerator(seed: 3)
    let pauses = (0..<100).map { _ in Delivery.pause(afterAttempts: 5, policy: RetryPolicy(), random: &random)
    }
    #expect(Set(pauses).count > 95)
  }
}
