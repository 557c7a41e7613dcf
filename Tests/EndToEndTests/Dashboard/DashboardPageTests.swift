// The pages of users, contexts, alerts and settings, the links of ids, and an overview of many apps.

import Domain
import Formats
import HTTPServer
import Store
import Testing

@Suite(.withDaemonLog) struct DashboardPageTests {
  @Test("Every id leads to its page, and an id of the processor also to the processor's dashboard")
  func links() throws {
    try withRelay { relay, _ in
      let checkout = Checkout("jdo1")
      try relay.buy(checkout)
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      let page = try relay.admin.request("GET", "/receipts/\(receipt.id)").text
      let user = try #require(try relay.read { try $0.receipt(id: receipt.id) }?.purchase.userID)
      for link in ["/user?id=\(user)", "/receipts?object=\(checkout.subscription)", "/apps/shop"] {
        #expect(page.contains("href=\"\(link)\""), "\(link)")
      }
      let portal = "https://dashboard.stripe.com/test/subscriptions/\(checkout.subscription)"
      #expect(page.contains("href=\"\(portal)\" rel=\"noreferrer\""), "\(page)")
      let ofUser = try relay.admin.request("GET", "/user?id=\(user)").text
      #expect(ofUser.contains("href=\"/receipts/\(receipt.id)\""))
      let found = try relay.read {
        try $0.contexts(ContextFilter(), now: Timestamp(unixMilliseconds: 0), limit: 1)
      }
      let id = try #require(found.first?.id)
      #expect(ofUser.contains("href=\"/contexts/\(id)\""))
      #expect(try relay.admin.request("GET", "/contexts").text.contains("href=\"/contexts/\(id)\""))
      let ofContext = try relay.admin.request("GET", "/contexts/\(id)").text
      #expect(ofContext.contains("href=\"/receipts/\(receipt.id)\""))
      #expect(ofContext.contains("href=\"/user?id=\(user)\""))
      #expect(try relay.admin.request("GET", "/contexts.csv").text.contains(id.text))
      #expect(
        try relay.admin.request("GET", "/contexts/ctx_\(String(repeating: "0", count: 26))").status == 404)
      #expect(try relay.admin.request("GET", "/contexts/x").status == 404)
      #expect(try relay.admin.request("GET", "/contexts?after=x").status == 400)
      #expect(try relay.admin.request("GET", "/user?id=nobody").status == 404)
      #expect(try relay.admin.request("GET", "/user").status == 404)
    }
  }

  @Test func `Settings show every key, and of a secret only its source`() throws {
    let alert: JSONValue = ["to": "https://chat.example.com/hook", "on": ["app_paused"]]
    try withRelay(top: ["limits": ["request_timeout": "7s"], "alerts": [alert]]) { relay, _ in
      let page = try relay.admin.request("GET", "/settings").text
      #expect(page.contains("apps.shop"))
      #expect(page.contains("webhook_secrets"))
      #expect(page.contains("request_timeout"))
      #expect(page.contains("7s"))
      #expect(page.contains("(set in place)"))
      #expect(page.contains("keys with the default"))
      for (section, changed, standard) in [
        ("limits", "request_timeout", "context_body"), ("alerts", "[0].on", "[0].every"),
        ("apps.shop", "stripe.reference", "stripe.tolerance"),
      ] {
        let start = try #require(page.firstRange(of: "id=\"section-\(section)\"")).upperBound
        let fold = try #require(page[start...].firstRange(of: "<details")).lowerBound
        let end = try #require(page[fold...].firstRange(of: "</section>")).lowerBound
        #expect(page[start..<fold].contains(">\(changed)<"), "what was changed comes first")
        #expect(!page[start..<fold].contains(">\(standard)<"), "\(standard) is the default")
        #expect(page[fold..<end].contains(">\(standard)<"))
      }
      #expect(!page.contains(Secrets.webhook))
      #expect(!page.contains(Secrets.clientKey))
    }
  }

  @Test func `The page of alerts has the last notice about each trouble, also when it is over`() throws {
    let receiver = try Destination()
    defer { receiver.stop() }
    let top: JSONValue = ["alerts": [["to": .string(receiver.url), "on": ["app_paused"]]]]
    try withRelay(top: top) { relay, _ in
      #expect(try relay.admin.request("GET", "/alerts").text.contains("No alert is firing."))
      #expect(try relay.submit("/apps/shop/pause", ["for": "1h", "why": "flood"]).status == 303)
      try waitUntil("the alert fires") {
        try relay.admin.request("GET", "/alerts").text.contains("badge failed\">firing")
      }
      let advice = try relay.admin.request("GET", "/apps/shop").text
      #expect(advice.contains(/They resume in [^,]*, at (\d{4}-\d\d-\d\d )?\d\d:\d\d UTC;/))
      #expect(try relay.submit("/apps/shop/resume", ["why": ""]).status == 303)
      try waitUntil("the alert is over") {
        try relay.admin.request("GET", "/alerts").text.contains("badge cancelled\">over")
      }
    }
  }

  @Test("The overview begins with trouble: 60 apps, the one whose destination is down first, 25 on a page")
  func manyApps() throws {
    let destination = try Destination()
    defer { destination.stop() }
    destination.answerAll { $0.head.query == "down" ? .status(503) : .status(200) }
    let down: JSONValue = [
      "purchasely": ["url": .string(destination.url + "?down")], "join": ["wait_for_context": "0s"],
      "delivery": ["retry": ["schedule": ["10m"]], "breaker": ["failures": 1, "open_for": "10m"]],
    ]
    let apps = (0..<60).map { number in
      JSONValue.Member(name: "app-\(number)", value: Relay.app(destination, number == 47 ? down : [:]))
    }
    let relay = try Relay(destination, top: ["apps": .object(apps)])
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.start()
      try relay.ingest(Checkout("jdo-1").completed, app: "app-47")
      try waitUntil("the app's deliveries are stopped") { try relay.breaker(of: "app-47").state == .open }
      let ofApp = try Regex("<th[^>]*><a href=\"/apps/(app-[0-9]+)\"", as: (Substring, Substring).self)
      let first = try relay.admin.request("GET", "/").text
      let shown = first.matches(of: ofApp).map(\.1)
      #expect(shown.count == 25)
      #expect(shown.first == "app-47")
      #expect(first.contains("app-47, is down"))
      var seen = Set(shown)
      for number in 2...3 {
        seen.formUnion(try relay.admin.request("GET", "/?page=\(number)").text.matches(of: ofApp).map(\.1))
      }
      #expect(seen.count >= 60)
      #expect(try relay.admin.request("GET", "/?page=9223372036854775807").status == 200)
      #expect(try relay.admin.request("GET", "/alerts").text.contains("app-47, is down"))
    }
  }
}
