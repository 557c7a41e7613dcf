// Tests of the announcements of paid purchases without a user: each has its own claim, until one is accepted.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Announcements of purchases without a user", .everyEngine)
struct AnnouncementTests {
  private let store: TestStore
  private let retry = RetryPolicy(schedule: [.minutes(1), .hours(1)], giveUpAfter: .days(1))

  init() throws { store = try Self.announcing() }

  private static func announcing() throws -> TestStore {
    var rules = TestStore.rules(settle: .seconds(5))
    rules["ios"]?.announcesClaims = true
    return try TestStore(rules: rules)
  }

  private func begin() throws -> ClaimAnnouncement? {
    let id = try store.only().receiptID
    return try store.apply(
      BeginAnnouncement(id, app: "ios", lifetime: .days(7), retry: retry, timeout: .seconds(10)))
  }

  private func end(_ announcement: ClaimAnnouncement, _ result: EndAnnouncement.Result) throws {
    try store.apply(EndAnnouncement(announcement, app: "ios", result))
  }

  private func due() throws -> [ReceiptID] {
    try store.reader.dueAnnouncements(of: "ios", now: store.now, limit: 10)
  }

  private func states() throws -> [ClaimState] {
    try store.reader.claims(ClaimFilter(), now: store.now, limit: 10).entries.map(\.state).reversed()
  }

  /// A purchase that has waited for the other events of its checkout.
  private func buy() throws {
    try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
    store.advance(5 * second)
  }

  @Test func `A purchase that lacks only its user is announced when its checkout has settled`() throws {
    try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
    #expect(try due() == [])
    #expect(try begin() == nil)
    store.advance(5 * second)
    try store.reopen()
    #expect(try due() == [try store.only().receiptID])
    let announcement = try #require(try begin())
    #expect(announcement.claim.origin == .webhook)
    _ = try store.apply(UseClaim(announcement.token, app: "ios", userID: "u1"))
    #expect(try store.only().purchase.userID == "u1")
  }

  @Test("While an attempt goes, and until the next one, nothing is due; accepted, it is never due again")
  func accepted() throws {
    try buy()
    let announcement = try #require(try begin())
    #expect(try due() == [])
    #expect(try store.reader.nextAnnouncement(of: "ios", after: store.now) == store.now + .seconds(70))
    try end(announcement, .accepted)
    store.advance(day)
    #expect(try due() == [])
    #expect(try states() == [.offered])
  }

  @Test("After a failure another attempt follows with another claim, and the one before is revoked")
  func failed() throws {
    try buy()
    let first = try #require(try begin())
    try end(first, .failed)
    store.advance(70 * second)
    let second = try #require(try begin())
    #expect(second.token != first.token)
    #expect(try states() == [.revoked, .offered])
    // Nobody knows whether this one arrived.
    try end(second, .inDoubt)
    store.advance(2 * hour)
    _ = try #require(try begin())
    #expect(try states() == [.revoked, .offered, .offered])
  }

  @Test func `A webhook that refuses the message for good gets no other one`() throws {
    try buy()
    try end(try #require(try begin()), .refused)
    store.advance(hour)
    #expect(try due() == [])
    #expect(try states() == [.revoked])
  }

  @Test("A purchase that gets its user before is not announced, nor one that nobody accepts for long")
  func over() throws {
    try buy()
    try store.ingest(Said.created("1", user: "u1"))
    #expect(try due().count == 1)
    #expect(try begin() == nil)
    #expect(try due() == [])
    try store.ingest(Said.completed("2", user: nil, prices: ["price_1"]))
    store.advance(2 * day)
    let id = try #require(try due().first)
    let late = BeginAnnouncement(id, app: "ios", lifetime: .days(7), retry: retry, timeout: .seconds(10))
    #expect(try store.apply(late) == nil)
    #expect(try due() == [])
  }

  @Test("What a clock that ran ahead planned waits no longer than before when the clock is set back")
  func clockSetBack() throws {
    for step in [Duration.milliseconds(-30 * day), nil] {
      let store = try Self.announcing()
      store.advance(30 * day)
      try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]))
      store.advance(-30 * day)
      _ = try store.apply(FollowClock(step: step))
      let dueAt = try #require(try store.integer("SELECT due_at FROM announcements"))
      #expect(dueAt <= store.after(5 * second).unixMilliseconds)
      #expect(try store.integer("SELECT since FROM announcements") == store.now.unixMilliseconds)
    }
  }

  @Test("A reload makes those due that failed, and no others before their checkout has settled")
  func retried() throws {
    try buy()
    try end(try #require(try begin()), .failed)
    try store.ingest(Said.completed("2", user: nil, prices: ["price_1"]))
    #expect(try due() == [])
    try store.apply(RetryAnnouncements("ios"))
    #expect(try due().count == 1)
    store.advance(5 * second)
    #expect(try due().count == 2)
  }

  @Test("With as many open claims as there may be it waits, spends no attempt, and follows when one ends")
  func tooManyClaims() throws {
    try buy()
    for _ in 0..<Claim.openMax {
      try end(try #require(try begin()), .inDoubt)
      try store.apply(RetryAnnouncements("ios"))
    }
    let attempts = try store.integer("SELECT attempts FROM announcements")
    #expect(try begin() == nil)
    #expect(try due() == [])
    #expect(try store.integer("SELECT attempts FROM announcements") == attempts)
    let first = try #require(try store.reader.claims(ClaimFilter(), now: store.now, limit: 1).entries.first)
    #expect(try store.apply(RevokeClaims(.claim(first.claim.id))) == 1)
    store.advance(2 * hour)
    #expect(try due().count == 1)
    #expect(try begin() != nil)
  }

  @Test func `An app that announces nothing plans nothing`() throws {
    try store.ingest(Said.completed("1", user: nil, prices: ["price_1"]), app: "web")
    #expect(try store.integer("SELECT count(*) FROM announcements") == 0)
  }
}
