// `status`, which an incident begins with, and `show`, which opens anything.

import Config
import Domain
import Formats
import Platform
import Service
import Store
import Terminal
import TestSupport
import Testing
import Upkeep

@testable import CLI
@testable import Web

@Suite("receiptctl status and show", .everyPlace) struct StatusCommandTests {
  @Test(.fileOnly)
  func `status has the problems first, the most urgent first and each once, then the apps`() throws {
    let harness = try OperatorHarness()
    let now = harness.clock.now
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let well = harness.run("status")
    #expect(well.code == .done)
    #expect(well.out.hasPrefix("receiptd is ready"))
    #expect(well.out.contains("Nothing is wrong."))
    report.needsRestart = ["listen.port"]
    report.refusedWebhooks = [AppProcessor("ios", "stripe"): ["signature": 3]]
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    try harness.fail(try harness.purchase("sub_1"))
    let lines = harness.run("status").out.split(separator: "\n", omittingEmptySubsequences: false)
    let marks = lines.prefix { !$0.isEmpty }.filter { !$0.hasPrefix(" ") }.dropFirst()
    #expect(
      marks.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }.sorted().first == "! applied")
    #expect(marks.first?.hasPrefix("FAIL  webhooks") == true)
    #expect(marks.count(where: { $0.contains("webhooks of ios refused") }) == 1)
    #expect(marks.contains { $0.contains("1 receipt of ios failed") })
    #expect(lines.contains { $0.hasPrefix("APP") })
    #expect(!harness.run("status").out.contains("Nothing is wrong."))
  }

  @Test(.fileOnly)
  func `Of a file that cannot be read, status says nothing about apps that are missing in it`() throws {
    let harness = try OperatorHarness()
    let now = harness.clock.now
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.refusedReload = .init(at: now, faults: ["line 3, column 9: a comma is missing"])
    report.refusedWebhooks = [AppProcessor("ios", "stripe"): ["signature": 3]]
    report.processorTroubles = [AppProcessor("ios", "stripe"): ["refused": 1]]
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    let breaker = Breaker(state: .paused, probeAt: now, since: now, cause: .status(403))
    try harness.attempt(
      try harness.purchase("sub_1"), status: 403, .retry(at: now, spent: false), breaker: breaker)
    try harness.configure { $0.replacing("apps:", with: "apps") }
    let shown = harness.run("status").out
    #expect(shown.contains("FAIL  applied        the last reload was refused"))
    #expect(shown.contains("line 3, column 9: a comma is missing"))
    #expect(!shown.contains("not configured"))
    #expect(!shown.lowercased().contains("configure apps.ios.stripe again"))
    #expect(shown.contains("Compare apps.ios.stripe.webhook_secrets with"))
    #expect(shown.contains("Correct apps.ios.stripe (api_key"))
    #expect(shown.contains("stopped (http_403)"), "the stored breaker is the app's")
  }

  @Test(.fileOnly)
  func `An app that receiptd has not applied is not called running`() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    let now = harness.clock.now
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.apps = ["ios"]
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    let lines = harness.run("status").out.split(separator: "\n")
    #expect(lines.first { $0.hasPrefix("ios ") }?.hasSuffix("running") == true)
    #expect(lines.first { $0.hasPrefix("web ") }?.hasSuffix("not applied") == true)
    let objects = try harness.run("status", "--json").objects
    #expect(objects.dropFirst().map { $0["served"] } == [true, false])
  }

  @Test("status --json has one object with the service and its findings, then one for each app")
  func json() throws {
    let harness = try OperatorHarness(apps: ["ios", "web"])
    try harness.fail(try harness.purchase("sub_1"))
    let objects = try harness.run("status", "--json").objects
    #expect(objects.count == 3)
    #expect(objects.first?["service"]?["running"] == false)
    #expect(Self.findings(objects.first, "check") == ["receiptd", "work"])
    #expect(objects.dropFirst().map { $0["app"] } == ["ios", "web"])
    let one = try harness.run("status", "--json", "--app", "web").objects
    #expect(Self.findings(one.first, "check") == ["receiptd"])
    #expect(one.dropFirst().map { $0["app"] } == ["web"])
  }

  @Test(.fileOnly)
  func `status and the dashboard list the same problems in one order, an operator's pause last`() throws {
    let harness = try OperatorHarness()
    let now = harness.clock.now
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.needsRestart = ["listen.port"]
    report.refusedWebhooks = [AppProcessor("ios", "stripe"): ["signature": 3]]
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    try harness.fail(try harness.purchase("sub_1"))
    let breaker = Breaker(state: .paused, probeAt: now, since: now, cause: .status(403))
    try harness.attempt(
      try harness.purchase("sub_2"), status: 403, .retry(at: now, spent: false), breaker: breaker)
    #expect(harness.run("apps", "pause", "ios", "--why", "w").code == .done)
    let titles = Self.findings(try harness.run("status", "--json").objects.first, "title")
    #expect(
      titles == [
        "Webhooks are refused", "A destination refuses the configuration", "Receipts failed",
        "The configuration waits for a restart", "Deliveries are paused by an operator",
      ])
    let configuration = try ConfigurationLoader.load(
      path: harness.configurationPath, environment: Environment(DoctorPage.environment)
    ).configuration
    let reader = try harness.reader()
    let stored = StoredFindings(configuration.apps, reader, now: now)
    let overview = TroubleList(
      Finding.current(report, stored, configuration, now: now),
      try AlertPreview.troubles(
        configuration, reader: reader, stored: stored, health: report, freeBytes: nil, now: now),
      newFailures: try reader.loudFailures(), now: now)
    let shown = overview.whole.markup.matches(of: #/<strong>([^<]*)<\/strong>/#).map { String($0.1) }
    #expect(shown == titles)
  }

  /// A field of the findings.
  private static func findings(_ object: JSONValue?, _ field: String) -> [String?] {
    guard case .array(let findings)? = object?["findings"] else { return [] }
    return findings.map { $0[field]?.stringValue }
  }

  @Test func `show opens what an id, or a part of one, is about, as the group's own command`() throws {
    let harness = try OperatorHarness()
    let context = try harness.context("e30=", price: "price_1")
    let receipt = try harness.purchase("sub_1NkXMvLkdIwHu7ix")
    try harness.fail(receipt)
    #expect(harness.run("receipts", "replay", "--state", "failed", "--yes").code == .done)
    let job = try #require(try harness.reader().jobs(JobFilter(), limit: 1).first?.id.text)
    let purchase = harness.run("receipts", "show", receipt).out
    #expect(harness.run("show", receipt).out == purchase)
    #expect(harness.run("show", "sub_1NkXMvLkdIwHu7ix").out == purchase)
    #expect(harness.run("show", "sub_1NkXMvLkd").out == purchase)
    #expect(harness.run("show", String(receipt.suffix(16))).out == purchase)
    #expect(harness.run("show", context).out == harness.run("contexts", "show", context).out)
    #expect(harness.run("show", "evt_1").out == harness.run("events", "show", "evt_1").out)
    #expect(harness.run("show", job).out == harness.run("jobs", "show", job).out)
    #expect(harness.run("show", String(job.dropLast(3))).out == harness.run("jobs", "show", job).out)
    #expect(harness.run("show", "jdo-1").out == harness.run("users", "show", "jdo-1").out)
    #expect(try harness.run("show", receipt, "--json").objects.first?["id"] == .string(receipt))
  }

  @Test func `show lists what several have, and says that nothing has an id`() throws {
    let harness = try OperatorHarness()
    for end in ["aaaa", "bbbb"] { try harness.purchase(ObjectID("sub_1NkXMvLk\(end)")) }
    let several = harness.run("show", "sub_1NkXMvLk")
    #expect(several.code == .partly)
    #expect(several.out.split(separator: "\n").count == 3)
    #expect(several.notes.contains("show one of those in the list"))
    #expect(harness.run("show", "sub_unknown").code == .notFound)
  }

  @Test func `An operator's reason is --why; the name that it had in some commands still works`() throws {
    let harness = try OperatorHarness()
    for (user, option, text) in [("jdo-1", "--why", "request 1"), ("jdo-2", "--reason", "request 2")] {
      try harness.deliver(try harness.purchase(ObjectID("sub_\(user)"), user: user))
      #expect(harness.run("users", "forget", user, "--yes", option, text).code == .done)
      let entry = try #require(try harness.run("audit", "list", "--json").objects.first)
      #expect(entry["reason"] == .string(text))
    }
  }

  @Test func `The audit is searched by who made a change, and by the command or its group`() throws {
    let harness = try OperatorHarness()
    #expect(harness.run("apps", "pause", "ios", "--why", "w").code == .done)
    #expect(harness.run("apps", "resume", "ios").code == .done)
    func found(_ options: String...) throws -> [String?] {
      try harness.run(arguments: ["audit", "list", "--json"] + options).objects.map {
        $0["action"]?.stringValue
      }
    }
    #expect(try found("--who", "ann") == ["apps resume", "apps pause"])
    #expect(try found("--who", "an") == [])
    #expect(try found("--what", "apps pause") == ["apps pause"])
    #expect(try found("--what", "apps") == ["apps resume", "apps pause"])
    #expect(try found("--what", "app") == [])
  }

  @Test func `failures ack --undo opens the groups again, and the audit says so`() throws {
    let harness = try OperatorHarness()
    try harness.fail(try harness.purchase("sub_1"))
    #expect(harness.run("failures", "ack", "--reason", "http_422", "--why", "asked them").code == .done)
    #expect(try harness.run("failures", "list", "--json").objects.first?["note"] == "asked them")
    let undone = harness.run("failures", "ack", "--reason", "http_422", "--undo")
    #expect(undone.out == "Opened 1 group again.\n")
    #expect(try harness.run("failures", "list", "--json").objects.first?["state"] == "new")
    #expect(try harness.run("audit", "list", "--json").objects.first?["action"] == "failures ack --undo")
  }
}
