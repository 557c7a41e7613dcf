// What the health report says about payment processors.

import Domain
import Formats
import Platform
import Reports
import Testing

@testable import Daemon
@testable import Service

@Suite("The health of payment processors") struct ProcessorHealthTests {
  private static let place = AppProcessor("shop", "pay")

  private static func report(_ counts: [String: Int64]) -> HealthReport {
    let now = Timestamp(unixMilliseconds: 1_795_168_800_000)
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.processorTroubles = [place: counts]
    return report
  }

  private static func lines(_ counts: [String: Int64]) -> [HealthLine] {
    let advice = ProcessorAdvice(
      "pay", label: "Pay", key: "token", settings: ["api_base"], rights: "It must read", refresh: .reload)
    let report = report(counts)
    return Array(report.lines(daemon: nil, now: report.at, processors: { _ in advice }).dropFirst())
  }

  @Test("Refused credentials name the keys to correct, the command, and what the key needs")
  func refused() throws {
    let line = try #require(Self.lines(["refused": 2, "credentials": 1]).first)
    #expect(
      line.text
        == "pay refused 3 calls of shop in the last hour. Correct apps.shop.pay (token, api_base), then "
        + "run: receiptctl reload. About token: It must read")
    #expect(line.isBad)
  }

  @Test("Single failed calls are no trouble, many are")
  func failed() throws {
    let few = try #require(Self.lines(["timeout": 2, "failed": 1]).first)
    #expect(few.text.hasPrefix("3 calls of shop to pay failed in the last hour (failed 1, timeout 2)"))
    #expect(!few.isBad)
    #expect(try #require(Self.lines(["timeout": 11]).first).isBad)
  }

  @Test("Payments without a callback are reported")
  func unreported() throws {
    let line = try #require(Self.lines(["unreported": 2]).first)
    #expect(
      line.text
        == "2 payments of shop were found paid in the last hour by a fetch, without a callback of pay")
    #expect(line.isBad)
  }

  @Test("The stored report has the same troubles")
  func stored() throws {
    let report = Self.report(["timeout": 2, "unreported": 1])
    #expect(
      try #require(HealthReport(stored: report.stored.text)).processorTroubles == report.processorTroubles)
    #expect(report.json["processor_troubles_last_hour"]?["shop"]?["pay"]?["timeout"] == 2)
  }

  @Test("Calls of apps, lookups and missing callbacks count together, by processor")
  func counted() {
    let metrics = Metrics()
    metrics.backendTroubles.increment("shop", "pay", "failed")
    metrics.lookups.increment("shop", "pay", "failed")
    metrics.lookups.increment("shop", "pay", "found")
    metrics.lookups.increment("shop", "pay", "limited")
    metrics.lookups.increment("shop", "other", "refused")
    metrics.unreportedPayments.increment("shop", "pay")
    #expect(
      Metrics.troubles(metrics.processorTroubles) == [
        Self.place: ["failed": 2, "unreported": 1], AppProcessor("shop", "other"): ["refused": 1],
      ])
  }
}
