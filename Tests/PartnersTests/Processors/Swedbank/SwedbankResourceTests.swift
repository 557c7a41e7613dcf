// Reading payment orders and stored cards: whose they are, and that tokens stay at the relay.

import Domain
import Formats
import Partners
import Testing

@Suite("Reading Swedbank Pay payments and tokens")
struct SwedbankResourceTests {
  typealias Samples = SwedbankSamples

  private static func resource(_ text: String, _ expand: JSONValue = ["paid"]) -> JSONValue {
    ["resource": .string(text), "expand": expand]
  }

  @Test(
    "SW17: A resource that is no known order of this host is answered 4xx, and no request leaves",
    arguments: [
      "@evil.test/x", ".evil.test/x", "/../../x", "https://evil.test\(SwedbankHarness.order)",
      "//evil.test/x", SwedbankHarness.base + SwedbankHarness.order,
      "/psp/paymentorders/unknown", "\(SwedbankHarness.order)/paid", "\(SwedbankHarness.order)?$expand=x",
      ":80/x",
      "\(SwedbankHarness.order)\r\nX: y", "", "psp/x",
    ])
  func otherResource(_ resource: String) throws {
    for path in ["expand", "tokens"] {
      var harness = try SwedbankHarness.withOrder(.init(expand: true, tokens: true))
      let answer = try harness.send("POST", path, Self.resource(resource))
      #expect((400...499).contains(answer.status))
      #expect(answer.contentType == "application/problem+json")
      #expect(harness.effects.isEmpty)
    }
  }

