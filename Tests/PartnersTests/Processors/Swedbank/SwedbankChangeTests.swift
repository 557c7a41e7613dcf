// Changes of a payment order: only of a known one, and only at the configured host.

import Domain
import Formats
import Partners
import Testing

@Suite("Changing a Swedbank Pay payment")
struct SwedbankChangeTests {
  typealias Samples = SwedbankSamples

  private static let segment = "09ccd29a-7c4f-4752-9396-12100cbfecce"
  private static let link = "paymentorders/\(segment)/setInstrument"
  private static let url = SwedbankHarness.base + SwedbankHarness.order

  @Test func `SW12: The operation is found in the order, and gets exactly the client's body`() throws {
    var harness = try SwedbankHarness.withOrder()
    let changed = Samples.created(Samples.operation("update-paymentorder-setinstrument"))
    harness.script = [.json(200, Samples.createdV2), .json(200, changed)]
    let answer = try harness.send("PATCH", Self.link, Samples.setInstrument)
    #expect(answer.status == 200)
    #expect(answer.contentType == "application/json")
    #expect(answer.body == changed.serialized())
    #expect(harness.calls.map(\.method) == ["GET", "PATCH"])
    #expect(harness.calls.map(\.target) == [SwedbankHarness.order, SwedbankHarness.order])
    #expect(harness.calls.map(\.body) == [[], Samples.setInstrument.serialized()])
    #expect(harness.calls.last?.headers["Content-Type"] == "application/json")
  }

  @Test func `The link of an order's answer leads back to the order, whatever the form of its id`() throws {
    for id in [
      SwedbankHarness.order, "/psp/other/1/2", "/psp/paymentorders/~x", "/x", "/psp/paymentorders/a/b",
    ] {
      var harness = try SwedbankHarness()
      let created = Samples.created(Samples.operation("update-paymentorder-setinstrument"), id: id)
      harness.script = [.json(201, created), .json(200, created), .json(200, [:])]
      let answer = try harness.send("POST", "paymentorders", Samples.orderV2)
      let link = try #require(answer.json?["mobileSDK"]?["setInstrument"]?.stringValue)
      #expect(link.hasPrefix(SwedbankHarness.root))
      let path = String(link.dropFirst(SwedbankHarness.root.count))
      #expect(try harness.send("PATCH", path, Samples.setInstrument).status == 200)
      #expect(harness.calls.map(\.target).dropFirst().first == id)
    }
  }

  @Test("SW13: An order whose instrument cannot be changed is answered 404, with Swedbank Pay's type")
  func noOperation() throws {
    for body in [Samples.createdV3, Samples.created(), ["operations": 1], [:]] {
      var harness = try SwedbankHarness.withOrder()
      harness.script = [.json(200, body)]
      let answer = try harness.send("PATCH", Self.link, Samples.setInstrument)
      #expect(isSwedbankProblem(answer, 404, "notfound"))
      #expect(harness.calls.count == 1)
    }
  }

  @Test func `SW14: An unknown order and another user's are answered 404, and nothing is sent`() throws {
    for path in [
      Self.link, "paymentorders/99/setInstrument", "paymentorders/~x/setInstrument",
      "paymentorders/%2E%2E/setInstrument", "paymentorders/..%2Fconsumers/setInstrument",
      "paymentorders/~/setInstrument", "paymentorders/a%20b/setInstrument",
    ] {
      var harness = try SwedbankHarness.withOrder(user: "u2")
      let answer = try harness.send("PATCH", path, Samples.setInstrument)
      #expect(isSwedbankProblem(answer, 404, "notfound"))
      #expect(harness.effects.isEmpty)
    }
  }

