// The alerter on a real database, with a manual clock and a scripted network.

import Domain
import Formats
import HTTPClient
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Reports
@testable import Service
@testable import Upkeep

/// Whether a test's program sends the alerts.
struct Duty: Ownership {
  let isOn = Monitor(true)

  func lease(of app: AppSlug) -> Lease? { Lease(fence: nil) }
  func endingLease(of app: AppSlug) -> Lease? { nil }
  var apps: Set<AppSlug>? { nil }
  var doesSharedWork: Bool { isOn.withLock { $0 } }
}

/// One thread.
final class AlertBench {
  static let hook = "https://hooks.example.com/services/T0/B0/very-secret"

  let clock: ManualClock
  let bench: Bench
  let network = ScriptedTransport()
  let freeBytes = Monitor<Int64?>(100 << 30)
  let unreadiness = Monitor<[String]>([])
  let database = Monitor<[ReadinessReason]>([])
  let duty: Duty
  /// The configurations that were applied and refused.
  let ledger: ConfigurationLedger
  let health: HealthMonitor?
  private var alerter: Alerter

  static func alert(
    _ on: [AlertCondition], to: String = hook, every: Duration = .minutes(10), apps: [AppSlug]? = nil
  ) -> Configuration.Alert {
    Configuration.Alert(to: Secret(to), on: on, every: every, apps: apps)
  }

  static func plan(
    _ alerts: [Configuration.Alert], _ heartbeat: Configuration.Heartbeat? = nil, apps: [AppConfiguration]
  ) throws -> AlertPlan {
    try AlertPlan(Configuration(database: .file("/none"), apps: apps, alerts: alerts, heartbeat: heartbeat))
  }

  init(
    _ alerts: [Configuration.Alert], heartbeat: Configuration.Heartbeat? = nil,
    apps: [AppConfiguration] = [Bench.app()], writes: Bool = true, hasHealth: Bool = false
  ) throws {
    clock = ManualClock()
    bench = try Bench(apps, clock: clock, isStarted: false)
    if writes { try bench.committer.start() }
    duty = Duty()
    ledger = ConfigurationLedger(Configuration(database: .file("/none"), apps: apps), now: bench.now)
    health =
      hasHealth
      ? HealthMonitor(
        readiness: Readiness(), ledger: ledger, metrics: bench.metrics, startedAt: bench.now,
        freeBytes: { nil })
      : nil
    alerter = try Self.alerter(
      try Self.plan(alerts, heartbeat, apps: apps), bench, network, freeBytes, unreadiness, database, duty,
      health)
  }

  private static func alerter(
    _ plan: AlertPlan, _ bench: Bench, _ network: ScriptedTransport, _ freeBytes: Monitor<Int64?>,
    _ unreadiness: Monitor<[String]>, _ database: Monitor<[ReadinessReason]>, _ duty: Duty,
    _ health: HealthMonitor?
  ) throws -> Alerter {
    let sources = AlertSources(
      metrics: bench.metrics, committer: bench.committer, freeBytes: { freeBytes.withLock { $0 } },
      unreadiness: { unreadiness.withLock { $0 } }, health: health, database: { database.withLock { $0 } })
    return Alerter(
      plan, sources: sources, transport: network, reader: try StoreReader(path: bench.path),
      dependencies: Dependencies(log: bench.log, clock: bench.clock), ownership: duty)
  }

  /// One run of the alerter; the next one starts from the database only.
  func live(
    _ alerts: [Configuration.Alert]? = nil, settles: Bool = true, _ body: (inout AlerterRun) throws -> Void
  ) throws {
    if let alerts {
      let apps = bench.directory.slugs.map { Bench.app($0) }
      alerter = try Self.alerter(
        try Self.plan(alerts, apps: apps), bench, network, freeBytes, unreadiness, database, duty, health)
    }
    try alerter.drive(body)
    if settles { try authorize() }
  }

  func use(_ plan: AlertPlan) { alerter.use(plan) }

  /// Waits until everything submitted is on disk.
  func authorize() throws { try bench.store(Barrier()) }

  /// Advances the clock in steps, and returns the notices sent meanwhile.
  @discardableResult
  func pass(_ time: Duration, _ run: inout AlerterRun, step: Duration = .seconds(1)) throws -> [JSONValue] {
    let before = network.requests.count
    var left = time
    while true {
      _ = run.step()
      run.handleAnswers(within: .zero)
      guard left > .zero else { break }
      clock.advance(min(step, left))
      left -= step
    }
    return try network.requests.dropFirst(before).filter { $0.method == .post }
      .map { try JSONValue(parsing: $0.body) }
  }

  func setBreaker(_ state: Breaker.State, app: AppSlug = "shop") throws {
    let breaker = Breaker(
      state: state, since: state == .closed ? nil : bench.now, cause: state == .closed ? nil : .status(503))
    try bench.store(SaveBreaker(app: app, breaker: breaker))
  }

  /// Makes a receipt that the destination refuses.
  func fail(_ number: Int, status: Int = 422) throws {
    try bench.buy(number)
    let id = try #require(try bench.receipt(number)).receiptID
    let report = AttemptReport(at: bench.now, status: Int64(status))
    try bench.store(RecordAttempt(of: id, app: "shop", report: report, decision: .failed(.status(status))))
  }
}

extension JSONValue {
  /// The alert, app and state of a notice.
  var notice: String {
    ["alert", "app", "state"].map { self[$0]?.stringValue ?? "-" }.joined(separator: " ")
  }
}