  @Test("SW18: A known order is expanded, and its tokens are hidden unless that is allowed too")
  func expand() throws {
    for reveals in [false, true] {
      var harness = try SwedbankHarness.withOrder(.init(expand: true, expandTokens: reveals))
      harness.script = [.json(200, Samples.paidWithTokens)]
      let answer = try harness.send(
        "POST", "expand", Self.resource(SwedbankHarness.order, ["paid", "history"]))
      #expect(answer.status == 200)
      #expect(harness.calls.map(\.target) == [SwedbankHarness.order + "?$expand=paid,history"])
      #expect(harness.calls.map(\.method) == ["GET"])
      for token in [Samples.recurrenceToken, Samples.unscheduledToken, "12345678-1234"] {
        #expect(answer.text.contains(token) == reveals)
      }
      let paid = answer.json?["paymentOrder"]?["paid"]
      #expect(paid?["tokens"]?.elements.map { $0["type"] } == ["recurrence", "unscheduled"])
      if reveals { #expect(answer.body == Samples.paidWithTokens.serialized()) }
    }
  }

  @Test func `Tokens are hidden wherever an answer has them, in lists, in URLs and in errors`() throws {
    let secret = "0c43b168-dcd5"
    let bodies: [JSONValue] = [
      ["recurrenceToken": .string(secret)], ["a": [["InstrumentToken": .string(secret)]]],
      ["paymentTokens": [.string(secret), 1]], ["tokens": [[.string(secret)]]],
      ["token": .string(secret), "operations": [["href": .string("https://x.example/t/\(secret)?a=b")]]],
      [
        "token": "a b", "note": "of a%20b", "id": "/x/a%20b", "x": .string(secret),
        "unscheduledToken": .string(secret),
      ],
    ]
    for body in bodies {
      for status in [200, 400] {
        var harness = try SwedbankHarness.withOrder(.init(expand: true))
        harness.script = [.json(status, body)]
        let answer = try harness.send("POST", "expand", Self.resource(SwedbankHarness.order))
        #expect(!answer.text.contains(secret))
        #expect(!answer.text.contains("a%20b"))
        #expect(answer.json != nil)
      }
    }
  }

  @Test("No answer repeats the secret of callbackUrl or the merchant's token, whatever apps may see")
  func secrets() throws {
    let token = SwedbankHarness.token
    let secret = try SwedbankHarness.callbackToken()
    let url = "https://pay.example.com/v1/ios/webhooks/swedbank/\(secret)"
    // Its letters may be written as escapes in JSON and in URLs.
    let escaped = "\\u006d" + token.dropFirst()
    let encoded = "%6D" + token.dropFirst()
    let body =
      Array(#"{"paymentOrder":{"id":"\#(SwedbankHarness.order)","urls":{"callbackUrl":"\#(url)"},"#.utf8)
      + Array(#""note":"by \#(escaped)!","#.utf8)
      + Array(#""href":"https://x.example/\#(encoded)/a","token":"\#(token)"}}"#.utf8)
    for (path, request) in [
      ("expand", Self.resource(SwedbankHarness.order).serialized()), ("paymentorders", Samples.orderV3),
      ("consumers", Samples.consumers.serialized()),
    ] {
      for (status, reveals) in [(200, false), (200, true), (400, true), (500, true), (302, true)] {
        var harness = try SwedbankHarness.withOrder(.init(expand: true, expandTokens: reveals))
        harness.script = [.answer(status: status, contentType: "application/json", body: body)]
        let answer = try harness.send("POST", path, request)
        for hidden in [secret, token, escaped, encoded] {
          #expect(!answer.text.contains(hidden), "\(path) \(status): \(answer.text)")
        }
        #expect(status != 200 || answer.status != 200 || answer.text.contains("/webhooks/swedbank/********"))
      }
    }
  }

  @Test func `An answer that is not JSON does not show a token either`() throws {
    for (type, body) in [
      ("application/json", #"{"token":"0c43b168","#), ("text/plain", #"{"token":"0c43b168"}"#),
      ("text/html", "<b>Token: 0c43b168</b>"),
    ] {
      var harness = try SwedbankHarness.withOrder(.init(expand: true))
      harness.script = [.text(200, type, body)]
      let answer = try harness.send("POST", "expand", Self.resource(SwedbankHarness.order))
      #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
      #expect(!answer.text.contains("0c43b168"))
    }
  }

  @Test func `SW18: What is not allowed is answered 401, and no request leaves`() throws {
    var harness = try SwedbankHarness.withOrder()
    harness.owners["payer-1"] = "u1"
    let deletion: JSONValue = ["state": "Deleted", "comment": ""]
    let answers = [
      try harness.send("POST", "expand", Self.resource(SwedbankHarness.order)),
      try harness.send("POST", "tokens", Self.resource(SwedbankHarness.order)),
      try harness.send("GET", "payers/payer-1/paymentTokens"),
      try harness.send("PATCH", "payers/payer-1/paymentTokens/t", deletion),
    ]
    for answer in answers { #expect(isSwedbankProblem(answer, 401, "mobilesdk/unauthorized")) }
    #expect(harness.effects.isEmpty)
  }

  @Test(
    arguments: [
      ["paid&x=y"], ["paid,history"], ["../x"], [""], ["p aid"], [1], "paid",
      .array(Array(repeating: "paid", count: 17)), [.string(String(repeating: "a", count: 65))], nil,
    ] as [JSONValue?])
  func `Names of resources are letters`(_ names: JSONValue?) throws {
    var harness = try SwedbankHarness.withOrder(.init(expand: true))
    let body = Self.resource(SwedbankHarness.order).with("expand", names)
    let answer = try harness.send("POST", "expand", body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test func `SW19: The tokens of a payment are flags without values`() throws {
    for expand in ["paid", ["paid"], nil] as [JSONValue?] {
      var harness = try SwedbankHarness.withOrder(.init(tokens: true))
      harness.script = [.json(200, Samples.paidWithTokens)]
      let body = Self.resource(SwedbankHarness.order).with("expand", expand)
      let answer = try harness.send("POST", "tokens", body)
      #expect(answer.status == 200)
      #expect(answer.json == ["recurrence": true, "unscheduled": true])
      #expect(harness.calls.map(\.target) == [SwedbankHarness.order + "?$expand=paid"])
    }
  }

  @Test func `SW19: A payment without tokens is answered 404`() throws {
    for paid in [["tokens": []], ["tokens": 1], [:], .null] as [JSONValue] {
      var harness = try SwedbankHarness.withOrder(.init(tokens: true))
      harness.script = [.json(200, ["paymentOrder": ["paid": paid]])]
      let answer = try harness.send("POST", "tokens", Self.resource(SwedbankHarness.order))
      #expect(isSwedbankProblem(answer, 404, "notfound"))
    }
  }

  // MARK: Stored cards

  private static func harness(revealsTokens: Bool = false) throws -> SwedbankHarness {
    var harness = try SwedbankHarness.withOrder(.init(expandTokens: revealsTokens, payerTokens: true))
    harness.owners["user1"] = "u1"
    harness.owners["../../consumers"] = "u1"
    return harness
  }

  private static let deletion: JSONValue = ["state": "Deleted", "comment": "Deleted by user"]

  @Test func `The stored cards of the user's payer have a link with which the app deletes them`() throws {
    for reveals in [false, true] {
      var harness = try Self.harness(revealsTokens: reveals)
      harness.script = [.json(200, Samples.payerTokens("tok-1", "tok-2"))]
      let answer = try harness.send("GET", "payers/user1/paymentTokens")
      #expect(answer.status == 200)
      #expect(harness.calls.map(\.target) == ["/psp/paymentorders/payerownedpaymenttokens/user1"])
      let cards = answer.json?["payerOwnedPaymentTokens"]?["paymentTokens"]?.elements ?? []
      #expect(cards.count == 2)
      let links = cards.compactMap { $0["mobileSDK"]?["delete"]?.stringValue }
      #expect(links.allSatisfy { $0.hasPrefix(SwedbankHarness.root + "payers/user1/paymentTokens/") })
      #expect(Set(links).count == 2)
      #expect(answer.text.contains("tok-1") == reveals)
      for (index, link) in links.enumerated() {
        let path = String(link.dropFirst(SwedbankHarness.root.count))
        harness.script = [.json(200, Samples.payerTokens("tok-1", "tok-2")), .json(200, [:])]
        #expect(try harness.send("PATCH", path, Self.deletion).status == 200)
        #expect(harness.calls.last?.target == "/psp/creditcard/payments/instrumentdata/tok-\(index + 1)")
      }
    }
  }

  @Test func `A list without cards is passed through`() throws {
    let bodies: [JSONValue] = [
      ["payerOwnedPaymentTokens": ["id": "x", "payerReference": "user1"]],
      ["payerOwnedPaymentTokens": ["paymentTokens": .null]],
      ["payerOwnedPaymentTokens": ["paymentTokens": [1, [:], ["paymentToken": 7]]]],
    ]
    for body in bodies {
      var harness = try Self.harness()
      harness.script = [.json(200, body)]
      let answer = try harness.send("GET", "payers/user1/paymentTokens")
      #expect(answer.body == body.serialized())
    }
  }

  @Test("A card is deleted by its link or its value; `status` means the same as `state`")
  func delete() throws {
    for (name, body) in [
      ("state", Self.deletion), ("status", Self.deletion.with("state", nil).with("status", "Deleted")),
    ] {
      var harness = try Self.harness()
      harness.script = [
        .json(200, Samples.payerTokens("tok-1")), .json(200, ["paymentToken": "tok-1", "x": 1]),
      ]
      let answer = try harness.send("PATCH", "payers/user1/paymentTokens/tok-1", body)
      #expect(answer.status == 200, "\(name)")
      #expect(answer.json?["x"] == 1)
      #expect(!answer.text.contains("tok-1"))
      #expect(harness.calls.map(\.method) == ["GET", "PATCH"])
      let sent = try #require(harness.calls.last)
      #expect(
        String(decoding: sent.body, as: UTF8.self) == #"{"state":"Deleted","comment":"Deleted by user"}"#)
    }
  }

  @Test("A deletion without content is answered with an object, because the SDKs require a body")
  func deletedWithoutContent() throws {
    var harness = try Self.harness()
    harness.script = [.json(200, Samples.payerTokens("tok-1")), .text(204, nil, "")]
    let answer = try harness.send("PATCH", "payers/user1/paymentTokens/tok-1", Self.deletion)
    #expect(answer.status == 200)
    #expect(answer.text == "{}")
  }

  @Test func `An unknown card is answered 404; one whose operation is elsewhere is not touched`() throws {
    var harness = try Self.harness()
    harness.script = [.json(200, Samples.payerTokens("tok-1"))]
    let unknown = try harness.send("PATCH", "payers/user1/paymentTokens/nope", Self.deletion)
    #expect(isSwedbankProblem(unknown, 404, "notfound"))
    let evil = String(decoding: Samples.payerTokens("tok-1").serialized(), as: UTF8.self)
      .replacing(SwedbankHarness.base, with: "//evil.test")
    harness.script = [.text(200, "application/json", evil)]
    let elsewhere = try harness.send("PATCH", "payers/user1/paymentTokens/tok-1", Self.deletion)
    #expect(isSwedbankProblem(elsewhere, 502, "mobilesdk/badgateway"))
    #expect(harness.calls.map(\.method) == ["GET", "GET"])
  }

  @Test(
    arguments: [
      [:], ["state": "Active", "comment": ""], ["comment": ""], ["state": "Deleted"],
      ["state": "Deleted", "comment": 1], ["state": "Deleted", "comment": "", "x": 1],
    ] as [JSONValue])
  func `Another body does not delete`(_ body: JSONValue) throws {
    var harness = try Self.harness()
    let answer = try harness.send("PATCH", "payers/user1/paymentTokens/tok-1", body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test("A payer of nobody, of another user, or with a path in it is answered 404, and no request leaves")
  func otherPayer() throws {
    for payer in ["user2", "..%2F..%2Fconsumers", "..", ".", "a%5Cb", "%00"] {
      var harness = try Self.harness()
      let list = try harness.send("GET", "payers/\(payer)/paymentTokens")
      let deletion = try harness.send("PATCH", "payers/\(payer)/paymentTokens/tok-1", Self.deletion)
      for answer in [list, deletion] { #expect(isSwedbankProblem(answer, 404, "notfound")) }
      #expect(harness.effects.isEmpty)
    }
    var harness = try Self.harness()
    let answer = try harness.send("GET", "payers/user1/paymentTokens", user: "u2")
    #expect(isSwedbankProblem(answer, 404, "notfound"))
    #expect(harness.effects.isEmpty)
  }

  @Test func `A payer whose reference is the user's own id is the user's without an order before`() throws {
    var harness = try SwedbankHarness.withOrder(.init(payerTokens: true), user: "somebody")
    harness.script = [.json(200, Samples.payerTokens("tok-1"))]
    #expect(try harness.send("GET", "payers/u7/paymentTokens", user: "u7").status == 200)
    #expect(harness.owners["u7"] == "u7")
    #expect(harness.calls.map(\.target) == ["/psp/paymentorders/payerownedpaymenttokens/u7"])
    // Another user's, who was the first to name it, stays that user's.
    harness.owners["u8"] = "u9"
    let other = try harness.send("GET", "payers/u8/paymentTokens", user: "u8")
    #expect(isSwedbankProblem(other, 404, "notfound"))
    #expect(harness.calls.count == 1)
  }

  @Test func `A payer's reference is escaped in paths and links`() throws {
    var harness = try Self.harness()
    harness.owners["a b?c#d+é@x.se"] = "u1"
    harness.script = [.json(200, Samples.payerTokens("tok-1"))]
    let answer = try harness.send("GET", "payers/a%20b%3Fc%23d%2B%C3%A9%40x.se/paymentTokens")
    let escaped = "a%20b%3Fc%23d%2B%C3%A9%40x.se"
    #expect(harness.calls.map(\.target) == ["/psp/paymentorders/payerownedpaymenttokens/\(escaped)"])
    #expect(answer.text.contains("payers/\(escaped)/paymentTokens/"))
  }
}

@Suite("The account that owns Swedbank Pay's payers")
struct SwedbankAccountTests {
  private func account(_ base: String, _ payee: String) throws -> AccountID? {
    let settings = SwedbankSettings(apiBase: base, payeeID: payee, publicOrigin: "https://pay.example.com")
    let processor = try SwedbankProcessor(settings, app: "ios", merchantToken: "t") { _ in true }
    #expect(processor.backend?.account == settings.rules.account)
    return processor.backend?.account
  }

  @Test func `It is the same for every spelling of the same address and payee, and for no other`() throws {
    let own = try #require(try account("https://api.example.com", "5CAB-1"))
    for (base, payee) in [("https://API.example.com:443", "5cab-1"), ("HTTPS://api.example.com", "5Cab-1")] {
      #expect(try account(base, payee) == own)
    }
    for (base, payee) in [
      ("https://api.example.com:444", "5cab-1"), ("http://api.example.com", "5cab-1"),
      ("https://api.example.org", "5cab-1"), ("https://api.example.com", "5cab-2"),
    ] {
      #expect(try account(base, payee) != own)
    }
  }
}
