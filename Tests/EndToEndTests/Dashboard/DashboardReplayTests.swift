// A replay of a group from the dashboard: it has a rate, and it includes that group only.

import Domain
import Formats
import Store
import Testing

@Suite(.withDaemonLog) struct DashboardReplayTests {
  @Test("Receipts have tabs with counts; those that a list shows are replayed as a job with its filter")
  func listed() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let all = try relay.admin.request("GET", "/receipts?app=shop").text
      #expect(all.contains("failed <span class=\"none\">50</span>"))
      #expect(!all.contains("Replay these…"))
      let query = "app=shop&state=failed&reason=http_422"
      let list = try relay.admin.request("GET", "/receipts?\(query)").text
      #expect(list.contains("href=\"/replay?app=shop&amp;state=failed&amp;reason=http_422\""))
      let question = try relay.admin.request("GET", "/replay?\(query)")
      #expect(question.text.contains("reason http_422"))
      #expect(!question.text.contains("has not ended"))
      #expect(try relay.admin.request("GET", "/replay?app=shop").status == 400)
      var fields = ["token": try #require(question.field("token")), "filter": query, "rate": "never"]
      let refused = try relay.postForm("/replay", fields)
      #expect(refused.status == 400)
      #expect(refused.text.contains("aria-invalid"))
      fields["rate"] = "0.01"
      let other = fields.merging(["filter": "state=failed"]) { $1 }
      #expect(try relay.postForm("/replay", other).status == 403)
      #expect(try relay.postForm("/replay", fields).header("Location")?.hasPrefix("/jobs/job_") == true)
      let job = try #require(try relay.read { try $0.jobs(JobFilter(), limit: 2) }.first)
      guard case .filter(let filter, _) = job.request.source else {
        Issue.record("a list is chosen by filters")
        return
      }
      #expect(filter.app == "shop")
      #expect(filter.state == .failed)
      #expect(filter.reason == "http_422")
      #expect(try relay.admin.request("GET", "/replay?\(query)").text.contains("has not ended"))
    }
  }

  @Test func `A replay from the dashboard keeps the rate that its form asks for`() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let path = "/failed/replay?app=shop&reason=gave_up&cause=http_503"
      let page = try relay.admin.request("GET", path)
      #expect(page.status == 200)
      #expect(page.field("cause") == "http_503")
      #expect(page.text.contains("last cause http_503"))
      #expect(page.text.contains("name=\"rate\""))
      #expect(page.text.contains("value=\"5\""))
      let fields = [
        "token": try #require(page.field("token")), "app": "shop",
        "processor": try #require(page.field("processor")), "reason": "gave_up", "cause": "http_503",
      ]
      func post(rate: String) throws -> Reply {
        try relay.postForm("/failed/replay", fields.merging(["rate": rate]) { $1 })
      }
      for rate in ["fast", "0", "-1", "nan", "inf", "10001"] {
        let refused = try post(rate: rate)
        #expect(refused.status == 400, "\(rate)")
        #expect(refused.text.contains("Say how many receipts a second"), "\(rate)")
      }
      #expect(try relay.read { try $0.jobs(JobFilter(), limit: 1) }.isEmpty)
      #expect(try post(rate: "0.5").status == 303)
      let job = try #require(try relay.read { try $0.jobs(JobFilter(), limit: 1) }.first)
      #expect(job.request.ratePerSecond == 0.5)
      guard case .filter(let filter, _) = job.request.source else {
        Issue.record("a group is chosen by filters")
        return
      }
      #expect(filter.app == "shop")
      #expect(filter.processor == "stripe")
      #expect(filter.reason == "gave_up")
      #expect(filter.cause == "http_503")
      #expect(try relay.admin.request("GET", "/jobs/\(job.id)").text.contains("0.5/s"))
      let failed = try relay.admin.request("GET", "/failed").text
      #expect(failed.contains("<svg class=\"spark\""), "its last 24 hours")
      #expect(failed.contains("the last cause was"))
      #expect(failed.contains("cause=http_503"))
      #expect(failed.contains("href=\"/jobs/\(job.id)\">replay under way"))
      #expect(!page.text.contains("has not ended"))
      let again = try relay.admin.request("GET", path).text
      #expect(again.contains("A replay of such receipts has not ended"))
      #expect(again.contains("href=\"/jobs/\(job.id)\""))
    }
  }
}
