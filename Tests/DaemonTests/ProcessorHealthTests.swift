// What the health report says about payment processors.

import Domain
import Formats
import Reports
import Testing

@testable import Service

@Suite("The health of payment processors") struct ProcessorHealthTests {
  private static let place = AppProcessor("shop", "pay")

  private static func report(_ counts: [String: Int64]) -> HealthReport {
    let now = Timestamp(unixMilliseconds: 1_795_168_800_000)
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.processorTroubles = [place: counts]
    return report
  }

  private static func findings(_ counts: [String: Int64]) -> [Finding] {
    let advice = ProcessorAdvice(
      "pay", label: "Pay", key: "token", settings: ["api_base"], rights: "It must read", refresh: .reload)
    let report = report(counts)
    return report.findings(now: report.at, webhooks: { _ in nil }, processors: { _ in advice })
  }

  @Test func `Refused credentials name the keys to correct, the command, and what the key needs`() throws {
    let finding = try #require(Self.findings(["refused": 2, "credentials": 1]).first)
    #expect(
      finding.line
        == "pay refused 3 calls of shop in the last hour. Correct apps.shop.pay (token, api_base), then "
        + "run: receiptctl reload. About token: It must read")
    #expect(finding.level == .failure)
  }

  @Test func `Single failed calls are no trouble, many are`() throws {
    let few = try #require(Self.findings(["timeout": 2, "failed": 1]).first)
    #expect(few.line.hasPrefix("3 calls of shop to pay failed in the last hour (failed 1, timeout 2)"))
    #expect(few.level == .ok)
    #expect(Self.findings(["timeout": 11]).first?.level == .warning)
  }

  @Test func `Payments without a callback are reported`() throws {
    let finding = try #require(Self.findings(["unreported": 2]).first)
    #expect(
      finding.line
        .hasPrefix(
          "2 payments of shop were found paid in the last hour, and no callback of pay had reported them. "
            + "No payment is lost"))
    #expect(finding.level == .warning)
  }

  @Test func `The stored report has the same troubles`() throws {
    let report = Self.report(["timeout": 2, "unreported": 1])
    #expect(
      try #require(HealthReport(stored: report.stored.text)).processorTroubles == report.processorTroubles)
    #expect(report.json["processor_troubles_last_hour"]?["shop"]?["pay"]?["timeout"] == 2)
  }

  @Test func `Calls of apps, lookups and missing callbacks count together, by processor`() {
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
