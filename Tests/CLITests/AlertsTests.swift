// Tests of notices: whether they arrive, and which were sent.

import Domain
import Formats
import FoundationEssentials
import HTTPServer
import Platform
import Store
import Terminal
import TestSupport
import Testing

@testable import Service
@testable import Upkeep

@Suite("Alerts", .everyPlace) struct AlertsTests {
  /// Accepts or rejects every request with one status.
  private final class Receiver: RequestHandler {
    let status: Int
    let bodies = Monitor<[JSONValue]>([])

    init(_ status: Int) { self.status = status }

    func admit(_ head: RequestHead) -> Admission { .body(maximumBytes: 65_536) }
    func handle(_ request: Request, _ responder: Responder) {
      // Invalid JSON is ignored; the test then misses the notice.
      if let body = try? JSONValue(parsing: request.body) { bodies.withLock { $0.append(body) } }
      responder.respond(Response(status: status, text: "ok"))
    }
    func response(to rejection: Rejection, head: RequestHead?) -> Response { Response(status: 500) }
  }

  /// A configuration whose alerts go to these addresses.
  private static func harness(_ addresses: [String]) throws -> OperatorHarness {
    try harness(entries: addresses.map { "to: '\($0)'" })
  }

  private static func harness(entries: [String]) throws -> OperatorHarness {
    let harness = try OperatorHarness()
    let path = harness.configurationPath
    let text = String(decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
    let alerts = entries.map { "{ \($0), on: ['breaker_open'] }" }.joined(separator: ", ")
    let changed = text.replacing("{ database:", with: "{ alerts: [\(alerts)], database:", maxReplacements: 1)
    try Data(changed.utf8).write(to: URL(filePath: path))
    return harness
  }

  @Test func `A test notice goes to every address; the exit code says how many accepted it`() throws {
    StandardStream.ignoreBrokenPipes()
    let (good, bad) = (Receiver(200), Receiver(404))
    let servers = try [good, bad].map { try Server(ServerConfiguration(address: "127.0.0.1"), handler: $0) }
    defer { for server in servers { server.stop(grace: .zero) } }
    let urls = servers.map { "http://127.0.0.1:\($0.port)/hidden" }
    let none = try OperatorHarness().run("alerts", "test")
    #expect(none.code == .notFound)
    #expect(none.notes.contains("alerts: [{"))
    let all = try Self.harness([urls[0]]).run("alerts", "test")
    #expect(all.code == .done)
    #expect(all.out == "alerts[0] json (set in place): accepted (200)\n")
    #expect(good.bodies.withLock { $0.first?["state"] } == "test")
    let some = try Self.harness(urls).run("alerts", "test", "--json")
    #expect(some.code == .partly)
    #expect(!some.out.contains("hidden"))
    #expect(!some.notes.contains("hidden"))
    #expect(try some.objects.map { $0["taken"] } == [true, false])
    #expect(try Self.harness([urls[1]]).run("alerts", "test").code == .unavailable)
    #expect(
      try Self.harness(["http://127.0.0.1:1/"]).run("alerts", "test").out.contains(
        "not accepted (connect_failed: 127.0.0.1:1: Connection refused)"))
    #expect(try Self.harness(["env:NOT_SET"]).run("alerts", "test").code == .configuration)
  }

