// Tests the relay's own commands: saved alerts, reports of its state, and clock steps.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("The relay's own records", .everyEngine)
struct UpkeepCommandTests {
  private func alert(_ condition: String, app: AppSlug? = nil, firing: Bool = true) -> AlertRecord {
    AlertRecord(
      key: .init(destination: "d", condition: condition, app: app), isFiring: firing, since: TestStore.start,
      notifiedAt: TestStore.start)
  }

  @Test("An alert is stored under its condition and app, replaced by the next one, and dropped")
  func alerts() throws {
    let store = try TestStore()
    let (one, two) = (alert("a>1"), alert("a>1", app: "ios"))
    try store.apply(SaveAlerts(sent: [one, two]))
    #expect(Set(try store.reader.alerts().map(\.key)) == [one.key, two.key])
    let over = alert("a>1", app: "ios", firing: false)
    try store.apply(SaveAlerts(sent: [over], forgotten: [one.key, alert("other").key]))
    try store.reopen()
    #expect(try store.reader.alerts() == [over])
  }

  @Test func `A report of the service replaces the one before`() throws {
    let store = try TestStore()
    for content in ["{}", "{\"ready\":true}"] {
      try store.apply(SaveServiceReport(ServiceReport(name: .health, at: store.now, content: content)))
    }
    #expect(try store.integer("SELECT count(*) FROM service_reports") == 1)
    #expect(try store.integer("SELECT length(content) FROM service_reports") == 14)
  }

  @Test func `An operator's action is recorded, with or without a change`() throws {
    let store = try TestStore()
    let entry = AuditEntry(at: store.now, actor: "ann", action: "test", subject: "x", reason: "why")
    try store.apply(WriteAudit(entry))
    try store.apply(Audited(Pulse()) { entry })
    try store.apply(Audited(Pulse()) { nil })
    #expect(try store.integer("SELECT count(*) FROM audit WHERE reason = 'why'") == 2)
  }

  @Test func `After a clock step waits keep their remaining time, and deliveries are due (R4)`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(prices: ["price_1"]))
    store.advance(minute)
    let left = try #require(try store.only().receipt?.waitUntil).duration(since: store.now)
    for jump in [30 * day, -60 * day] {
      store.advance(jump)
      #expect(try store.apply(FollowClock(step: .milliseconds(jump))) == 1)
      #expect(try store.only().receipt?.waitUntil == store.now + left)
      #expect(try store.apply(FollowClock(step: .milliseconds(jump))) == 0, "it was written by the new clock")
    }
  }

  @Test("An event that arrives right after the clock was set back does not prolong the wait (R4)")
  func eventAfterJump() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: nil, prices: ["price_1"], customer: false))
    store.advance(minute)
    #expect(try store.status() == "waiting/user")
    store.advance(-365 * day)
    try store.ingest(Said.session("1", .paid, at: store.now))
    #expect(try store.apply(FollowClock(step: .milliseconds(-365 * day))) == 0)
    let until = try #require(try store.only().receipt?.waitUntil)
    #expect(until <= store.now + .days(1))
    store.advance(day)
    _ = try store.endWaits()
    #expect(try store.status() == "failed/user")
  }

  @Test func `A job whose program died while the clock was ahead is given up`() throws {
    let store = try TestStore()
    store.advance(365 * day)
    let request = JobRequest(kind: .replay, source: .ids(count: 2), actor: "root")
    let row = try store.apply(StartJob(request)).row
    store.advance(-365 * day)
    _ = try store.apply(FollowClock(step: .milliseconds(-365 * day)))
    store.advance(2 * minute)
    #expect(try store.apply(StepJob(job: row))?.state == .cancelled)
  }

  @Test("A retry keeps its distance from the decision if the clock is set back before or after that")
  func retryAndJump() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(Said.completed(prices: ["price_1"]))
    let id = try store.only().receiptID
    let report = AttemptReport(at: store.now, status: 500, duration: .milliseconds(50))
    func retry(_ decidedAt: Timestamp) throws -> Duration? {
      let attempt = RecordAttempt(
        of: id, to: AppDestination("ios", "purchasely"), report: report,
        decision: .retry(at: decidedAt + .minutes(5), spent: true),
        breaker: Breaker(), decidedAt: decidedAt)
      _ = try store.apply(attempt)
      return try store.only().receipt?.nextAttemptAt?.duration(since: store.now)
    }
    let decidedAt = store.now
    store.advance(-365 * day)
    #expect(try retry(decidedAt) == .minutes(5))
    #expect(try retry(store.now) == .minutes(5))
  }

  @Test func `At a start, times in the future become now`() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(Said.completed(prices: ["price_1"]))
    #expect(try store.only().receipt?.state == .pending)
    store.advance(-day)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).isEmpty)
    #expect(try store.apply(FollowClock(step: nil)) == 1)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).count == 1)
  }

  @Test func `Only receipts that a breaker rescheduled are due at once`() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(Said.completed(prices: ["price_1"]))
    let receipt = try store.only()
    let id = try #require(receipt.receipt?.id)
    _ = try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.after(hour)))
    try store.apply(Expedite(app: "ios", pause: .hours(2)))
    #expect(try store.only().receipt?.nextAttemptAt == store.after(hour), "the breaker is closed")
    try store.apply(SaveBreaker(app: "ios", breaker: Breaker(state: .open, since: store.now)))
    try store.apply(Expedite(app: "ios", pause: .minutes(30)))
    #expect(try store.only().receipt?.nextAttemptAt == store.after(hour), "it was rescheduled for longer")
    try store.apply(Expedite(app: "ios", pause: .hours(1)))
    #expect(try store.only().receipt?.nextAttemptAt == store.now)
    _ = try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.after(hour)))
    let stopped = Breaker(state: .paused, probeAt: store.after(hour), since: store.now)
    try store.apply(SaveBreaker(app: "ios", breaker: stopped))
    try store.apply(Expedite(app: "ios", pause: .minutes(30)))
    #expect(try store.only().receipt?.nextAttemptAt == store.now, "the pause was longer before")
  }
}
