// Tests the counts of how contexts join: they follow the rows through every change, and what operators read
// of a receipt that did not get its context.

import Domain
import Formats
import TestSupport
import Testing

@testable import Store

@Suite("Join counts", .everyEngine)
struct JoinCountTests {
  private func tally(_ store: TestStore, app: AppSlug = "ios") throws -> JoinTally {
    try store.checkInvariants()
    return try store.reader.joinTally(app: app, last: 24, now: store.now)
  }

  private func attempt(_ store: TestStore, _ decision: Delivery.Decision, row: Int = 0) throws {
    let record = try store.receipts()[row]
    let report = AttemptReport(at: store.now)
    _ = try store.apply(RecordAttempt(of: record.receiptID, app: "ios", report: report, decision: decision))
  }

  @Test func `Each receipt counts in the hour in which it was created, by how it got its context`() throws {
    let store = try TestStore()
    let named = try store.post("named", user: "u1")
    try store.ingest(Said.completed("1", user: "u1", contextID: named, prices: ["price_1"]))
    try store.post("only", user: "u2")
    try store.ingest(Said.completed("2", user: "u2", prices: ["price_1"]))
    for blob in ["one", "two"] { try store.post(blob, user: "u3", price: "price_1") }
    try store.ingest(Said.completed("3", user: "u3", prices: ["price_1"]))
    try store.ingest(Said.completed("4", user: "u4", prices: ["price_1"]))
    // It waits for a context.
    let expected = JoinTally(
      receipts: [.exact: 1, .user: 1, .guessed: 1, .none: 1], contexts: 4, unclaimed: 1)
    #expect(try tally(store) == expected)
    // A context that comes in time changes the outcome.
    store.advance(minute)
    try store.post("late", user: "u4")
    #expect(
      try tally(store)
        == JoinTally(receipts: [.exact: 1, .user: 2, .guessed: 1], contexts: 5, unclaimed: 1))
    #expect(try tally(store, app: "web") == JoinTally())
    let days = try store.reader.joins(app: "ios", last: 3, periodsOf: 24, now: store.now)
    #expect(days.map(\.tally.total) == [0, 0, 4])
    let hours = try store.reader.joins(app: "ios", last: 2, periodsOf: 1, now: store.now)
    #expect(hours.map(\.tally.total) == [0, 4])
    #expect(hours.last?.start.unixMilliseconds == store.now.unixMilliseconds / 3_600_000 * 3_600_000)
    store.advance(day)
    #expect(try store.reader.joinTally(app: "ios", last: 24, now: store.now) == JoinTally())
    #expect(try store.reader.joinTally(app: "ios", last: 24, before: 24, now: store.now).total == 4)
  }

  @Test func `A receipt without a context counts once, while it waits and after it was made`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    #expect(try tally(store) == JoinTally(receipts: [.none: 1]))
    store.advance(3 * minute)
    try store.endWaits()
    #expect(try store.only().receipt?.state == .pending)
    #expect(try tally(store) == JoinTally(receipts: [.none: 1]))
    try store.ingest(Said.completed("2", user: nil, prices: ["price_1"]))
    #expect(try tally(store).total == 1, "it waits for its user")
  }

  @Test func `A name takes a guess: the outcome of both follows, and a sent one is disputed`() throws {
    let store = try TestStore()
    let named = try store.post("named", price: "price_1")
    try store.ingest(Said.completed("2", prices: ["price_1"]))
    #expect(try tally(store) == JoinTally(receipts: [.user: 1], contexts: 1))
    try store.ingest(Said.completed("1", contextID: named, prices: ["price_1"]))
    #expect(try tally(store) == JoinTally(receipts: [.exact: 1, .none: 1], contexts: 1))

    let sent = try TestStore()
    let other = try sent.post("named", price: "price_1")
    try sent.ingest(Said.completed("2", prices: ["price_1"]))
    try attempt(sent, .delivered(importID: nil))
    try sent.ingest(Said.completed("1", contextID: other, prices: ["price_1"]))
    #expect(try tally(sent) == JoinTally(receipts: [.exact: 1, .disputed: 1], contexts: 1))
  }

  @Test func `An erasure and retention remove what they remove from the counts`() throws {
    let store = try TestStore()
    for user: UserID in ["u1", "u2"] {
      try store.post("blob", user: user)
      try store.post("unused", user: user)
      try store.ingest(Said.completed(user.text, user: user.text, prices: ["price_1"]))
    }
    try attempt(store, .delivered(importID: nil), row: 0)
    try attempt(store, .delivered(importID: nil), row: 1)
    #expect(try tally(store) == JoinTally(receipts: [.guessed: 2], contexts: 4, unclaimed: 2))
    let row = try #require(try store.receipts().first { $0.purchase.userID == "u1" }).rowID
    _ = try store.apply(ForgetUserRows(.contexts, app: "ios", userID: "u1"))
    _ = try store.apply(ForgetPurchases(rows: [row], cancelsOpen: true))
    #expect(try tally(store) == JoinTally(receipts: [.guessed: 1], contexts: 4, unclaimed: 1))
    store.advance(60 * day)
    for table in RetentionTable.allCases {
      _ = try store.apply(Retain(table: table, cutoff: store.now, afterRow: 0))
    }
    try store.checkInvariants()
    #expect(try store.integer("SELECT count(*) FROM join_counts") == 0, "empty groups are deleted")
  }

  @Test func `Receipts are listed by their outcome`() throws {
    let store = try TestStore()
    try store.post(user: "u1")
    for number in ["1", "2"] {
      try store.ingest(Said.completed(number, user: "u\(number)", prices: ["price_1"]))
    }
    var filter = ReceiptFilter()
    for (outcome, users) in [(JoinOutcome.none, ["u2"]), (.user, ["u1"]), (.exact, [])] {
      filter.join = outcome
      let found = try store.reader.receipts(filter, limit: 10).compactMap(\.purchase.userID?.text)
      #expect(found == users, "\(outcome)")
    }
  }

  @Test func `The contexts that a purchase did not get are found, with the cause`() throws {
    let store = try TestStore()
    func misses(_ number: String) throws -> [String] {
      let record = try #require(try store.receipts().first { $0.purchase.key.id.text == "sub_\(number)" })
      return try store.reader.nearMisses(
        of: record, policy: JoinPolicy(), processor: .stripe(), now: store.now
      ).map { "\($0.userID): \($0.cause)" }
    }
    try store.post("old", user: "u1")
    store.advance(27 * hour)
    try store.post("other price", user: "u1", price: "price_2")
    try store.post("unrelated", user: "u2", price: "price_2")
    try store.post("upper", user: "U-1", price: "price_2")
    try store.post("same price", user: "u3", price: "price_1")
    try store.post("claimed", user: "u4", price: "price_1")
    store.advance(2 * minute)
    try store.ingest(Said.completed("4", user: "u4", prices: ["price_1"], at: store.now))
    try store.ingest(Said.completed("1", user: "u1", prices: ["price_1"], at: store.now))
    let early = NearMiss.Cause.early(by: .hours(3) + .minutes(2))
    let expected: [(UserID, NearMiss.Cause)] = [
      ("u1", .otherPrice("price_2")), ("u1", early), ("U-1", .otherUser(isSimilar: true)),
      ("u3", .otherUser(isSimilar: false)),
    ]
    #expect(try misses("1") == expected.map { "\($0.0): \($0.1)" })
    #expect(try misses("4") == [], "it has its context")
  }

  @Test func `Contexts that no longer join are noticed by comparison with the days before`() throws {
    let store = try TestStore()
    for number in 1...20 {
      try store.post("blob \(number)", user: UserID("u\(number)"))
      try store.ingest(Said.completed("\(number)", user: "u\(number)", prices: ["price_1"], at: store.now))
    }
    store.advance(day)
    #expect(try store.reader.unjoined(app: "ios", now: store.now) == nil)
    for number in 21...30 {
      try store.post("blob \(number)", user: UserID("U\(number)"))
      try store.ingest(Said.completed("\(number)", user: "u\(number)", prices: ["price_1"], at: store.now))
    }
    let recent = JoinTally(receipts: [.none: 10], contexts: 10, unclaimed: 10)
    #expect(try store.reader.unjoined(app: "ios", now: store.now) == recent)
    store.advance(6 * hour)
    #expect(try store.reader.unjoined(app: "ios", now: store.now) == nil)
  }
}