  @Test(
    arguments: [
      ["paymentorder": ["operation": "SetInstrument", "intrument": "Swish"]],
      ["paymentorder": ["operation": "SetInstrument", "instrument": "Swish", "more": 1]],
      ["paymentorder": ["operation": "Abort", "instrument": "Swish"]],
      ["paymentorder": ["operation": "SetInstrument", "instrument": ""]],
      ["paymentorder": ["operation": "SetInstrument", "instrument": 1]], ["paymentorder": "x"], [:],
      ["paymentorder": ["operation": "SetInstrument", "instrument": "Swish"], "more": 1],
    ] as [JSONValue])
  func `SW14: Another body is refused, and nothing is sent`(_ body: JSONValue) throws {
    var harness = try SwedbankHarness.withOrder()
    let answer = try harness.send("PATCH", Self.link, body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test func `SW14: The instrument has no other method than PATCH`() {
    for method in ["GET", "POST", "PUT", "DELETE"] {
      #expect(SwedbankHarness.find(method, Self.link) == nil)
    }
  }

  @Test func `The host of an operation chooses no host: the request goes to the configured base`() throws {
    for href in [
      "https://evil.test/psp/x?a=b", "http://api.payex.example/psp/x?a=b", "/psp/x?a=b",
      "https://api.payex.example:8443/psp/x?a=b", "https://api.payex.example.evil.test/psp/x?a=b",
    ] {
      var harness = try SwedbankHarness.withOrder()
      let order = Samples.created(Samples.operation("update-paymentorder-setinstrument", href: href))
      harness.script = [.json(200, order), .json(200, order)]
      #expect(try harness.send("PATCH", Self.link, Samples.setInstrument).status == 200)
      #expect(harness.calls.map(\.target) == [SwedbankHarness.order, "/psp/x?a=b"])
    }
  }

  @Test func `An operation whose URL could be read in two ways is not carried out`() throws {
    for href in [
      "//evil.test/psp/x", "https://user@api.payex.example/psp/x", "https://api.payex.example", "psp/x", "",
      "https://api.payex.example/psp/../x", "https://api.payex.example/%2e%2e/x",
      "https://api.payex.example//evil.test/x", "https://api.payex.example\\@evil.test/x",
    ] {
      var harness = try SwedbankHarness.withOrder()
      let order = Samples.created(Samples.operation("update-paymentorder-setinstrument", href: href))
      harness.script = [.json(200, order)]
      let answer = try harness.send("PATCH", Self.link, Samples.setInstrument)
      #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
      #expect(answer.json?["gatewayStatus"] == 200)
      #expect(harness.calls.count == 1)
    }
  }

  @Test("A URL of the API may have another path, a query, the default port and any case of its host")
  func operationHere() throws {
    for (href, target) in [
      ("https://api.payex.example/psp/x?a=b&c", "/psp/x?a=b&c"),
      ("HTTPS://API.Payex.Example:443/psp/x", "/psp/x"), ("/psp/x", "/psp/x"),
    ] {
      var harness = try SwedbankHarness.withOrder()
      let order = Samples.created(Samples.operation("update-paymentorder-setinstrument", href: href))
      harness.script = [.json(200, order), .json(200, [:])]
      #expect(try harness.send("PATCH", Self.link, Samples.setInstrument).status == 200)
      #expect(harness.calls.last?.target == target)
    }
  }

  @Test func `SW15: A known order is changed by its URL or its path, with the client's bytes`() throws {
    for href in [Self.url, SwedbankHarness.order, "https://API.payex.example:443\(SwedbankHarness.order)"] {
      var harness = try SwedbankHarness.withOrder()
      harness.script = [.json(200, Samples.createdV3)]
      let inner = #"{ "operation":"Abort", "abortReason" : "CancelledByConsumer","x":1.0e0}"#
      let body = #"{"href":"\#(href)","paymentorder":\#(inner)}"#
      let answer = try harness.send("PATCH", "patch", Array(body.utf8))
      #expect(answer.status == 200)
      #expect(answer.body == Samples.createdV3.serialized())
      let call = try #require(harness.calls.first)
      #expect(call.method == "PATCH")
      #expect(call.target == SwedbankHarness.order)
      #expect(String(decoding: call.body, as: UTF8.self) == #"{"paymentorder":\#(inner)}"#)
    }
  }

  @Test(
    "SW16: An href that is no known order of this host is answered 4xx, and no request leaves",
    arguments: [
      "https://evil.test\(SwedbankHarness.order)", "//evil.test\(SwedbankHarness.order)",
      "http://api.payex.example\(SwedbankHarness.order)",
      "https://api.payex.example:8443\(SwedbankHarness.order)",
      "https://user:pass@api.payex.example\(SwedbankHarness.order)",
      "https://api.payex.example@evil.test\(SwedbankHarness.order)",
      "https://api.payex.example.evil.test\(SwedbankHarness.order)",
      "https://api.payex.example\\@evil.test\(SwedbankHarness.order)",
      "https://evil.test#@api.payex.example\(SwedbankHarness.order)",
      "https://api.payex.example/psp/paymentorders/unknown", "/psp/paymentorders/unknown", "",
      "\(SwedbankHarness.order)/", "\(SwedbankHarness.order)/captures", "\(SwedbankHarness.order)?x",
      "\(SwedbankHarness.order)#x", " \(SwedbankHarness.order)", "/psp/./paymentorders/x",
      "/x/..\(SwedbankHarness.order)", "\(SwedbankHarness.order)%2F..", "/\(SwedbankHarness.order)",
      "javascript:\(SwedbankHarness.order)", "https:\(SwedbankHarness.order)",
    ])
  func otherHref(_ href: String) throws {
    var harness = try SwedbankHarness.withOrder()
    let answer = try harness.send("PATCH", "patch", Samples.abort(href))
    #expect((400...499).contains(answer.status))
    #expect(answer.contentType == "application/problem+json")
    #expect(harness.effects.isEmpty)
  }

  @Test func `SW16: Another user's order is answered 404, and no request leaves`() throws {
    var harness = try SwedbankHarness.withOrder()
    let answer = try harness.send("PATCH", "patch", Samples.abort(Self.url), user: "u2")
    #expect(isSwedbankProblem(answer, 404, "notfound"))
    #expect(harness.effects.isEmpty)
  }

  @Test(
    arguments: [
      ["operation": "Capture"], ["operation": "UpdateOrder", "amount": 1], [:], "Abort",
      ["operation": "Abort", "abortReason": 1], ["operation": "SetInstrument", "instrument": [:]],
    ] as [JSONValue])
  func `Only SetInstrument and Abort pass`(_ change: JSONValue) throws {
    var harness = try SwedbankHarness.withOrder()
    let body: JSONValue = ["href": .string(Self.url), "paymentorder": change]
    let answer = try harness.send("PATCH", "patch", body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test("An operation that is named twice is refused, because readers differ on which one counts")
  func twoOperations() throws {
    for name in ["operation", "Operation"] {
      var harness = try SwedbankHarness.withOrder()
      let body = #"{"href":"\#(Self.url)","paymentorder":{"operation":"Abort","\#(name)":"Capture"}}"#
      let answer = try harness.send("PATCH", "patch", Array(body.utf8))
      #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
      #expect(harness.effects.isEmpty)
    }
  }

  @Test func `Changes need their permission`() throws {
    var harness = try SwedbankHarness.withOrder(.init(patch: false))
    let answer = try harness.send("PATCH", "patch", Samples.abort(Self.url))
    #expect(isSwedbankProblem(answer, 401, "mobilesdk/unauthorized"))
    #expect(harness.effects.isEmpty)
  }
}