  @Test func `A test notice has the form of its receiver`() throws {
    StandardStream.ignoreBrokenPipes()
    let receiver = Receiver(202)
    let server = try Server(ServerConfiguration(address: "127.0.0.1"), handler: receiver)
    let url = "http://127.0.0.1:\(server.port)/"
    let (good, bad) = (try StandInSendmail(), try StandInSendmail("echo 'no relay' >&2; exit 69"))
    func mail(_ program: StandInSendmail) -> String {
      "as: 'email', mail_to: ['ops@example.com'], mail_from: 'r@example.com', sendmail: '\(program.path)'"
    }
    let key = String(repeating: "k", count: 32)
    let harness = try Self.harness(entries: [
      "to: '\(url)', as: 'slack'", "to: '\(url)', as: 'pagerduty', routing_key: '\(key)'",
      "to: '\(url)', as: 'webhook', secrets: ['whsec_\(String(repeating: "A", count: 43))=']", mail(good),
      mail(bad),
    ])
    let result = harness.run("alerts", "test")
    #expect(result.code == .partly)
    #expect(
      result.out == """
        alerts[0] slack (set in place): accepted (202)
        alerts[1] pagerduty (set in place): accepted (202)
        alerts[2] webhook (set in place): accepted (202)
        alerts[3] email ops@example.com: accepted (sendmail exited with 0)
        alerts[4] email ops@example.com: not accepted (sendmail exited with 69: no relay)

        """)
    let bodies = receiver.bodies.withLock { $0 }
    #expect(bodies.count == 3)
    #expect(bodies[0]["blocks"]?[0]?["text"]?["text"] == "TEST: test")
    #expect(bodies[1]["event_action"] == "trigger")
    #expect(bodies[2]["type"] == "alert.test")
    #expect(good.message?.contains("Subject: [TEST] test on ") == true)
    let objects = try harness.run("alerts", "test", "--json").objects
    #expect(objects.map { $0["as"] } == ["slack", "pagerduty", "webhook", "email", "email"])
    #expect(objects.last?["address"] == "ops@example.com")
  }

  @Test func `db backup --record records the backup of another program, in any database`() throws {
    let harness = try OperatorHarness()
    let reader = try harness.reader()
    #expect(try reader.serviceReport(.backup) == nil)
    let result = harness.run("db", "backup", "--record", "snapshot-42")
    #expect(result.code == .done)
    #expect(result.out == "snapshot-42: recorded\n")
    let report = try #require(try reader.serviceReport(.backup))
    #expect(report.at == harness.clock.now)
    #expect(report.content == #"{"file":"snapshot-42"}"#)
  }

  @Test func `Alerts still firing are listed with their addresses`() throws {
    let url = "https://hooks.example.com/hidden"
    let harness = try Self.harness([url])
    #expect(harness.run("alerts", "list").out.contains("No alert is firing."))
    let digest = AlertNotice.digest(of: url)
    func record(_ to: String, _ condition: String, _ app: AppSlug?, _ isFiring: Bool) -> AlertRecord {
      AlertRecord(
        key: .init(destination: to, condition: condition, app: app), isFiring: isFiring,
        since: harness.clock.now - .hours(1), notifiedAt: harness.clock.now)
    }
    let told = [
      record(digest, "breaker_open", "ios", true), record("0123456789abcdef", "disk_low<1GiB", nil, true),
      record(digest, "receipt_failed", "ios", false),
    ]
    try harness.writer.apply(SaveAlerts(sent: told), now: harness.clock.now)
    let objects = try harness.run("alerts", "list", "--json").objects
    #expect(objects.count == 3)
    #expect(objects.first?["service"]?["running"] == false)
    let mine = try #require(objects.first { $0["alert"] == "breaker_open" })
    #expect(mine["app"] == "ios")
    #expect(mine["to"] == "alerts[0]")
    #expect(mine["since"] == "2026-11-20T09:00:00.000Z")
    #expect(objects.contains { $0["to"] == "0123456789abcdef" && $0["app"] == .null })
    let table = harness.run("alerts", "list").out
    #expect(table.contains("breaker_open"))
    #expect(!table.contains("receipt_failed"))
    #expect(!table.contains("hidden"))
  }

  @Test(.fileOnly)
  func `alerts list shows what is wrong although nobody was notified, and which receivers fail`() throws {
    let url = "https://hooks.example.com/hidden"
    let harness = try Self.harness([url])
    try harness.fail(try harness.purchase("sub_1"))
    let now = harness.clock.now
    var report = HealthReport(at: now, version: "1", startedAt: now, configuredAt: now)
    report.receivers[AlertNotice.digest(of: url)] = .init(
      sentAt: now - .hours(2), failedAt: now - .hours(1), failure: "http_404")
    try harness.store(SaveServiceReport(ServiceReport(name: .health, at: now, content: report.stored.text)))
    harness.daemon = LockHolder(process: .max, purpose: .serving)
    let shown = harness.run("alerts", "list")
    #expect(shown.code == .done)
    // The configuration watches breakers only.
    #expect(shown.out.contains("receipt_failed"))
    #expect(shown.out.contains("1 receipt of ios failed"))
    let receiver = try #require(shown.out.split(separator: "\n").first { $0.hasPrefix("alerts[0]") })
    for part in ["2 h ago", "1 h ago", "http_404"] { #expect(receiver.contains(part)) }
    let trouble = try #require(try harness.run("alerts", "list", "--json").objects.dropFirst().first)
    #expect(trouble["alert"] == "receipt_failed")
    #expect(trouble["told_at"] == .null)
    #expect(trouble["what_to_do"]?.stringValue?.contains("receiptctl receipts replay") == true)
    let page = try DoctorPage(harness, "--local", "--only", "alerts")
    page.expect(.failure, .alerts, "notices do not reach alerts[0]")
  }
}
