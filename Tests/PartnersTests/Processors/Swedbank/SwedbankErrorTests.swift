// What the app is answered when Swedbank Pay fails: problem documents that its SDKs parse.

import Domain
import Formats
import Partners
import Testing

@Suite("Errors of Swedbank Pay")
struct SwedbankErrorTests {
  typealias Samples = SwedbankSamples

  private static func problem(_ type: String, _ status: Int) -> JSONValue {
    [
      "type": .string("https://api.payex.com/psp/errordetail/\(type)"), "title": "T", "detail": "D",
      "status": .integer(Int64(status)), "instance": "9a20d737", "action": "RetryNewData",
      "problems": [["name": "paymentorder.currency", "description": "bad"]],
    ]
  }

  /// The same request with several answers, for each way to the API.
  private static func answers(to reply: BackendReply) throws -> [BackendAnswer] {
    var harness = try SwedbankHarness.withOrder(.init(expand: true, tokens: true, payerTokens: true))
    harness.owners["user1"] = "u1"
    harness.script = Array(repeating: reply, count: 8)
    let url: JSONValue = .string(SwedbankHarness.order)
    let answers = [
      try harness.send("POST", "consumers", Samples.consumers),
      try harness.send("POST", "paymentorders", Samples.orderV3),
      try harness.send("PATCH", "patch", Samples.abort(SwedbankHarness.order)),
      try harness.send(
        "PATCH", "paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce/setInstrument", Samples.setInstrument),
      try harness.send("POST", "expand", ["resource": url, "expand": ["paid"]]),
      try harness.send("POST", "tokens", ["resource": url]),
      try harness.send("GET", "payers/user1/paymentTokens"),
    ]
    #expect(harness.calls.count == answers.count)
    #expect(harness.reports.isEmpty)
    return answers
  }

  @Test(
    "SW20: A problem of Swedbank Pay is forwarded byte for byte with its status",
    arguments: [
      ("inputerror", 400, nil), ("unauthorized", 401, .credentials),
      ("configurationerror", 403, .credentials),
      ("notfound", 404, nil), ("systemerror", 500, .failed), ("systemerror", 503, .failed),
    ] as [(String, Int, BackendTrouble?)])
  func problem(_ type: String, _ status: Int, _ trouble: BackendTrouble?) throws {
    let body = Self.problem(type, status)
    for contentType in ["application/problem+json", "application/json"] {
      for answer in try Self.answers(to: .json(status, body, type: contentType)) {
        #expect(answer.status == status)
        #expect(answer.contentType == "application/problem+json")
        #expect(answer.body == body.serialized())
        #expect(answer.trouble == trouble)
      }
    }
  }

