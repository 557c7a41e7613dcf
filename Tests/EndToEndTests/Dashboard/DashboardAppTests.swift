// An app's page: its deliveries are paused and resumed with the dashboard's forms; a job is, too.

import Domain
import Formats
import Store
import Testing

@Suite(.withDaemonLog) struct DashboardAppTests {
  @Test("A pause is asked for with a reason and a time; nothing is delivered until it is resumed")
  func pause() throws {
    try withRelay { relay, destination in
      let overview = try relay.admin.request("GET", "/").text
      #expect(overview.contains("href=\"/apps/shop\""))
      let day = try relay.admin.request("GET", "/apps/shop").text
      #expect(day.contains("Pause deliveries…"))
      #expect(day.contains("Last 24 hours"))
      #expect(!day.contains("Last 7 days"))
      #expect(try relay.admin.request("GET", "/apps/shop?time=7d").text.contains("Last 7 days"))
      #expect(try relay.admin.request("GET", "/apps/nothing").status == 404)
      let path = "/apps/shop/pause"
      let unreasoned = try relay.submit(path, ["for": "1h", "why": " "]).text
      #expect(unreasoned.contains("Say why"))
      #expect(unreasoned.contains("aria-invalid=\"true\" aria-describedby=\"complaint why-help\""))
      for time in ["1", "-1h", "0s", "9999d", "soon"] {
        let refused = try relay.submit(path, ["for": time, "why": "flood"])
        #expect(refused.status == 400, "\(time)")
        #expect(refused.text.contains("Say for how long"), "\(time)")
      }
      #expect(try relay.read { try $0.pauses() }.isEmpty)
      let done = try relay.submit(path, ["for": "1h", "why": "flood <b>"])
      #expect(done.status == 303)
      #expect(done.header("Location") == "/apps/shop?done=pause")
      let page = try relay.admin.request("GET", "/apps/shop").text
      #expect(page.contains("paused by an operator"))
      #expect(page.contains("flood &lt;b&gt;"))
      #expect(page.contains("Resume…"))
      #expect(
        try relay.admin.request("GET", "/metrics").text.contains("receiptd_app_paused{app=\"shop\"} 1\n"))

      let checkout = Checkout("jdo-1")
      try relay.buy(checkout)
      try relay.reaches(.pending, checkout.subscription)
      #expect(destination.ledger.isEmpty)
      #expect(try relay.submit("/apps/shop/resume", ["why": ""]).status == 303)
      try relay.reaches(.delivered, checkout.subscription)
      let audit = try relay.admin.request("GET", "/audit").text
      #expect(audit.contains("apps pause"))
      #expect(audit.contains("apps resume"))
      let foreign = try relay.postForm(path, ["token": "x", "why": "flood"])
      #expect(foreign.status == 403)
    }
  }

  @Test("The app's page shows how contexts join, a receipt's page the context that it did not get")
  func joins() throws {
    try withRelay { relay, _ in
      #expect(try relay.admin.request("GET", "/apps/shop").text.contains("no context was posted"))
      let checkout = Checkout("jdo-1")
      let posted = try relay.outside.postContext("JDO-1", checkout.context, app: "shop")
      try #require(posted.status == 201)
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      let page = try relay.admin.request("GET", "/apps/shop").text
      #expect(page.contains("1 without a context"))
      #expect(page.contains("1 context of 1 was claimed by no purchase"))
      #expect(!page.contains("joins-title"), "one hour is no picture")
      let id = try #require(try relay.receipt(of: checkout.subscription)?.id)
      let receipt = try relay.admin.request("GET", "/receipts/\(id)").text
      #expect(receipt.contains("Contexts that may have been meant"))
      #expect(receipt.contains("which differs only in form"))
      let metrics = try relay.admin.request("GET", "/metrics").text
      #expect(metrics.contains("receiptd_joined_receipts{app=\"shop\",outcome=\"none\"} 1\n"))
    }
  }

  @Test func `The charts show a day by hours or a week by six hours, deliveries and joins alike`() throws {
    try Relay.withPast(receipts: 5000, failed: 50) { relay, _ in
      let day = try relay.admin.request("GET", "/apps/shop").text
      #expect(day.contains("Last 24 hours: deliveries and failures, 1 h each"))
      #expect(day.contains("Receipts by how they got their context, 1 h each"))
      #expect(day.contains("Answers: p50 and p99, 1 h each"))
      let week = try relay.admin.request("GET", "/apps/shop?time=7d").text
      #expect(week.contains("Last 7 days: deliveries and failures, 6 h each"))
      #expect(week.contains("Answers: p50 and p99, 6 h each"))
      #expect(!week.contains("1 h each"))
    }
  }

  @Test("A job's page has its filter, progress and buttons, which pause, slow down, resume and cancel it")
  func job() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let group = "/failed/replay?app=shop&reason=gave_up&cause=http_503"
      let processor = try #require(try relay.admin.request("GET", group).field("processor"))
      let started = try relay.submit(
        group,
        [
          "app": "shop", "processor": processor, "reason": "gave_up", "cause": "http_503", "rate": "0.01",
          "why": "it is back",
        ])
      let path = try #require(started.header("Location"))
      func job() throws -> Job {
        try #require(try relay.read { try $0.jobs(JobFilter(), limit: 1) }.first)
      }
      try waitUntil("the job runs") { try job().state == .running }
      let page = try relay.admin.request("GET", path).text
      #expect(page.contains("app shop"))
      #expect(page.contains("cause http_503"))
      #expect(page.contains("<progress"))
      #expect(page.contains("it is back"))
      for button in ["Pause…", "Change the rate…", "Cancel job…"] {
        #expect(page.contains(button), "\(button)")
      }
      #expect(!page.contains("Resume…"))
      #expect(try relay.submit("\(path)/pause", [:]).header("Location") == "\(path)?done=pause")
      #expect(try job().state == .paused)
      #expect(try relay.submit("\(path)/rate", ["rate": "fast"]).status == 400)
      #expect(try relay.submit("\(path)/rate", ["rate": "0.02"]).status == 303)
      #expect(try job().request.ratePerSecond == 0.02)
      #expect(try relay.admin.request("GET", path).text.contains("Resume…"))
      #expect(try relay.submit("\(path)/resume", [:]).status == 303)
      #expect(try job().state == .running)
      #expect(try relay.submit("\(path)/cancel", ["why": ""]).status == 400)
      #expect(try relay.submit("\(path)/cancel", ["why": "the wrong ones"]).status == 303)
      #expect(try job().state == .cancelled)
      let after = try relay.submit("\(path)/resume", [:])
      #expect(after.status == 409)
      #expect(after.text.contains("while the job is cancelled"))
    }
  }

  @Test("A group of failures is acknowledged with an owner, which makes it grey, and opened again")
  func failures() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      let query = "?app=shop&reason=gave_up&cause=http_503"
      let processor = try #require(
        try relay.admin.request("GET", "/failed/acknowledge\(query)").field("processor"))
      let group = ["app": "shop", "processor": processor, "reason": "gave_up", "cause": "http_503"]
      func post(_ change: String, _ fields: [String: String]) throws -> Reply {
        let token = try #require(try relay.admin.request("GET", "/failed/\(change)\(query)").field("token"))
        return try relay.postForm(
          "/failed/\(change)", group.merging(fields) { $1 }.merging(["token": token]) { $1 })
      }
      let list = "/receipts?app=shop&state=failed&reason=gave_up&cause=http_503"
      #expect(try relay.admin.request("GET", list).text.contains("badge failed\">failed"))
      #expect(try post("acknowledge", ["owner": " "]).text.contains("Say who"))
      #expect(try post("acknowledge", ["owner": "bob <b>", "why": "asked them"]).status == 303)
      let page = try relay.admin.request("GET", "/failed").text
      #expect(page.contains("badge cancelled\">acknowledged"))
      #expect(page.contains("An example: rcp_"))
      #expect(page.contains("<svg"), "the group's last 24 hours")
      #expect(page.contains("bob &lt;b&gt;"))
      #expect(page.contains("asked them"))
      let grey = try relay.admin.request("GET", list).text
      #expect(grey.contains("badge cancelled\">failed"))
      #expect(!grey.contains("badge failed"))
      let link = try #require(grey.firstMatch(of: #/href="(\/receipts\/rcp_\w+)"/#)?.1)
      #expect(!(try relay.admin.request("GET", String(link)).text.contains("badge failed")))
      #expect(try post("reopen", [:]).status == 303)
      #expect(!(try relay.admin.request("GET", "/failed").text.contains(">acknowledged<")))
      #expect(try relay.admin.request("GET", "/audit").text.contains("failures reopen"))
    }
  }
}
