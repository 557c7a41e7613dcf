// Numbers that stay current: the frames, and the choice not to have them.

import Testing

@Suite(.withDaemonLog) struct DashboardLiveTests {
  @Test("A frame reloads, has nothing that takes the focus, and only pages of this server may show it")
  func frames() throws {
    try Relay.withPast(receipts: 100, failed: 20) { relay, _ in
      for path in ["/live/state", "/live/numbers"] {
        let reply = try relay.admin.request("GET", path)
        #expect(reply.status == 200)
        #expect(reply.text.contains("http-equiv=\"refresh\" content=\"10\""))
        for part in ["<a ", "<button", "<input", "<summary", "tabindex"] {
          #expect(!reply.text.contains(part), "\(path): \(part)")
        }
        #expect(reply.header("X-Frame-Options") == "SAMEORIGIN")
        #expect(reply.header("Content-Security-Policy")?.contains("frame-ancestors 'self'") == true)
        #expect(try relay.admin.request("HEAD", path).status == 200)
      }
      let state = try relay.admin.request("GET", "/live/state").text
      #expect(state.contains("20 new failures"), "\(state)")
      #expect(state.contains(">ready<"))
      #expect(
        try relay.admin.request("GET", "/live/jobs/job_\(String(repeating: "0", count: 26))").status == 404)
      let count = try relay.metric(#"receiptd_http_request_seconds_count{route="dashboard_live"}"#)
      #expect(try #require(count) >= 5)
    }
  }

  @Test("No page reloads; forms and errors have no frame; one choice stops the updates of every page")
  func choice() throws {
    try Relay.withPast(receipts: 100, failed: 20) { relay, _ in
      let started = try relay.submit(
        "/failed/replay?app=shop&reason=http_422", ["rate": "0.01"].merging(Self.group(relay)) { $1 })
      let job = try #require(started.header("Location"))
      for path in ["/", job, "/receipts", "/apps/shop", "/settings"] {
        let text = try relay.admin.request("GET", path).text
        #expect(!text.contains("http-equiv=\"refresh\""), "\(path)")
        #expect(text.contains("src=\"/live/state\""), "\(path)")
      }
      #expect(try relay.admin.request("GET", job).text.contains("src=\"/live\(job)\""))
      for path in [
        "/apps/shop/pause", "\(job)/rate", "/failed/acknowledge?app=shop&reason=http_400", "/none",
      ] {
        #expect(!(try relay.admin.request("GET", path).text.contains("<iframe")), "\(path)")
      }
      let stopped = try relay.admin.request("GET", "/receipts?app=shop&live=off")
      #expect(stopped.status == 303)
      #expect(stopped.header("Location") == "/receipts?app=shop")
      let cookie = try #require(stopped.header("Set-Cookie"))
      #expect(cookie.hasPrefix("receipt_relay_live=off;"))
      #expect(cookie.contains("HttpOnly; SameSite=Strict"))
      let headers = ["Cookie": "other=1; receipt_relay_live=off"]
      for path in ["/", job, "/receipts?app=shop"] {
        let text = try relay.admin.request("GET", path, headers: headers).text
        #expect(!text.contains("<iframe"), "\(path)")
        #expect(text.contains("Update again"), "\(path)")
      }
      let again = try relay.admin.request("GET", "/?live=on", headers: headers)
      #expect(again.header("Location") == "/")
      #expect(again.header("Set-Cookie")?.contains("Max-Age=0") == true)
      #expect(try relay.admin.request("GET", "/?live=maybe").status == 200)
    }
  }

  /// The fields of the form that replays a group.
  private static func group(_ relay: Relay) throws -> [String: String] {
    let page = try relay.admin.request("GET", "/failed/replay?app=shop&reason=http_422")
    return [
      "app": "shop", "processor": page.field("processor") ?? "", "reason": "http_422",
      "cause": page.field("cause") ?? "",
    ]
  }
}
