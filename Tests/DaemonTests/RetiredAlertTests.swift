// Alerts that fire when their rule, their app or their receiver is taken out of the configuration, and the
// ledger's rules about time.

import Domain
import Formats
import HTTPClient
import Service
import Store
import Testing

@testable import Config
@testable import Upkeep

@Suite("Alerts that are no longer watched") struct RetiredAlertTests {
  private static let elsewhere = "https://b.example.com/"
  private static let (soon, late) = (
    AlertCondition.oldestPending(over: .minutes(5)), AlertCondition.oldestPending(over: .hours(1))
  )

  /// A change of the alerts while `oldest_pending>5m` fires.
  enum Change: CaseIterable, Sendable {
    case limit, rule, apps, address, all

    var alerts: [Configuration.Alert] {
      switch self {
      case .limit: [AlertBench.alert([RetiredAlertTests.late, .database])]
      case .rule: [AlertBench.alert([.database])]
      case .apps: [AlertBench.alert([RetiredAlertTests.soon], apps: ["other"])]
      case .address: [AlertBench.alert([RetiredAlertTests.soon], to: RetiredAlertTests.elsewhere)]
      case .all: []
      }
    }
  }

  private static let apps = [Bench.app(), Bench.app("other")]

  /// The notices to an address, in order.
  private static func notices(_ bench: AlertBench, to url: String = AlertBench.hook) throws -> [String] {
    try bench.network.requests.filter { $0.url == url }.map { try JSONValue(parsing: $0.body).notice }
  }

  @Test(arguments: Change.allCases)
  func `An incident stays open for ever when a reload changes or removes its rule`(_ change: Change) throws {
    let bench = try AlertBench([AlertBench.alert([Self.soon])], apps: Self.apps)
    try bench.bench.buy(1)
    try bench.live { run throws in
      try bench.pass(.minutes(6), &run)
      bench.use(try AlertBench.plan(change.alerts, apps: Self.apps))
      try bench.pass(.minutes(2), &run)
    }
    let told = ["oldest_pending>5m shop firing", "oldest_pending>5m shop resolved"]
    #expect(try Self.notices(bench) == told)
    let new = change == .address ? ["oldest_pending>5m shop firing"] : []
    #expect(try Self.notices(bench, to: Self.elsewhere) == new)
  }

  @Test(arguments: [Change.limit, .rule, .apps])
  func `An incident stays open for ever when receiptd is started with another rule`(_ change: Change) throws {
    let bench = try AlertBench([AlertBench.alert([Self.soon])], apps: Self.apps)
    try bench.bench.buy(1)
    try bench.live { run throws in try bench.pass(.minutes(6), &run) }
    try bench.live(change.alerts) { run throws in try bench.pass(.minutes(2), &run) }
    #expect(try Self.notices(bench).last == "oldest_pending>5m shop resolved")
    #expect(try Self.notices(bench).count == 2)
  }

  @Test("A changed limit first ends the alert of the old one: both may be one incident of the receiver")
  func order() throws {
    let bench = try AlertBench([AlertBench.alert([Self.soon])])
    try bench.bench.buy(1)
    try bench.live { run throws in
      try bench.pass(.minutes(61), &run)
      bench.use(try AlertBench.plan([AlertBench.alert([Self.late], every: .days(1))], apps: [Bench.app()]))
      let told = try bench.pass(.minutes(2), &run).map(\.notice)
      #expect(told == ["oldest_pending>5m shop resolved", "oldest_pending>1h shop firing"])
    }
  }

  @Test("The end of one limit ends an incident that another limit of the same condition shares")
  func sharedIncident() throws {
    var alert = AlertBench.alert([Self.soon, Self.late], every: .days(1))
    alert.to = nil
    alert.form = .pagerduty
    alert.routingKey = Secret(String(repeating: "k", count: 32))
    let bench = try AlertBench([alert])
    try bench.bench.buy(1)
    try bench.live { run throws in
      try bench.pass(.minutes(62), &run)
      bench.clock.setWall(by: .minutes(-30))
      try bench.pass(.minutes(2), &run)
      func actions() throws -> [String] {
        try bench.network.requests.map { try JSONValue(parsing: $0.body) }
          .map { "\($0["event_action"]?.stringValue ?? "") \($0["dedup_key"]?.stringValue ?? "")" }
      }
      let key = "receiptd/oldest_pending/shop"
      // The third repeats the first, because the clock was set back.
      #expect(try actions() == [String](repeating: "trigger \(key)", count: 3))
      try bench.bench.store(
        CancelReceipt(id: try #require(try bench.bench.receipt(1)?.receipt).id, note: "x"))
      try bench.pass(.minutes(1), &run)
      #expect(try actions().dropFirst(3) == ["resolve \(key)", "resolve \(key)"])
    }
  }

  @Test func `The log names an alert whose end cannot reach a receiver that was removed`() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in try bench.pass(.seconds(2), &run) }
    try bench.live([AlertBench.alert([.database], to: Self.elsewhere)]) { run throws in
      try bench.pass(.seconds(2), &run)
    }
    try bench.bench.waitForLog("cannot report the end of an alert")
    #expect(try bench.bench.reader.alerts().isEmpty)
    try bench.live([AlertBench.alert([.breakerOpen])]) { run throws in
      try bench.pass(.seconds(2), &run)
      bench.network.use { _ in 410 }
      bench.use(try AlertBench.plan([], apps: [Bench.app()]))
      #expect(try bench.pass(.hours(1), &run).count == 1)
    }
    #expect(try bench.bench.reader.alerts().isEmpty)
  }

