// Tests the commands that show attempts and how long they took.

import Domain
import Formats
import Store
import Terminal
import TestSupport
import Testing

@Suite(.everyPlace) struct AttemptsTests {
  /// An app with a delivered receipt, one whose destination answers 503 slowly, and one without an answer.
  static func harness() throws -> OperatorHarness {
    let harness = try OperatorHarness(apps: ["ios", "shop"])
    func attempt(
      _ object: ObjectID, _ app: AppSlug, _ decision: Delivery.Decision, status: Int64?, error: String? = nil,
      took: Duration
    ) throws {
      let id = try harness.purchase(object, app: app)
      let report = AttemptReport(
        startedAt: harness.clock.now, duration: took, status: status, error: error,
        detail: error == nil ? nil : "10.0.0.1: no answer within 10 s", isAmbiguous: error != nil,
        response: Array("{}".utf8))
      harness.clock.advance(took)
      _ = try harness.writer.apply(
        RecordAttempt(of: ReceiptID(id), app: app, report: report, decision: decision),
        now: harness.clock.now)
      harness.clock.advance(.minutes(1))
    }
    let later = harness.clock.now + .hours(1)
    try attempt("sub_1", "ios", .delivered(importID: "imp-1"), status: 200, took: .milliseconds(120))
    try attempt("sub_2", "shop", .retry(at: later, spent: true), status: 503, took: .milliseconds(2300))
    try attempt(
      "sub_3", "shop", .retry(at: later, spent: true), status: nil, error: "timeout", took: .seconds(10))
    try attempt("sub_4", "shop", .delivered(importID: "imp-4"), status: 201, took: .milliseconds(80))
    return harness
  }

  @Test func lists() throws {
    let harness = try Self.harness()
    Snapshot.check(harness.run("attempts", "list").out, "attempts-list")
    Snapshot.check(
      harness.run("attempts", "list", "--app", "shop", "--since", "1h", "--slower", "1s").out,
      "attempts-slow")
    Snapshot.check(harness.run("attempts", "list", "--failed", "--json").out, "attempts-json")
    func errors(_ options: String...) throws -> [String?] {
      let ran = harness.run(arguments: ["attempts", "list", "--json"] + options)
      #expect(ran.code == .done, "\(ran.notes)")
      return try ran.objects.map { $0["error"]?.stringValue }
    }
    #expect(try errors("--status", "5xx") == ["http_503"])
    #expect(try errors("--status", "2xx") == [nil, nil])
    #expect(try errors("--error", "timeout") == ["timeout"])
    #expect(try errors("--failed") == ["timeout", "http_503"])
    #expect(try errors("--destination", "webhook") == [])
    #expect(harness.run("attempts", "list", "--slower", "fast").code == .usage)
    #expect(harness.run("attempts", "list", "--error", "tiemout").notes.contains("did you mean 'timeout'?"))
    let page = harness.run("attempts", "list", "--limit", "1", "--json")
    guard case .integer(let row) = try #require(try page.objects.first?["row"]) else { return }
    #expect(page.notes.hasSuffix("--json --after \(row)\n"))
    #expect(try errors("--after", String(row)).count == 3)
    #expect(harness.run("attempts", "list", "--all", "--csv").out.split(separator: "\r\n").count == 5)
  }

  @Test func latencies() throws {
    let harness = try Self.harness()
    // The table behind that of the apps, which differs from place to place.
    let shown = harness.run("stats", "--latency").out
    let table = try #require(shown.firstRange(of: "\n\nAPP"))
    Snapshot.check(String(shown[shown.index(table.lowerBound, offsetBy: 2)...]), "stats-latency")
    let app = try #require(try harness.run("status", "--json", "--latency").objects.last)
    let place = try #require(app["destinations"]?["purchasely"])
    for period in ["hour", "day", "week"] {
      #expect(place[period]?["attempts"] == 3)
      #expect(place[period]?["accepted"] == 1)
      #expect(place[period]?["delivered"] == 1)
    }
    guard case .integer(let p50) = try #require(place["hour"]?["answer_p50_ms"]) else {
      Issue.record("no number")
      return
    }
    #expect((2185...2415).contains(p50), "2.3 s, within 5 %: \(p50)")
    let short = try #require(try harness.run("stats", "--json").objects.last)
    #expect(short["destinations"]?["purchasely"]?["day"] == nil)
  }
}
