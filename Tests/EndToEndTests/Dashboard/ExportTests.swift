// The lists of the dashboard: their filters, their URLs and their exports, over real sockets.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Lists of the dashboard", .withDaemonLog)
struct ExportTests {
  private func count(_ text: String, _ part: String) -> Int { text.ranges(of: part).count }

  private func array(_ reply: Reply) throws -> [JSONValue] {
    guard case .array(let values) = try JSONValue(parsing: reply.body) else { return [.null] }
    return values
  }

  @Test func `A list has one URL for each filter, and a link to exactly the entries that it shows`() throws {
    try Relay.withPast(receipts: 300, failed: 50) { relay, _ in
      let typed = "/receipts?until=&state=failed&app=shop&user=&since=30d"
      let moved = try relay.admin.request("GET", typed)
      #expect(moved.status == 303)
      #expect(moved.header("Location") == "/receipts?app=shop&state=failed&since=30d")
      let page = try relay.admin.request("GET", "/receipts?app=shop&state=failed&since=30d")
      #expect(page.status == 200)
      #expect(page.text.contains("<strong>50 receipts</strong>"))
      #expect(page.text.contains("data-label=\"Last answer\""))
      let link = try #require(
        page.text.firstMatch(of: /href="([^"]+)">Permanent link/)?.1.replacing("&amp;", with: "&"))
      #expect(link.hasPrefix("/receipts?app=shop&state=failed&since=20"))
      let permanent = try relay.admin.request("GET", String(link))
      #expect(permanent.status == 200)
      #expect(permanent.text.contains("<strong>50 receipts</strong>"))
      for path in [
        "/events?outcome=receipt&since=30d", "/attempts?failed=yes&since=30d", "/audit?since=1d",
        "/jobs?state=running",
      ] {
        #expect(try relay.admin.request("GET", path).status == 200, "\(path)")
      }
      let events = try relay.admin.request("GET", "/events").text
      #expect(events.contains("href=\"/event?id="))
      #expect(try relay.admin.request("GET", "/events?outcome=sold").status == 400)
      #expect(try relay.admin.request("GET", "/events?after=x").status == 400)
      let attempts = try relay.admin.request("GET", "/attempts?app=shop&status=4xx").text
      #expect(attempts.contains("<strong>20 attempts</strong>"))
      #expect(count(attempts, "badge failed\">4") == 20)
      #expect(attempts.contains("href=\"/receipts/rcp_"))
      #expect(try relay.admin.request("GET", "/attempts?slower=fast").status == 400)
      #expect(try relay.admin.request("GET", "/attempts?slower=1s&app=shop&status=").status == 303)
    }
  }

  @Test("An export has every entry, is in the audit without ids of users, and equals that of receiptctl")
  func exports() throws {
    try Relay.withPast(receipts: 2300, failed: 300) { relay, _ in
      let csv = try relay.admin.request("GET", "/receipts.csv?app=shop")
      #expect(csv.status == 200)
      #expect(csv.header("Content-Type") == "text/csv; charset=utf-8; header=present")
      #expect(csv.header("Content-Disposition") == "attachment; filename=\"receipts.csv\"")
      #expect(csv.header("Cache-Control") == "no-store")
      let ctl = relay.receiptctlCommand
      let listed = try ShellRun(ctl + ["receipts", "list", "--app", "shop", "--all", "--csv"])
      #expect(listed.code == 0)
      let lines = csv.text.split(separator: "\r\n")
      #expect(lines.count == 2301)
      #expect(lines == listed.output.split(separator: "\r\n"))

      let json = try relay.admin.request("GET", "/receipts.json?state=failed&app=shop&user=user-7")
      #expect(json.header("Content-Type") == "application/json")
      let one = try array(json)
      let mine = try ShellRun(
        ctl + ["receipts", "list", "--state", "failed", "--app", "shop", "--user", "user-7", "--json"])
      #expect(one.count == mine.output.split(separator: "\n").count)
      let failed = try array(try relay.admin.request("GET", "/receipts.json?app=shop&state=failed"))
      #expect(failed.count == 300)
      #expect(try array(try relay.admin.request("GET", "/receipts.json?user=nobody")).isEmpty)

      let events = try relay.admin.request("GET", "/events.csv").text
      #expect(count(events, "\r\n") > 2300)
      for path in ["/audit.csv", "/jobs.csv", "/failed.csv", "/failed.json", "/jobs.json"] {
        #expect(try relay.admin.request("GET", path).status == 200, "\(path)")
      }
      let attempts = try relay.admin.request("GET", "/attempts.csv?app=shop").text
      let attemptsOfCommand = try ShellRun(ctl + ["attempts", "list", "--app", "shop", "--all", "--csv"])
      #expect(attempts.split(separator: "\r\n") == attemptsOfCommand.output.split(separator: "\r\n"))
      let head = try relay.admin.request("HEAD", "/receipts.csv")
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      #expect(try relay.admin.request("GET", "/receipts.csv?state=sold").status == 400)
      #expect(try relay.admin.request("POST", "/receipts.csv", body: []).status == 405)
      let foreign = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"]
      #expect(try relay.admin.request("GET", "/receipts.csv", headers: foreign).status == 403)

      let audit = try relay.read { try $0.audit(AuditFilter(), limit: 20) }.map(\.entry)
      let entry = try #require(audit.last)
      #expect(entry.action == "receipts export")
      #expect(entry.app == "shop")
      #expect(entry.details == #"{"format":"csv","filter":{"app":"shop"}}"#)
      #expect(audit.contains { $0.details.contains(#""user":true"#) })
      #expect(!audit.contains { $0.details.contains("user-7") })
      #expect(audit.count == 11, "one line for each export, none for HEAD and refusals")
    }
  }

  @Test("Two exports run at once, pages are served meanwhile, and a stop does not wait for them")
  func concurrency() throws {
    try Relay.withPast(receipts: 60_000, failed: 100) { relay, _ in
      let slow = try (0..<2).map { _ in
        let wire = try Wire(relay.admin.port)
        try wire.send("GET /events.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return wire
      }
      try waitUntil("both are in the audit") {
        try relay.read { try $0.audit(AuditFilter(), limit: 9) }.count == 2
      }
      let refused = try relay.admin.request("GET", "/receipts.csv")
      #expect(refused.status == 503)
      #expect(refused.header("Retry-After") == "10")
      for path in ["/receipts", "/events", "/readyz", "/metrics"] {
        #expect(try relay.admin.request("GET", path).status == 200, "\(path)")
      }
      #expect(slow.count == 2)
      #expect(try relay.stop() == 0)
      try relay.start()
    }
  }
}
