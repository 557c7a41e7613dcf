// `stats` and `alerts list` begin with the relay's own health.

import Domain
import Formats
import Platform
import Store
import Terminal
import Testing

@testable import Service

@Suite("Health in receiptctl") struct HealthCommandTests {
  @Test(arguments: ["stats", "top"])
  func `Without a receiptd that is reported first, before an older report`(verb: String) throws {
    let harness = try OperatorHarness()
    let now = harness.clock.now
    let report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    _ = try harness.writer.apply(
      SaveServiceReport(ServiceReport(name: .health, at: now, content: report.json.text)), now: now)
    harness.clock.advance(.seconds(60))
    let shown = harness.run(verb)
    #expect(shown.code == .done)
    #expect(shown.out.hasPrefix("receiptd is NOT RUNNING: nothing is accepted and nothing is delivered."))
    #expect(shown.out.contains("It last reported 1 min ago."))
    let service = try #require(try harness.run(verb, "--json").objects.first?["service"])
    #expect(service["running"] == false)
    #expect(service["ready"] == false)
    #expect(service["process"] == .null)
  }

  @Test(arguments: ["stats", "alerts"])
  func `stats and alerts list have the same findings, the most urgent first`(group: String) throws {
    let harness = try OperatorHarness()
    let now = harness.clock.now
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.needsRestart = ["listen.port"]
    report.refusedWebhooks = [AppProcessor("ios", "stripe"): ["signature": 3]]
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    let arguments = group == "stats" ? ["stats", "--json"] : ["alerts", "list", "--json"]
    func findings() throws -> [JSONValue] {
      let found = try harness.run(arguments: arguments).objects.first?["findings"]
      guard case .array(let findings)? = found else { return [] }
      return findings
    }
    let stopped = try findings()
    #expect(stopped.count == 1)
    #expect(stopped.first?["check"] == "receiptd")
    #expect(stopped.first?["severity"] == "failure")
    #expect(stopped.first?["title"] == "receiptd is not running")
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let served = try findings()
    // What refuses webhooks is more urgent than a restart.
    #expect(served.map { $0["check"] } == ["webhooks", "applied"])
    #expect(served.map { $0["severity"] } == ["failure", "warning"])
    #expect(served.first?["app"] == "ios")
    #expect(served.first?["title"] == "Webhooks are refused")
    #expect(served.last?["app"] == .null)
    #expect(served.last?["remedy"]?.stringValue?.contains("restart") == true)
  }

  @Test("Without configured alerts, alerts list shows those that would fire, and that no notices are sent")
  func preview() throws {
    let harness = try OperatorHarness()
    let quiet = harness.run("alerts", "list")
    #expect(quiet.out.contains("Nothing would fire."))
    #expect(quiet.notes.contains("No alerts are configured, so no notices are sent"))
    try harness.fail(try harness.purchase("sub_2"))
    let id = try harness.purchase("sub_1")
    let breaker = Breaker(
      state: .paused, probeAt: harness.clock.now, since: harness.clock.now, cause: .status(403))
    try harness.attempt(id, status: 403, .retry(at: harness.clock.now, spent: false), breaker: breaker)
    harness.clock.advance(.minutes(20))
    let shown = harness.run("alerts", "list")
    #expect(shown.code == .done)
    #expect(shown.out.hasPrefix("receiptd is NOT RUNNING"))
    for alert in ["breaker_open", "receipt_failed", "oldest_pending>15m"] {
      #expect(shown.out.contains(alert))
    }
    #expect(shown.out.contains("purchasely refuses the configuration of ios"))
    let objects = try harness.run("alerts", "list", "--json").objects
    #expect(objects.first?["service"]?["running"] == false)
    #expect(
      objects.dropFirst().compactMap { $0["alert"]?.stringValue }
        == ["breaker_open", "receipt_failed", "oldest_pending>15m"], "the most urgent first")
  }
}
