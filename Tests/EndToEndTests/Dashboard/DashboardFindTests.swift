// The search box and its results.

import Domain
import Formats
import Store
import Testing

@Suite("The dashboard's search", .withDaemonLog)
struct DashboardFindTests {
  private func post(
    _ text: String, _ relay: Relay, _ headers: [String: String] = [:]
  ) throws -> Reply {
    try relay.postForm("/find", ["q": text], headers: headers)
  }

  @Test("The box is on every page; the only result is answered with its page, others with a list")
  func search() throws {
    try Relay.withPast(receipts: 200, failed: 50) { relay, _ in
      for path in ["/", "/receipts", "/failed", "/jobs", "/audit", "/find", "/receipts?state=none", "/event"]
      {
        let text = try relay.admin.request("GET", path).text
        #expect(text.contains(#"<form class="find" action="/find" method="post" role="search""#), "\(path)")
      }
      let receipt = try #require(try relay.read { try $0.details(object: "sub_77") }.first?.record.receipt)
      for text in ["sub_77", "cs_77", "cus_77", receipt.id.text, " imp-77 "] {
        let reply = try post(text, relay)
        #expect(reply.status == 303, "\(text)")
        #expect(reply.header("Location") == "/receipts/\(receipt.id)", "\(text)")
      }
      #expect(try post("evt_77", relay).header("Location") == "/event?id=evt_77")
      // Of one context nothing but the list is shown.
      #expect(try post("other-77", relay).header("Location")?.hasPrefix("/contexts/ctx_") == true)
      #expect(try relay.admin.request("GET", "/find?q=other-77").text.contains("ctx_"))

      let listed = try post(receipt.id.text.prefix(14).description, relay)
      #expect(listed.header("Location")?.hasPrefix("/find?q=rcp_") == true, "the beginning of an id")
      let page = try relay.admin.request("GET", try #require(listed.header("Location")))
      #expect(page.status == 200)
      #expect(page.text.contains("it is a part of these"))
      #expect(page.text.contains("href=\"/receipts/\(receipt.id)\""))
      #expect(try relay.admin.request("GET", "/find?q=nobody-1").text.contains("no stored event names it"))
      let hostile = try relay.admin.request("GET", "/find?q=%3Cscript%3Ealert(1)")
      #expect(hostile.status == 200)
      #expect(!hostile.text.contains("<script"))
    }
  }

  @Test func `An address is searched for without being in a URL, and no other site can search`() throws {
    try withRelay { relay, _ in
      let checkout = Checkout("ann")
      let named: JSONValue = [
        "data": [
          "object": [
            "client_reference_id": "ann@example.com", "customer_details": ["email": "Ann.Doe@example.com"],
          ]
        ]
      ]
      try relay.ingest(checkout.completed.merging(named))
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      let reply = try post("ann@example.com", relay)
      #expect(reply.status == 200)
      #expect(reply.header("Location") == nil)
      #expect(reply.header("Cache-Control") == "no-store")
      #expect(reply.text.contains("href=\"/receipts/\(receipt.id)\""))
      let byAddress = try post(" ann.doe@EXAMPLE.com ", relay)
      #expect(byAddress.status == 200)
      #expect(byAddress.text.contains("href=\"/receipts/\(receipt.id)\""))
      #expect(byAddress.text.contains("address"))
      #expect(try post("nobody@example.com", relay).text.contains("no stored event this address"))
      let inURL = try relay.admin.request("GET", "/find?q=ann%40example.com")
      #expect(inURL.status == 400)
      #expect(!inURL.text.contains(receipt.id.text))
      #expect(try post("a", relay, ["Sec-Fetch-Site": "cross-site"]).status == 403)
      #expect(try post("a", relay, ["Content-Type": "text/plain"]).status == 415)
      #expect(try post("", relay).header("Location") == "/find")
      #expect(try post("a\u{7}b", relay).status == 400)
      #expect(try post(String(repeating: "a", count: 256), relay).status == 400)
      let searches = relay.log.split(separator: "\n").filter {
        $0.contains("dashboard") || $0.contains("/find")
      }
      #expect(searches.allSatisfy { !$0.contains("ann@") && !$0.contains("ann%40") })
    }
  }
}
