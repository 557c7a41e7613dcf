// The notices of troubles with payment processors: calls that fail, refused credentials, captures without an
// outcome, callbacks that do not arrive.

import Domain
import Formats
import Reports
import Store
import Testing

@testable import Config
@testable import Service
@testable import Upkeep

@Suite("Alerts about processors") struct ProcessorAlertTests {
  private static let key = PurchaseKey(processor: "swedbank", type: "payment_order", id: "/psp/1")

  private static func app() -> AppConfiguration {
    var app = Bench.app()
    app.processors.append(
      ConfiguredProcessor(section: SwedbankSection(merchantToken: Secret("token"), payeeID: "payee")))
    return app
  }

  private static func bench(_ condition: AlertCondition) throws -> AlertBench {
    try AlertBench([AlertBench.alert([condition])], apps: [app()])
  }

  private func order(_ bench: AlertBench) throws -> OpenCapture {
    let report = PurchaseReport(
      key: Self.key, observations: .started, startedBy: "u1", happenedAt: bench.bench.now)
    _ = try bench.bench.store(StorePayment(app: "shop", report))
    let outcome = try bench.bench.store(OrderCapture(app: "shop", CaptureOrder(key: Self.key, user: "u1")))
    guard case .begun(let open, _) = outcome else { throw Unexpected() }
    return open
  }

  private struct Unexpected: Error {}

  @Test("A refusal of the credentials is reported at once, with the keys to correct and the processor")
  func refused() throws {
    let bench = try Self.bench(.processorFailures(over: 10))
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.bench.metrics.lookups.increment("shop", "swedbank", "refused")
      let told = try bench.pass(.seconds(30), &run)
      #expect(told.map(\.notice) == ["processor_failures>10 shop firing"])
      #expect(told.first?["processors"] == ["swedbank"])
      let advice = try #require(told.first?["what_to_do"]?.stringValue)
      #expect(advice.contains("Correct apps.shop.swedbank (merchant_token, payee_id, api_base)"))
      #expect(advice.contains("About merchant_token: It must be an access token"))
      #expect(told.first?["reasons"] == ["refused": 1])
      let over = try bench.pass(.minutes(21), &run, step: .seconds(5)).map(\.notice)
      #expect(over == ["processor_failures>10 shop resolved"])
    }
  }

  @Test("Failed calls are reported beyond the limit; those of the apps and of lookups count together")
  func failing() throws {
    let bench = try Self.bench(.processorFailures(over: 10))
    try bench.live { run throws in
      for _ in 0..<6 { bench.bench.metrics.lookups.increment("shop", "swedbank", "failed") }
      for _ in 0..<4 { bench.bench.metrics.backendTroubles.increment("shop", "swedbank", "timeout") }
      for _ in 0..<9 { bench.bench.metrics.lookups.increment("shop", "stripe", "failed") }
      #expect(try bench.pass(.minutes(1), &run).isEmpty, "each processor has its own limit")
      bench.bench.metrics.backendTroubles.increment("shop", "swedbank", "unreachable")
      let told = try bench.pass(.seconds(30), &run)
      #expect(told.map(\.notice) == ["processor_failures>10 shop firing"])
      let summary = try #require(told.first?["summary"]?.stringValue)
      #expect(summary.contains("11 calls of shop to swedbank failed within 10m (failed 6, timeout 4"))
      #expect(told.first?["commands"] == ["receiptctl payments list"])
    }
  }

  @Test("A capture without an outcome is reported after the limit, and its end resolves the alert")
  func capture() throws {
    let bench = try Self.bench(.captureUnknown(over: .minutes(15)))
    let open = try order(bench)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(15), &run).isEmpty)
      let told = try bench.pass(.minutes(1), &run)
      #expect(told.map(\.notice) == ["capture_unknown>15m shop firing"])
      #expect(told.first?["processors"] == ["swedbank"])
      #expect(told.first?["since"] == .time(open.orderedAt + .minutes(15)))
      let charged = CaptureOutcome(kind: .captured, status: 201, body: [])
      _ = try bench.bench.store(EndCapture(app: "shop", open.reference, charged, report: nil))
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["capture_unknown>15m shop resolved"])
    }
  }

  @Test("A capture that was given up is reported for a week, or until the payment's outcome is known")
  func abandoned() throws {
    let bench = try Self.bench(.captureUnknown(over: .minutes(15)))
    let open = try order(bench)
    let lost = CaptureOutcome(kind: .abandoned, status: 504, body: [])
    _ = try bench.bench.store(EndCapture(app: "shop", open.reference, lost, report: nil))
    try bench.live { run throws in
      let told = try bench.pass(.seconds(30), &run)
      #expect(told.map(\.notice) == ["capture_unknown>15m shop firing"])
      #expect(told.first?["what_to_do"]?.stringValue?.contains("receiptctl payments fetch ID") == true)
      let report = PurchaseReport(key: Self.key, observations: .closed, happenedAt: bench.bench.now)
      _ = try bench.bench.store(StorePayment(app: "shop", report))
      #expect(try bench.pass(.minutes(1), &run).map(\.notice) == ["capture_unknown>15m shop resolved"])
    }
  }

  @Test func `After a week, an abandoned capture is not reported any more`() throws {
    let work = UnfinishedCaptures(abandoned: 1, lastAbandoned: ManualClock().now)
    func trouble(after time: Duration) -> Finding? {
      .captures(
        ["pay": work], limit: .minutes(15), app: "shop", now: (work.lastAbandoned ?? ManualClock().now) + time
      )
    }
    #expect(trouble(after: .days(6)) != nil)
    #expect(trouble(after: .days(8)) == nil)
  }

  @Test func `A payment that no callback reported raises an alert`() throws {
    let bench = try Self.bench(.callbacksMissing)
    try bench.live { run throws in
      #expect(try bench.pass(.minutes(1), &run).isEmpty)
      bench.bench.metrics.unreportedPayments.increment("shop", "swedbank")
      let told = try bench.pass(.seconds(30), &run)
      #expect(told.map(\.notice) == ["callbacks_missing shop firing"])
      #expect(told.first?["processors"] == ["swedbank"])
      #expect(
        told.first?["summary"]?.stringValue?.contains("no callback of Swedbank Pay had reported it") == true)
    }
  }
}

extension ManualClock {
  fileprivate var now: Timestamp { Timestamp(unixMilliseconds: wallMilliseconds) }
}