  @Test("A removed address that does not answer gets a dozen attempts to send the end of an alert")
  func lastAttempts() throws {
    let bench = try AlertBench([AlertBench.alert([.breakerOpen])])
    try bench.setBreaker(.open)
    try bench.live { run throws in
      try bench.pass(.seconds(2), &run)
      bench.network.use { _ in 500 }
      bench.use(try AlertBench.plan([], apps: [Bench.app()]))
      #expect(try bench.pass(.hours(2), &run, step: .seconds(5)).count == Alerter.lastAttemptsMax)
    }
    #expect(try bench.bench.reader.alerts().isEmpty)
  }

  @Test func `The alert of a condition that another version of receiptd had is ended, too`() throws {
    let bench = try AlertBench([AlertBench.alert([.database])])
    let key = AlertRecord.Key(
      destination: AlertNotice.digest(of: AlertBench.hook), condition: "moon_phase>3d", app: "shop")
    try bench.bench.store(
      SaveAlerts(sent: [
        AlertRecord(key: key, isFiring: true, since: bench.bench.now, notifiedAt: bench.bench.now)
      ]))
    try bench.live { run throws in
      #expect(try bench.pass(.seconds(2), &run).map(\.notice) == ["moon_phase>3d shop resolved"])
    }
  }

  @Test("Two alerts of one address share no notice: after a restart neither ends what the other has reported")
  func sharedAddress() throws {
    let alerts = ["shop", "other"].map { AlertBench.alert([.breakerOpen], apps: [$0]) }
    let bench = try AlertBench(alerts, apps: Self.apps)
    for app in Self.apps { try bench.setBreaker(.open, app: app.slug) }
    try bench.live { run throws in #expect(try bench.pass(.seconds(5), &run).count == 2) }
    try bench.live(alerts) { run throws in #expect(try bench.pass(.minutes(5), &run).isEmpty) }
  }

  @Test("A removed app: what it had raised ends, and its receipts, which nobody delivers, raise an alert")
  func removedApp() throws {
    let alerts = [AlertBench.alert([.breakerOpen, .oldestPending(over: .days(1))])]
    let bench = try AlertBench(alerts, apps: Self.apps)
    try bench.setBreaker(.open)
    try bench.bench.buy(1)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["breaker_open shop firing"])
      bench.use(try AlertBench.plan(alerts, apps: [Bench.app("other")]))
      let told = try bench.pass(.minutes(1), &run)
      #expect(told.map(\.notice) == ["breaker_open shop resolved", "oldest_pending>1d shop firing"])
      let summary = try #require(told.last?["summary"]?.stringValue)
      #expect(summary.hasPrefix("the app shop is not configured: its 1 pending receipt is kept"))
      bench.use(try AlertBench.plan(alerts, apps: Self.apps))
      let back = try bench.pass(.minutes(1), &run).map(\.notice)
      #expect(back.contains("oldest_pending>1d shop resolved"))
    }
  }

  // The ledger

  private static let start = Timestamp(unixMilliseconds: 1_795_168_800_000)

  private static let key = Finding.Key(condition: .breakerOpen, app: "shop")
  private static let finding = Finding(
    .warning, .work, "It is so", .soon, "", app: "shop", since: start)
  private static let begin = AlertLedger.Notice.firing(key, finding, since: start)

  /// A ledger that has just reported the finding.
  private static func ledger() -> AlertLedger {
    var ledger = AlertLedger(destination: "d", every: .minutes(10), records: [])
    _ = ledger.note(begin, now: start)
    return ledger
  }

  private static func next(_ ledger: AlertLedger, _ after: Duration) -> AlertLedger.Notice? {
    ledger.next([key: finding], now: start + after, isWatched: { _ in true }, isCertain: { _ in true })
  }

  @Test("After the clock was set back a trouble is reported again, not only when the clock has caught up")
  func clockSetBack() {
    let ledger = Self.ledger()
    #expect(Self.next(ledger, .minutes(9)) == nil)
    #expect(Self.next(ledger, .hours(-1)) == Self.begin)
  }

  @Test func `New troubles and ends go before a repeat, which says when its trouble began`() {
    var ledger = Self.ledger()
    let now = Self.start + .minutes(10)
    let new = Finding.Key(condition: .receiptFailed, app: "shop")
    let found = Finding(.warning, .work, "It is so", .soon, "", app: "shop", since: now)
    func next(_ troubles: [Finding.Key: Finding]) -> AlertLedger.Notice? {
      ledger.next(troubles, now: now, isWatched: { _ in true }, isCertain: { _ in true })
    }
    #expect(next([Self.key: found]) == .firing(Self.key, found, since: Self.start))
    #expect(next([Self.key: found, new: found]) == .firing(new, found, since: now))
    _ = ledger.note(.firing(new, found, since: now), now: now)
    #expect(next([Self.key: found]) == .resolved(new, since: now))
  }

  @Test("The end of an alert does not begin its interval again: a trouble that returns is reported in time")
  func endKeepsInterval() {
    var ledger = Self.ledger()
    _ = ledger.note(.resolved(Self.key, since: Self.start), now: Self.start + .minutes(9))
    #expect(Self.next(ledger, .minutes(9)) == nil)
    #expect(Self.next(ledger, .minutes(10)) == Self.begin)
  }
}
