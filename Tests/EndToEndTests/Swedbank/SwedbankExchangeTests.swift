// What a real relay sends to Swedbank Pay, and what it answers to the app, byte for byte.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct SwedbankExchangeTests {
  private static let order = ScriptedSwedbank.order

  @Test("SW06, SW07, SW11: An order gets our merchant, reference and callback; the rest is unchanged")
  func orders() throws {
    try ScriptedSwedbank.run { swedbank in
      let own: JSONValue = [
        "payer": ["nationalIdentifier": ["socialSecurityNumber": "1", "countryCode": "SE"]],
        "riskIndicator": ["shipIndicator": "01"], "anUnknownMember": ["a": [1, .number(2.5), .null]],
      ]
      var references: Set<String> = []
      for _ in 0..<2 {
        let reply = try swedbank.start(nil, ScriptedSwedbank.purchase.merging(own))
        #expect(reply.status == 201)
        let sent = try #require(swedbank.calls.last?.json?["paymentorder"])
        #expect(sent["payeeInfo"]?["payeeId"] == "payee-1")
        let reference = try #require(sent["payeeInfo"]?["payeeReference"]?.stringValue)
        #expect(reference.wholeMatch(of: /[A-Za-z0-9]{1,30}/) != nil)
        references.insert(reference)
        let callback = sent["urls"]?["callbackUrl"]?.stringValue ?? ""
        #expect(callback.hasPrefix("https://pay.example.com/v1/shop/webhooks/swedbank/"))
        for name in ["payer", "riskIndicator", "anUnknownMember"] {
          #expect(swedbank.calls.last?.body.contains("\"\(name)\":\(own[name]?.text ?? "")") == true)
        }
      }
      #expect(references.count == 2)
      #expect(swedbank.calls.map(\.line) == ["POST /psp/paymentorders", "POST /psp/paymentorders"])
    }
  }

  @Test("SW20, SW21, SW22: A problem is forwarded, gets its status, or becomes a bad gateway")
  func problems() throws {
    try ScriptedSwedbank.run { swedbank in
      let order: JSONValue = ["paymentorder": ScriptedSwedbank.purchase]
      func start(_ status: String, _ type: String, _ body: String) throws -> Reply {
        swedbank.answer { _ in (status, type, body) }
        return try swedbank.request("POST", "paymentorders", order)
      }
      let problem = #"{"type":"https://api.payex.com/psp/errordetail/inputerror","status":400,"x":[1.0]}"#
      let forwarded = try start("400 Bad Request", "application/problem+json", problem)
      #expect(forwarded.status == 400)
      #expect(forwarded.text == problem)
      #expect(forwarded.header("Content-Type") == "application/problem+json")
      let bare = try start("403 Forbidden", "application/json", #"{"type":"t","detail":"d"}"#)
      #expect(bare.status == 403)
      #expect(bare.header("Content-Type") == "application/problem+json")
      #expect(bare.json?["status"] == 403)
      for (status, type, body) in [
        ("200 OK", "text/html", "<p>hello</p>"), ("503 Unavailable", "text/html", "<p>hello</p>"),
        ("200 OK", "application/json", "{"),
      ] {
        let reply = try start(status, type, body)
        #expect(reply.status == 502)
        #expect(reply["type"]?.hasSuffix("/mobilesdk/badgateway") == true)
        #expect(reply.json?["gatewayStatus"] == .integer(Int64(status.prefix(3)) ?? 0))
        #expect(reply["body"] == body)
      }
    }
  }

  /// The path of the callback's address.
  private static func callbackPath(_ swedbank: ScriptedSwedbank) throws -> String {
    let url = swedbank.calls.first?.json?["paymentorder"]?["urls"]?["callbackUrl"]?.stringValue
    return String(try #require(url).dropFirst("https://pay.example.com".count))
  }

  @Test("CB01, CB02, CB10: Every form of a callback is accepted, and fetches the order and nothing else")
  func callbacks() throws {
    try ScriptedSwedbank.run { swedbank in
      _ = try swedbank.start()
      let path = try Self.callbackPath(swedbank)
      swedbank.forgetCalls()
      swedbank.answer(ScriptedSwedbank.resource())
      let id = Self.order
      let bodies = [
        #"{"paymentOrder":{"id":"\#(id)","instrument":"Swish","number":1}}"#,
        #"{"paymentOrder":{"id":"\#(id)","number":"2"},"orderReference":"r","more":[1]}"#,
        #"{"paymentOrder":{"id":"\#(id)"},"payment":{"id":"/psp/swish/payments/1","number":3},"#
          + #""transaction":{"id":"/psp/swish/payments/1/transactions/2","number":4}}"#,
      ]
      for (index, body) in bodies.enumerated() {
        let type = index == 1 ? "application/json;charset=utf-8" : "application/json"
        let reply = try swedbank.relay.outside.api.request(
          "POST", path, body: Array(body.utf8), headers: ["Content-Type": type])
        #expect(reply.status == 200)
        try waitUntil("callback \(index) causes a fetch") { swedbank.calls.count == index + 1 }
      }
      try swedbank.relay.passTime()
      #expect(swedbank.calls.map(\.line) == Array(repeating: "GET \(id)?$expand=paid", count: 3))
      #expect(swedbank.calls.allSatisfy { $0.head.contains("Bearer \(SwedbankShop.token)") })
    }
  }

  @Test("CB01: A callback is answered while Swedbank Pay answers nothing")
  func doesNotWait() throws {
    try ScriptedSwedbank.run { swedbank in
      _ = try swedbank.start()
      let path = try Self.callbackPath(swedbank)
      swedbank.forgetCalls()
      let isOpen = Monitor(false)
      defer { isOpen.update { $0 = true } }
      let answer = ScriptedSwedbank.resource().text
      swedbank.answer { _ in
        let deadline = MonotonicInstant.now().advanced(by: Waiting.patience)
        _ = isOpen.wait(until: deadline) { $0 ? true : nil }
        return ("200 OK", "application/json", answer)
      }
      func post() throws -> Int {
        let body = #"{"paymentOrder":{"id":"\#(Self.order)"}}"#
        return try swedbank.relay.outside.api.request(
          "POST", path, body: Array(body.utf8), headers: ["Content-Type": "application/json"]
        ).status
      }
      #expect(try post() == 200)
      try waitUntil("the order is fetched") { swedbank.calls.count == 1 }
      #expect(try post() == 200, "also while a fetch waits for its answer")
      #expect(try swedbank.relay.metric(Self.found) == nil, "nothing was answered yet")
      isOpen.update { $0 = true }
      try waitUntil("the answer is used") { try swedbank.relay.metric(Self.found) ?? 0 > 0 }
    }
  }

  private static let found = #"receiptd_lookups_total{app="shop",processor="swedbank",result="found"}"#
}
