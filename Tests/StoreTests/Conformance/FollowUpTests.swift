// Tests the fetches of payments that start at the relay: those that no event requires, and those that
// callbacks require.

import Domain
import Formats
import Store
import TestSupport
import Testing

private let place = AppProcessor("ios", "pay")
private let first: Int64 = 15 * minute

@Suite("Fetches of started payments", .everyEngine)
struct FollowUpTests {
  private let store: TestStore

  init() throws {
    let pay = ProcessorRules(isAsked: true, followsUpAfter: .milliseconds(first))
    store = try TestStore(rules: [
      "ios": AppRules(
        join: JoinPolicy(settle: .zero), processors: ["pay": pay, "stripe": .stripe(isAsked: true)],
        compose: TestStore.compose)
    ])
  }

  private func start(_ n: String = "1") throws {
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.started, n, by: "u1")))
  }

  private func due() throws -> [DueLookup] { try store.reader.dueLookups(place, now: store.now, limit: 100) }

  /// When the next fetch is due, in milliseconds from the start; nil if there is none.
  private func next() throws -> Int64? {
    let past = try store.integer("SELECT min(due_at) FROM look_ups")
    return past == 0 ? nil : past.map { $0 - TestStore.start.unixMilliseconds }
  }

  private func answer(_ observations: Observations?, nextAt: Int64 = second) throws {
    let due = try #require(try due().first)
    let reports = observations.map { [Said.pay($0, "1")] } ?? []
    try store.apply(
      IngestLookup(
        place, of: due.reference, asked: due.reason, fetches: due.fetches, isFetched: observations != nil,
        reports: reports, nextAt: store.after(nextAt)))
  }

  private func callBack(_ id: EventID, _ n: String = "1") throws -> IngestEvent.Outcome {
    try store.apply(
      IngestEvent(
        app: "ios", processor: "pay", eventID: id, type: "callback", body: Array(id.text.utf8),
        content: .fetch(Said.payKey(n), sessionID: nil, keep: false), isHint: true))
  }

  @Test("A payment that is never reported is fetched at growing pauses, also after a restart (R9)")
  func growing() throws {
    try start()
    #expect(try due().isEmpty)
    var times: [Int64] = []
    while let time = try next() {
      times.append(time)
      store.now = TestStore.start + .milliseconds(time)
      #expect(try due().map(\.fetches) == [1])
      try store.reopen()
      try answer([])
      if times.count > 40 { break }
    }
    #expect(times.first == first)
    for (time, later) in zip(times, times.dropFirst()) { #expect(later == time + time / 2) }
    let last = try #require(times.last)
    #expect(last >= 7 * day)
    #expect(last < 11 * day)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test(arguments: [Observations.paid, .closed])
  func `It is not fetched any more once it is paid or closed`(observations: Observations) throws {
    try start("1")
    try start("2")
    // One ends by a report of the backend, the other by a fetch.
    _ = try store.apply(StorePayment(app: "ios", Said.pay(observations, "2")))
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 1)
    store.advance(first)
    try answer(observations)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `A payment of a processor that cannot be asked, or that reports all, is not fetched`() throws {
    let other = try TestStore()
    _ = try other.apply(StorePayment(app: "ios", Said.pay(.started, by: "u1")))
    var stripe = Said.pay(.started, by: "u1")
    stripe.key.processor = "stripe"
    _ = try store.apply(StorePayment(app: "ios", stripe))
    #expect(try other.integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `A callback causes a fetch at once, and the payment is followed after it`() throws {
    try start()
    store.advance(minute)
    #expect(try callBack("c1") == .stored(.noted))
    #expect(try due().map(\.attempts) == [0])
    try answer([])
    #expect(try next() == first)
    store.advance(hour)
    try answer([])
    #expect(try next() == (hour + minute) + (hour + minute) / 2)
  }

  @Test("The same callback again causes another fetch, and none while one is under way or the state is final")
  func sameCallback() throws {
    try start()
    #expect(try callBack("c1") == .stored(.noted))
    let one = try #require(try due().first)
    for _ in 0..<7 { #expect(try callBack("c1") == .repeated) }
    #expect(try due().count == 1)
    // One fetch follows for those that came while the first was under way.
    try store.apply(
      IngestLookup(
        place, of: one.reference, asked: nil, fetches: one.fetches, isFetched: true,
        reports: [Said.pay([], "1")], nextAt: store.after(second)))
    #expect(try due().count == 1)
    try answer([])
    #expect(try due().isEmpty)
    #expect(try callBack("c1") == .repeated)
    #expect(try due().count == 1)
    try answer(.paid)
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
    // It may still be reversed.
    #expect(try callBack("c1") == .repeated)
    try answer(.reversed)
    #expect(try callBack("c1") == .repeated)
    #expect(try callBack("c2") == .stored(.receipt))
    #expect(try store.integer("SELECT count(*) FROM look_ups") == 0)
    #expect(try store.integer("SELECT count(*) FROM events") == 2)
    #expect(try store.receipts().count == 1)
  }

  @Test func `A repeated callback does not restart the pauses of a fetch that failed`() throws {
    try start()
    _ = try callBack("c1")
    try answer(nil, nextAt: 30 * second)
    #expect(try due().isEmpty)
    _ = try callBack("c1")
    #expect(try due().map(\.attempts) == [1])
    #expect(try callBack("c9", "unknown") == .unmatched)
  }

  @Test("A start of receiptd keeps a fetch that is planned days ahead, and corrects an impossible one")
  func clock() throws {
    try start()
    store.now = TestStore.start + .days(4)
    try answer([])
    let planned = try #require(try next())
    #expect(planned == 6 * day)
    _ = try store.apply(FollowClock(step: nil))
    #expect(try next() == planned)
    // The clock had run ahead by a month.
    store.now = TestStore.start + .days(-30)
    _ = try store.apply(FollowClock(step: nil))
    #expect(try due().count == 1)
  }

  @Test func `The pauses of a fetch without an answer`() {
    let pauses = (1...7).map { Lookup.fetchPause(attempts: $0)?.milliseconds }
    #expect(pauses == [2 * second, 10 * second, 30 * second, 2 * minute, 10 * minute, hour, hour])
    let all = (1...1000).compactMap { Lookup.fetchPause(attempts: $0) }
    let total = all.reduce(.zero, +)
    #expect(total > .days(6))
    #expect(total < .days(8))
    #expect(Lookup.fetchPause(attempts: .max) == nil)
    #expect(Lookup.fetchPause(attempts: .min) == .seconds(2))
  }
}
