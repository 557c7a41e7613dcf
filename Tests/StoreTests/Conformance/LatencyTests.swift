// Tests that attempts are listed by what is asked of them, and that latencies are counted once and kept.

import Domain
import Formats
import Platform
import TestSupport
import Testing

@testable import Store

/// A store with receipts of two apps, and attempts of every kind.
private struct AttemptStore {
  let store: TestStore
  /// What was recorded, in order.
  private(set) var reports: [(app: AppSlug, destination: DestinationName, report: AttemptReport)] = []
  private var random: SeededGenerator

  init(seed: UInt64 = 1) throws {
    store = try TestStore()
    random = SeededGenerator(seed: seed)
    for app in ["ios", "web"] as [AppSlug] {
      for number in 0..<3 {
        try store.post("blob \(number)", user: UserID("u\(number)"), app: app)
        try store.ingest(
          Said.completed("\(app)-\(number)", user: "u\(number)", prices: ["price_1"]), app: app)
      }
    }
  }

  mutating func record(
    _ app: AppSlug, _ destination: DestinationName = "purchasely", status: Int64? = nil,
    error: String? = nil, took: Int64, decision: Delivery.Decision? = nil
  ) throws {
    let rows = try store.receipts(app: app).map(\.receiptID)
    let report = AttemptReport(
      startedAt: store.now, duration: .milliseconds(took), status: status, error: error,
      detail: error.map { "\($0) of a test" }, isAmbiguous: error != nil, response: [1, 2])
    store.advance(took)
    try store.apply(
      RecordAttempt(
        of: rows[Int.random(in: rows.indices, using: &random)], to: AppDestination(app, destination),
        report: report, decision: decision ?? .retry(at: store.after(1), spent: false), breaker: Breaker()))
    reports.append((app, destination, report))
  }

  /// Attempts of random kinds.
  mutating func recordMany(_ count: Int) throws {
    for _ in 0..<count {
      let app: AppSlug = Bool.random(using: &random) ? "ios" : "web"
      let destination: DestinationName = Int.random(in: 0..<4, using: &random) == 0 ? "webhook" : "purchasely"
      let took = Int64.random(in: 1...4000, using: &random)
      switch Int.random(in: 0..<6, using: &random) {
      case 0: try record(app, destination, error: "timeout", took: took)
      case 1: try record(app, destination, status: 503, took: took)
      case 2: try record(app, destination, status: 200, error: "html_answer", took: took)
      case 3: try record(app, destination, status: 422, took: took)
      default: try record(app, destination, status: took % 2 == 0 ? 200 : 201, took: took)
      }
      store.advance(Int64.random(in: 0...10 * minute, using: &random))
    }
  }
}

extension AttemptFilter {
  /// The same conditions, on what was recorded.
  fileprivate func matches(
    _ app: AppSlug, _ destination: DestinationName, _ report: AttemptReport
  ) -> Bool {
    (self.app == nil || self.app == app) && (self.destination == nil || self.destination == destination)
      && (status.map { range in report.status.map { range.range.contains($0) } ?? false } ?? true)
      && (error == nil || (!report.isAcceptance && report.cause.text == error))
      && (!isFailed || !report.isAcceptance) && report.duration >= slower ?? .zero
      && (since.map { report.startedAt >= $0 } ?? true) && (until.map { report.startedAt < $0 } ?? true)
  }

  fileprivate static func random(_ store: TestStore, _ random: inout SeededGenerator) -> AttemptFilter {
    var filter = AttemptFilter()
    func isSet() -> Bool { Int.random(in: 0..<3, using: &random) == 0 }
    if isSet() { filter.app = Bool.random(using: &random) ? "ios" : "web" }
    if isSet() { filter.destination = Bool.random(using: &random) ? "webhook" : "purchasely" }
    if isSet() {
      filter.status = ["2xx", "201", "503", "4xx"].randomElement(using: &random).flatMap { .init($0) }
    }
    if isSet() { filter.error = ["timeout", "http_503", "html_answer"].randomElement(using: &random) }
    if isSet() { filter.isFailed = true }
    if isSet() {
      filter.slower = [.milliseconds(300), .seconds(1), .seconds(3)].randomElement(using: &random)
    }
    let age = store.now.duration(since: TestStore.start).milliseconds
    if isSet() { filter.since = TestStore.start + .milliseconds(Int64.random(in: 0...age, using: &random)) }
    if isSet() { filter.until = TestStore.start + .milliseconds(Int64.random(in: 0...age, using: &random)) }
    return filter
  }
}