  @Test func `SW21: A problem without an integer status gets that of its answer`() throws {
    for (body, expected) in [
      (#"{"message":"x"}"#, #"{"message":"x","status":400}"#), ("{}", #"{"status":400}"#),
      (#"{ "status" : "400", "a":1.50 }"#, #"{ "status" : 400, "a":1.50 }"#),
      (#"{"status":4.5}"#, #"{"status":400}"#), (#"{"status":null}"#, #"{"status":400}"#),
      (#"{"status":409}"#, #"{"status":409}"#),
    ] {
      for answer in try Self.answers(to: .text(400, "application/json", body)) {
        #expect(answer.status == 400)
        #expect(answer.contentType == "application/problem+json")
        #expect(answer.text == expected)
      }
    }
  }

  @Test(
    "SW22: An answer that is not the documented JSON is a bad gateway with its status and text",
    arguments: [
      (200, "text/html", "<html>maintenance</html>"), (503, "text/html; charset=utf-8", "<html>down</html>"),
      (200, nil, "{}"), (200, "application/json", "{not json"), (400, "application/json", "[1]"),
      (500, "application/vnd.x+json", #"{"a":1}"#), (404, "text/plain", ""), (200, "application/json", ""),
      (204, nil, ""), (200, "text/json", "{}"), (100, "application/json", "{}"),
      (600, "application/json", "{}"), (0, "application/json", "{}"),
    ] as [(Int, String?, String)])
  func unreadable(_ status: Int, _ type: String?, _ body: String) throws {
    for answer in try Self.answers(to: .text(status, type, body)) {
      #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
      #expect(answer.json?["gatewayStatus"] == .integer(Int64(status)))
      #expect(answer.json?["body"] == .string(body))
      #expect(answer.trouble == (status >= 500 ? .failed : .unreadable))
    }
  }

  @Test func `SW22: The text of a bad gateway is short, whole, and without the merchant's token`() throws {
    let echo = "Authorization: Bearer \(SwedbankHarness.token)\n"
    for filler in ["x", "é", "🧾"] {
      let body = echo + String(repeating: filler, count: 100_000)
      for answer in try Self.answers(to: .text(500, "text/plain", body)).prefix(1) {
        let text = try #require(answer.json?["body"]?.stringValue)
        #expect(text.utf8.count <= 4096)
        #expect(text.utf8.count > 4000)
        #expect(text.hasSuffix(filler))
        #expect(!text.contains(SwedbankHarness.token))
      }
    }
    // A token at the cut is not shown in part.
    for length in 4060...4100 {
      let body = String(repeating: "x", count: length) + SwedbankHarness.token
      let answer = try #require(try Self.answers(to: .text(500, "text/plain", body)).first)
      #expect(answer.json?["body"]?.stringValue?.contains("merchant") == false)
    }
    let binary = BackendReply.answer(status: 200, contentType: nil, body: [0xFF, 0xFE, 0x00, 0xC3])
    for answer in try Self.answers(to: binary) {
      #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
    }
  }

  @Test("SW23: Without a connection the answer is a bad gateway without a status, and names no address")
  func unreachable() throws {
    for reply in [BackendReply.unreachable, .noAnswer(isTimeout: false)] {
      for answer in try Self.answers(to: reply) {
        #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
        #expect(answer.json?["gatewayStatus"] == nil)
        #expect(!answer.text.contains("payex.example"))
        #expect(answer.trouble == .unreachable)
      }
    }
  }

  @Test func `SW24: A time-out is a gateway time-out, and each call has the configured time`() throws {
    for answer in try Self.answers(to: .noAnswer(isTimeout: true)) {
      #expect(isSwedbankProblem(answer, 504, "mobilesdk/gatewaytimeout"))
      #expect(answer.trouble == .timeout)
    }
    var settings = SwedbankHarness.settings()
    settings.timeout = .seconds(3)
    var harness = try SwedbankHarness(settings)
    _ = try harness.send("POST", "consumers", Samples.consumers)
    #expect(harness.calls.map(\.timeout) == [.seconds(3)])
  }

  @Test func `A full queue of calls is no fault of Swedbank Pay's, and the app may try again`() throws {
    for answer in try Self.answers(to: .busy) {
      #expect(answer.status == 503)
      #expect(answer.contentType == "application/problem+json")
      #expect(answer.trouble == nil)
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `SW26: A redirect is not passed on, whatever its body`(_ status: Int) throws {
    for type in ["text/html", "application/json", nil] {
      for answer in try Self.answers(to: .text(status, type, "{}")) {
        #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
        #expect(answer.json?["gatewayStatus"] == .integer(Int64(status)))
        #expect(answer.headers["Location"] == nil)
      }
    }
  }

  @Test(
    "An error of the relay has the type that the SDKs know for it",
    arguments: [
      ("unauthorized", 401, "mobilesdk/unauthorized"), ("not-found", 404, "notfound"),
      ("method-not-allowed", 405, "mobilesdk/badrequest"), ("body-too-large", 413, "mobilesdk/badrequest"),
      ("too-many-requests", 429, "mobilesdk/badrequest"), ("x", 504, "mobilesdk/gatewaytimeout"),
    ])
  func rephrased(_ slug: String, _ status: Int, _ type: String) throws {
    let backend = try #require(try SwedbankHarness.processor().backend)
    let fault = BackendFault(slug: slug, title: "Title", status: status, detail: "What to do.")
    let answer = try #require(Swift.type(of: backend).rephrase(fault))
    #expect(isSwedbankProblem(answer, status, type))
    #expect(answer.json?["detail"] == "What to do.")
    #expect(answer.json?["title"] == "Title")
  }

  @Test("SW34: What the SDKs do not know has a type of the relay's own, never one under Swedbank Pay's name")
  func ownTypes() throws {
    for (configured, types) in [
      (nil, "urn:receiptd:problem:"),
      ("https://pay.example.com/problems/", "https://pay.example.com/problems/"),
    ] as [(String?, String)] {
      var settings = SwedbankHarness.settings()
      if let configured { settings.problemTypes = configured }
      let backend = try #require(try SwedbankHarness.processor(settings).backend)
      for (slug, status) in [("busy", 503), ("internal", 500)] {
        let fault = BackendFault(slug: slug, title: "Title", status: status, detail: "What to do.")
        let answer = try #require(backend.rephrase(fault))
        #expect(answer.json?["type"] == .string(types + slug))
        #expect(answer.status == status)
      }
      let known = BackendFault(slug: "not-found", title: "Title", status: 404, detail: "What to do.")
      #expect(isSwedbankProblem(try #require(backend.rephrase(known)), 404, "notfound"))
      var harness = try SwedbankHarness(settings)
      harness.script = [.busy]
      let busy = try harness.send("POST", "paymentorders", SwedbankSamples.orderV3)
      #expect(busy.json?["type"] == .string(types + "busy"))
    }
  }
}
