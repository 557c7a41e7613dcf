// Input that was refused or could not be read: stats, doctor and alerts say the same.

import Config
import Domain
import Formats
import Platform
import Reports
import Store
import Testing

@testable import CLI
@testable import Service

@Suite("Lost input") struct LostInputTests {
  /// A running receiptd with this report.
  private static func served(_ change: (inout HealthReport) -> Void) throws -> OperatorHarness {
    let harness = try OperatorHarness()
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let now = harness.clock.now
    var report = HealthReport(at: now, version: Version.number, startedAt: now, configuredAt: now)
    change(&report)
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    return harness
  }

  /// Each face shows what was lost with this sentence and this remedy.
  private static func expect(_ harness: OperatorHarness, _ what: String, _ remedy: String) throws {
    for command in [["stats"], ["alerts", "list"], ["doctor", "--local"]] {
      let ran = harness.run(arguments: command, environment: DoctorPage.environment)
      #expect(ran.out.contains(what), "\(command): \(ran.out)")
      #expect(ran.out.lowercased().contains(remedy.lowercased()), "\(command): \(ran.out)")
    }
  }

  @Test func `Findings of each kind that receiptd counts are on every face, in the same words`() throws {
    var reported: HealthReport?
    let harness = try Self.served { report in
      report.reasons = [.init(name: "queue_full", text: "the write queue is full", advice: "See the disk.")]
      report.refusedReload = .init(at: report.at, faults: ["apps: is empty"])
      report.needsRestart = ["listen.port"]
      report.refusedWebhooks[AppProcessor("ios", "stripe")] = ["mismatch": 3]
      report.refusedContexts["ios"] = ["key": 2]
      report.processorTroubles[AppProcessor("ios", "stripe")] = [
        "credentials": 1, "timeout": 11, "unreported": 2,
      ]
      report.destinations[AppDestination("ios", "purchasely")] = DestinationContact(
        at: report.at, isAnswered: true, outcome: "200", route: nil, failingAlone: 1)
      reported = report
    }
    let configuration = try ConfigurationLoader.load(
      path: harness.configurationPath, environment: Environment(DoctorPage.environment)
    ).configuration
    let findings = try #require(reported).findings(
      now: harness.clock.now, webhooks: { configuration.webhookAdvice(of: $0) },
      processors: { configuration.processorAdvice(of: $0) })
    #expect(findings.count == 9)
    let faces = [["stats"], ["alerts", "list"]].map {
      harness.run(arguments: $0, environment: DoctorPage.environment).out
    }
    let doctor = try DoctorPage(harness, "--local")
    for finding in findings {
      #expect(faces.allSatisfy { $0.contains(finding.line) }, "\(finding.line): \(faces)")
      doctor.expect(finding.level, finding.check, finding.what)
      #expect((2...8).contains(finding.title.split(separator: " ").count), "\(finding.title)")
    }
  }

  @Test func `doctor does not say that webhooks are well while every one is refused`() throws {
    let harness = try Self.served { $0.refusedWebhooks[AppProcessor("ios", "stripe")] = ["mismatch": 30] }
    try Self.expect(
      harness, "30 webhooks of ios refused for the signature", "compare apps.ios.stripe.webhook_secrets with")
    let all = try DoctorPage(harness, "--local", "--only", "webhooks")
    #expect(all.findings.map(\.level) == [.failure])
    all.expect(.failure, .webhooks, "none was accepted")
    let some = try Self.served {
      $0.refusedWebhooks[AppProcessor("ios", "stripe")] = ["mismatch": 30]
      $0.acceptedWebhooks[AppProcessor("ios", "stripe")] = 1
    }
    #expect(try DoctorPage(some, "--local", "--only", "webhooks").findings.map(\.level) == [.warning])
  }

  @Test func `Contexts that are refused are not only in the log`() throws {
    let harness = try Self.served { $0.refusedContexts["ios"] = ["key": 20, "limited": 5] }
    try Self.expect(
      harness, "25 requests of the clients of ios refused",
      "compare apps.ios.client with the key or the token")
    try Self.expect(harness, "(key 20, limited 5)", "set listen.proxies")
    let page = try DoctorPage(harness, "--local", "--only", "contexts")
    #expect(page.findings.map(\.level) == [.failure])
    let quiet = try Self.served { _ in }
    #expect(try DoctorPage(quiet, "--local", "--only", "contexts").findings.map(\.level) == [.ok])
  }

  @Test("A paid purchase that could not be read is shown with the field, also while receiptd is down")
  func events() throws {
    let harness = try OperatorHarness()
    let body =
      #"{"id":"evt_x","type":"checkout.session.completed","data":{"object":{"id":"cs_1","mode":"payment","#
      + #""payment_status":"settled"}}}"#
    func store(_ id: EventID, _ type: String, _ body: String) throws {
      try harness.store(
        IngestEvent(
          app: "ios", processor: "stripe", eventID: id, type: type, body: Array(body.utf8),
          content: .nothing(.unparsed)))
    }
    try store("evt_x", "checkout.session.completed", body)
    // An expired session sells nothing.
    try store("evt_y", "checkout.session.expired", #"{"type":"checkout.session.expired"}"#)
    harness.clock.advance(.minutes(1))
    try Self.expect(
      harness,
      "1 event of ios that may be paid purchases could not be read in the last 24 h "
        + "(checkout.session.completed: data.object.payment_status 1)",
      "receiptctl events reprocess --app ios --outcome unparsed")
    let service = try #require(try harness.run("stats", "--json").objects.first?["service"])
    #expect(
      service["unread_events_last_day"]?["ios"]
        == ["checkout.session.completed: data.object.payment_status": 1])
    harness.clock.advance(.hours(25))
    #expect(!harness.run("stats").out.contains("could not be read"))
  }

  @Test("At the moment the disk fills, stats asks receiptd, and does not repeat that it was ready")
  func readiness() throws {
    let harness = try Self.served { _ in }
    #expect(harness.run("stats").out.hasPrefix("receiptd is ready"))
    let full = HealthReport.Reason(name: "disk_full", text: "the disk is full", advice: "Free space.")
    harness.readiness = ReadyCommand.Answer(isReady: false, reasons: [full])
    #expect(harness.run("stats").out.hasPrefix("receiptd is NOT READY: the disk is full"))
    #expect(harness.run("alerts", "list").out.contains("the database's disk is full: contexts and events"))
    try DoctorPage(harness, "--local", "--only", "receiptd").expect(.failure, .receiptd, "the disk is full")
  }
}
