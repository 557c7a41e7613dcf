// Tests the relay's own commands: saved alerts, reports of its state, and clock steps.

import Domain
import Durations
import Store
import TestSupport
import Testing

@Suite("The relay's own records", .everyEngine)
struct UpkeepCommandTests {
  private func alert(_ condition: String, app: String? = nil, firing: Bool = true) -> AlertRecord {
    AlertRecord(
      key: .init(destination: "d", condition: condition, app: app), isFiring: firing, since: TestStore.start,
      notifiedAt: TestStore.start)
  }

  @Test("An alert is stored under its condition and app, replaced by the next one, and dropped")
  func alerts() throws {
    let store = try TestStore()
    let (one, two) = (alert("a>1"), alert("a>1", app: "ios"))
    try store.apply(SaveAlerts(told: [one, two]))
    #expect(Set(try store.reader.alerts().map(\.key)) == [one.key, two.key])
    let over = alert("a>1", app: "ios", firing: false)
    try store.apply(SaveAlerts(told: [over], forgotten: [one.key, alert("other").key]))
    try store.reopen()
    #expect(try store.reader.alerts() == [over])
  }

  @Test("A report of the service replaces the one before")
  func reports() throws {
    let store = try TestStore()
    for content in ["{}", "{\"ready\":true}"] {
      try store.apply(SaveServiceReport(ServiceReport(name: .health, at: store.now, content: content)))
    }
    #expect(try store.integer("SELECT count(*) FROM service_reports") == 1)
    #expect(try store.integer("SELECT length(content) FROM service_reports") == 14)
  }

  @Test("An operator's action is recorded, with or without a change")
  func audit() throws {
    let store = try TestStore()
    let entry = AuditEntry(at: store.now, actor: "ann", action: "test", subject: "x", reason: "why")
    try store.apply(WriteAudit(entry))
    try store.apply(Audited(Pulse()) { entry })
    try store.apply(Audited(Pulse()) { nil })
    #expect(try store.integer("SELECT count(*) FROM audit WHERE reason = 'why'") == 2)
  }

  @Test("After a clock step waits keep their remaining time, and deliveries are due (R4)")
  func jump() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(prices: ["price_1"]))
    store.advance(minute)
    let left = try #require(try store.only().receipt?.waitUntil).duration(since: store.now)
    for jump in [30 * day, -60 * day] {
      store.advance(jump)
      #expect(try store.apply(FollowClock(jump: .milliseconds(jump))) == 1)
      #expect(try store.only().receipt?.waitUntil == store.now + left)
      #expect(try store.apply(FollowClock(jump: .milliseconds(jump))) == 0, "it was written by the new clock")
    }
  }

  @Test("At a start, times in the future become now")
  func start() throws {
    let store = try TestStore()
    try store.post()
    try store.ingest(Said.completed(prices: ["price_1"]))
    #expect(try store.only().receipt?.state == .pending)
    store.advance(-day)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).isEmpty)
    #expect(try store.apply(FollowClock(jump: nil)) == 1)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).count == 1)
  }

  @Test("Only receipts that a breaker rescheduled are due at once")
  func expedite() throws {
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
  }
}