@Suite("Lists of attempts, and latencies", .everyEngine)
struct LatencyTests {
  @Test(arguments: 1...3)
  func `A list has exactly the attempts that match, newest first, on all pages`(seed: UInt64) throws {
    var attempts = try AttemptStore(seed: seed)
    try attempts.recordMany(60)
    let store = attempts.store
    var random = SeededGenerator(seed: seed)
    for filter in [AttemptFilter()] + (0..<60).map({ _ in AttemptFilter.random(store, &random) }) {
      let wanted = attempts.reports.filter { filter.matches($0.app, $0.destination, $0.report) }.reversed()
      var found: [AttemptSummary] = []
      var page = try store.reader.attempts(filter, limit: 7)
      found += page.entries
      while let next = page.next {
        var following = filter
        following.after = next
        page = try store.reader.attempts(following, limit: 7)
        found += page.entries
      }
      #expect(found.map(\.report.startedAt) == wanted.map(\.report.startedAt), "\(filter)")
      #expect(found.map(\.report.cause) == wanted.map(\.report.cause), "\(filter)")
      #expect(found.map(\.destination) == wanted.map(\.destination), "\(filter)")
      #expect(found.allSatisfy { $0.receiptID != nil && $0.number > 0 && $0.report.response.isEmpty })
      let total = try store.reader.total(filter)
      #expect(total == ListTotal(exact: wanted.count), "\(filter)")
    }
    #expect(try store.reader.contradictions() == [])
  }

  @Test(arguments: 1...3)
  func `Every attempt is counted in its bucket, and the roll-up keeps the sums`(seed: UInt64) throws {
    var attempts = try AttemptStore(seed: seed)
    try attempts.recordMany(80)
    let store = attempts.store
    let places = try store.reader.latencyPlaces()
    #expect(places == places.sorted { ($0.app, $0.destination) < ($1.app, $1.destination) })
    #expect(Set(places).count == places.count)
    func all(_ place: AppDestination) throws -> DeliveryLatencies {
      try store.reader.latencies(place, .week, now: store.now)
    }
    var before: [AppDestination: DeliveryLatencies] = [:]
    for place in places {
      let found = try all(place)
      before[place] = found
      var expected = DeliveryLatencies()
      for (app, destination, report) in attempts.reports where AppDestination(app, destination) == place {
        expected[report.isAcceptance ? .accepted : .failed].add(
          1, toBucket: LatencyBuckets.bucket(of: report.duration))
      }
      #expect(found == expected)
      let hours = try store.reader.latenciesByHour(place, last: 169, now: store.now)
      #expect(hours.values.reduce(DeliveryLatencies(), +) == expected)
    }
    #expect(before.values.map(\.attempts.total).reduce(0, +) == 80)
    store.advance(3 * hour)
    try store.apply(RetainPast())
    #expect(try store.integer("SELECT count(*) FROM latencies WHERE minutes = 5") == 0)
    for place in places { #expect(try all(place) == before[place]) }
    try attempts.record("ios", status: 200, took: 5)
    try store.apply(RetainPast())
    #expect(try store.integer("SELECT sum(count) FROM latencies") == 81)
    store.advance(9 * day)
    try store.apply(RetainPast())
    #expect(try store.integer("SELECT count(*) FROM latencies") == 0)
    #expect(try store.reader.latencyPlaces() == [])
  }

  @Test func `The last hour has no attempts of the hour before`() throws {
    var attempts = try AttemptStore()
    let place = AppDestination("ios", "purchasely")
    func count(_ window: LatencyWindow) throws -> Int64 {
      try attempts.store.reader.latencies(place, window, now: attempts.store.now).attempts.total
    }
    try attempts.record("ios", status: 200, took: 100)
    #expect(try LatencyWindow.allCases.map(count) == [1, 1, 1])
    attempts.store.advance(66 * minute)
    #expect(try LatencyWindow.allCases.map(count) == [0, 1, 1])
    attempts.store.advance(25 * hour)
    #expect(try LatencyWindow.allCases.map(count) == [0, 0, 1])
  }

  @Test("The time from the payment is that of the first delivery, and an interrupted attempt counts nowhere")
  func sincePayment() throws {
    let store = try TestStore()
    try store.post("blob", user: "u")
    try store.ingest(Said.completed("1", user: "u", prices: ["price_1"]))
    let place = AppDestination("ios", "purchasely")
    func record(_ status: Int64?, _ error: String?, _ decision: Delivery.Decision) throws {
      let report = AttemptReport(
        startedAt: store.now, duration: .milliseconds(40), status: status, error: error, isAmbiguous: false,
        response: [])
      try store.apply(
        RecordAttempt(
          of: try store.only().receiptID, to: place, report: report, decision: decision, breaker: Breaker()))
    }
    func found() throws -> DeliveryLatencies { try store.reader.latencies(place, .day, now: store.now) }
    try record(nil, RecordAttempt.cutShort, .retry(at: store.now, spent: false))
    #expect(try found() == DeliveryLatencies())
    store.advance(20 * second)
    try record(200, nil, .delivered(importID: "imp"))
    let first = try found()
    #expect(first.accepted.total == 1)
    #expect(first.sincePayment.total == 1)
    let seconds = try #require(first.sincePayment.quantile(0.5)).inSeconds
    #expect((19...21).contains(seconds), "\(seconds)")
    let id = try #require(try store.only().receipt?.id)
    #expect(try store.apply(ReplayReceipt(id: id, force: true, dueAt: store.now)) == .done)
    store.advance(hour)
    try record(200, nil, .delivered(importID: "imp"))
    #expect(try found().sincePayment.total == 1, "a replay is no delivery of the payment")
    #expect(try found().accepted.total == 2)
  }
}
