// What a real relay sends to Swedbank Pay, and what it answers to the app, byte for byte.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct SwedbankExchangeTests {
  private static let order = ScriptedSwedbank.order
  private static let change: JSONValue = [
    "paymentorder": ["operation": "SetInstrument", "instrument": "Swish"]
  ]

  @Test("SW04: A consumer's session is forwarded with the merchant's token, and without the client's key")
  func consumers() throws {
    try ScriptedSwedbank.run { swedbank in
      let session: JSONValue = [
        "operation": "initiate-consumer-session", "language": "sv-SE",
        "shippingAddressRestrictedToCountryCodes": ["SE", "NO"],
      ]
      let answer: JSONValue = ["token": "7e380fbb", "operations": []]
      swedbank.answer(answer)
      let reply = try swedbank.request("POST", "consumers", session)
      #expect(reply.status == 200)
      #expect(reply.text == answer.text)
      let call = try #require(swedbank.calls.first)
      #expect(call.line == "POST /psp/consumers")
      #expect(call.body == session.text)
      #expect(call.head.contains("\r\nAuthorization: Bearer \(SwedbankShop.token)"))
      #expect(call.head.contains("\r\nUser-Agent: receiptd/"))
      #expect(!call.head.contains(Secrets.clientKey))
      #expect(call.head.contains("\r\nContent-Type: application/json"))
    }
  }

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

  @Test("SW08, SW12, SW13: The instrument of an order of version 2 is changed by the order's operation")
  func instrument() throws {
    try ScriptedSwedbank.run { swedbank in
      let rel = "update-paymentorder-setinstrument"
      let resource = ScriptedSwedbank.resource(rels: [rel], base: swedbank.base)
      let started = try swedbank.start(resource)
      #expect(started.json?["mobileSDK"]?["validInstruments"] == ["CreditCard", "Swish"])
      let link = try #require(started.json?["mobileSDK"]?["setInstrument"]?.stringValue)
      #expect(link.hasPrefix("/v1/shop/swedbank/paymentorders/"))
      swedbank.forgetCalls()
      swedbank.answer(resource)
      let changed = try swedbank.request("PATCH", link, Self.change)
      #expect(changed.status == 200)
      #expect(changed.json?["paymentOrder"]?["id"] == .string(Self.order))
      #expect(swedbank.calls.map(\.line) == ["GET \(Self.order)", "PATCH \(Self.order)"])
      #expect(swedbank.calls.last?.body == Self.change.text)
      swedbank.forgetCalls()
      swedbank.answer(ScriptedSwedbank.resource("Paid"))
      let missing = try swedbank.request("PATCH", link, Self.change)
      #expect(missing.status == 404)
      #expect(missing["type"] == "https://api.payex.com/psp/errordetail/notfound")
      #expect(swedbank.calls.map(\.line) == ["GET \(Self.order)"], "nothing is changed by guessing")
    }
  }

  @Test("SW14: An unknown order is 404, another body 400, another method 405, and nothing is sent")
  func wrongChanges() throws {
    try ScriptedSwedbank.run { swedbank in
      let rels = ["update-paymentorder-setinstrument"]
      let started = try swedbank.start(ScriptedSwedbank.resource(rels: rels, base: swedbank.base))
      let link = try #require(started.json?["mobileSDK"]?["setInstrument"]?.stringValue)
      swedbank.forgetCalls()
      let unknown = link.replacing("09ccd29a", with: "19ccd29a")
      #expect(try swedbank.request("PATCH", unknown, Self.change).status == 404)
      let bodies: [JSONValue] = [
        ["paymentorder": ["operation": "SetInstrument", "instrument": "Swish", "extra": 1]],
        ["paymentorder": ["operation": "SetInstrument", "intrument": "Swish"]],
        ["paymentorder": ["operation": "Abort", "instrument": "Swish"]], [:],
      ]
      for body in bodies {
        let reply = try swedbank.request("PATCH", link, body)
        #expect(reply.status == 400, "\(body.text)")
        #expect(reply["type"]?.hasSuffix("/mobilesdk/badrequest") == true)
      }
      let posted = try swedbank.request("POST", link, Self.change)
      #expect(posted.status == 405)
      #expect(posted.header("Content-Type") == "application/problem+json")
      #expect(swedbank.calls.isEmpty)
    }
  }

  @Test("SW09, SW15: An order of version 3 is answered byte for byte, and changed by its URL or its path")
  func versionThree() throws {
    try ScriptedSwedbank.run { swedbank in
      let text = """
        { "operations":[{"rel":"set-instrument", "href":"\(swedbank.base)\(Self.order)"} ,\
        {"rel":"view-checkout","href":"https://x"}], "paymentOrder": {"id":"\(Self.order)", "amount":1.50e3}}
        """
      swedbank.answer { _ in ("201 Created", "application/json", text) }
      let started = try swedbank.request("POST", "paymentorders", ["paymentorder": ScriptedSwedbank.purchase])
      #expect(started.text == text)
      swedbank.forgetCalls()
      swedbank.answer(ScriptedSwedbank.resource("Aborted"))
      let abort: JSONValue = ["operation": "Abort", "abortReason": "CancelledByConsumer"]
      for href in [Self.order, swedbank.base + Self.order] {
        let reply = try swedbank.request("PATCH", "patch", ["href": .string(href), "paymentorder": abort])
        #expect(reply.status == 200)
      }
      #expect(swedbank.calls.map(\.line) == ["PATCH \(Self.order)", "PATCH \(Self.order)"])
      #expect(swedbank.calls.first?.body == "{\"paymentorder\":\(abort.text)}")
    }
  }

  @Test("SW18, SW19: An order is expanded with its tokens masked, and its tokens are flags")
  func tokens() throws {
    try ScriptedSwedbank.run(["allow": ["expand": true, "tokens": true]]) { swedbank in
      _ = try swedbank.start()
      swedbank.forgetCalls()
      let tokens: JSONValue = [
        ["type": "recurrence", "token": "secret-one"], ["type": "unscheduled", "token": "secret-two"],
      ]
      let paid: JSONValue = ["paid": ["id": .string(Self.order + "/paid"), "tokens": tokens]]
      swedbank.answer(ScriptedSwedbank.resource("Paid", more: paid))
      let resource: JSONValue = ["resource": .string(Self.order), "expand": ["paid"]]
      let expanded = try swedbank.request("POST", "expand", resource)
      #expect(expanded.status == 200)
      #expect(expanded.json?["paymentOrder"]?["status"] == "Paid")
      #expect(swedbank.calls.last?.line == "GET \(Self.order)?$expand=paid")
      let flags = try swedbank.request("POST", "tokens", ["resource": .string(Self.order)])
      #expect(flags.text == #"{"recurrence":true,"unscheduled":true}"#)
      for reply in [expanded, flags] { #expect(!reply.text.contains("secret-")) }
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

  @Test(
    "CB04: An order that is not paid makes no receipt",
    arguments: ["Initialized", "Failed", "Cancelled", "Aborted", "Reversed"])
  func unpaid(status: String) throws {
    try ScriptedSwedbank.run { swedbank in
      _ = try swedbank.start()
      let path = try Self.callbackPath(swedbank)
      swedbank.forgetCalls()
      swedbank.answer(ScriptedSwedbank.resource(status))
      let body = #"{"paymentOrder":{"id":"\#(Self.order)"}}"#
      let reply = try swedbank.relay.outside.api.request(
        "POST", path, body: Array(body.utf8), headers: ["Content-Type": "application/json"])
      #expect(reply.status == 200)
      try waitUntil("the order is fetched") { swedbank.calls.count == 1 }
      let seen: Observations =
        [
          "Cancelled": [.closed, .reversed], "Aborted": .closed, "Reversed": .reversed,
        ][status] ?? []
      try waitUntil("its state is stored") {
        let order = PurchaseKey(
          processor: "swedbank", type: "payment_order", id: ObjectID(Self.order))
        let stored = try swedbank.relay.read {
          try $0.startedPayment(order, app: "shop", user: "buyer")
        }
        return stored?.purchase.observations == seen.union(.started)
      }
      #expect(try swedbank.relay.receipt(of: Self.order) == nil)
    }
  }
}
