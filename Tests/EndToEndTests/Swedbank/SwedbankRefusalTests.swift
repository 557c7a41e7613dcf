// Requests to the merchant backend of a real relay that it must refuse, and answers of Swedbank Pay that it
// must not pass on: each has a problem that the SDKs parse, and no request leaves for another host.

import Domain
import Formats
import Sandbox
import TestSupport
import Testing

@Suite(.withDaemonLog) struct SwedbankRefusalTests {
  /// The problem that a request gets: the end of its type, and its status.
  private func problem(_ request: () throws -> Void) -> String {
    do {
      try request()
      return "none"
    } catch SwedbankSDK.Failure.problem(let type, let status) {
      return "\(type.split(separator: "/").last ?? "") \(status)"
    } catch {
      return "\(error)"
    }
  }

  private static let purchase: JSONValue = [
    "operation": "Purchase", "currency": "SEK", "amount": 100, "vatAmount": 0, "description": "d",
    "userAgent": "u", "language": "en-US",
    "urls": ["hostUrls": ["https://a.test"], "completeUrl": "https://a.test/c"],
    "payeeInfo": ["payeeId": "", "payeeReference": ""],
  ]

  @Test("SW05, SW10: An order or a session with a wrong member is refused, and nothing is sent")
  func members() throws {
    try SwedbankShop.run { shop in
      let sdk = shop.sdk()
      let changes: [JSONValue] = [
        ["operation": "Recur"], ["amount": "1.5"], ["currency": 1], ["urls": []],
        ["language": true],
      ]
      for change in changes {
        let body: JSONValue = ["paymentorder": Self.purchase.merging(change)]
        let found = problem { _ = try sdk.request("POST", sdk.backendURL + "paymentorders", body) }
        #expect(found == "badrequest 400", "\(change)")
      }
      let sessions: [JSONValue] = [
        [:], ["operation": "initiate-consumer-session", "language": "en-US"],
        [
          "operation": "initiate-consumer-session", "language": "en-US",
          "shippingAddressRestrictedToCountryCodes": "SE",
        ],
      ]
      for body in sessions {
        let found = problem { _ = try sdk.request("POST", sdk.backendURL + "consumers", body) }
        #expect(found == "badrequest 400", "\(body)")
      }
      #expect(shop.sent.isEmpty)
    }
  }

  /// The orders that Swedbank Pay's example backend refuses.
  private static func refusedOrders() throws -> [OrderVector] {
    func fixture(_ name: String) throws -> JSONValue {
      let text = TextFile.read("\(Program.repository)/Tests/PartnersTests/Processors/Fixtures/\(name).json")
      return try JSONValue(parsing: Array(text.utf8))
    }
    return OrderVector.all(
      in: try fixture("swedbank_validation"), changing: try fixture("swedbank_paymentorder_v3")
    ).filter(\.isRefused)
  }

  @Test("SW10: Each order that the example backend refuses is refused with its field, and nothing is sent")
  func vectors() throws {
    let orders = try Self.refusedOrders()
    #expect(orders.count > 15)
    try SwedbankShop.run { shop in
      let sdk = shop.sdk()
      for order in orders {
        let reply = try sdk.api.request(
          "POST", "/v1/shop/swedbank/paymentorders", body: order.body.serialized(),
          headers: sdk.headers.merging(["Content-Type": "application/json"]) { $1 })
        #expect(reply.status == 400, "\(order.id): \(reply.text)")
        #expect(reply["type"]?.hasSuffix("/mobilesdk/badrequest") == true, "\(order.id)")
        #expect(reply["source"] == order.source, "\(order.id)")
      }
      #expect(shop.sent.isEmpty)
    }
  }

  @Test("SW16, SW17: No href and no resource of a client leads to another host")
  func hosts() throws {
    try SwedbankShop.run(["allow": ["expand": true, "tokens": true]]) { shop in
      let sdk = shop.sdk()
      let order = try sdk.start(.v3)
      let path = order.id
      let before = shop.sent
      let port = shop.swedbank.port
      let hrefs = [
        "https://evil.test\(path)", "//evil.test\(path)", "http://127.0.0.1:\(port + 1)\(path)",
        "https://127.0.0.1:\(port)\(path)", "http://user@127.0.0.1:\(port)\(path)", "/psp/paymentorders/none",
        "http://127.0.0.1:\(port)@evil.test\(path)", "http://127.0.0.1:\(port)/../..\(path)", "", "#",
      ]
      let change: JSONValue = ["operation": "Abort", "abortReason": "CancelledByConsumer"]
      for href in hrefs {
        let body: JSONValue = ["href": .string(href), "paymentorder": change]
        let found = problem { _ = try sdk.request("PATCH", sdk.backendURL + "patch", body) }
        #expect(found.hasSuffix(" 400") || found.hasSuffix(" 404"), "\(href): \(found)")
      }
      for resource in ["@evil.test/x", ".evil.test/x", "/../../x", "https://evil.test\(path)", "/psp/none"] {
        for name in ["expand", "tokens"] {
          let body: JSONValue = ["resource": .string(resource), "expand": ["paid"]]
          let found = problem { _ = try sdk.request("POST", sdk.backendURL + name, body) }
          #expect(found.hasSuffix(" 400") || found.hasSuffix(" 404"), "\(resource): \(found)")
        }
      }
      #expect(shop.sent == before)
    }
  }

  @Test("SW18, SW19: Without their switches, expansion and tokens are refused")
  func switches() throws {
    try SwedbankShop.run(["allow": ["patch": false]]) { shop in
      let sdk = shop.sdk()
      let order = try sdk.start(.v3)
      let before = shop.sent
      let resource: JSONValue = ["resource": .string(order.id), "expand": ["paid"]]
      let found = [
        problem { _ = try sdk.request("POST", sdk.backendURL + "expand", resource) },
        problem { _ = try sdk.request("POST", sdk.backendURL + "tokens", resource) },
        problem { _ = try sdk.abort(order.answer) },
        problem { _ = try sdk.request("GET", sdk.backendURL + "payers/p1/paymentTokens") },
      ]
      #expect(found.allSatisfy { $0.hasSuffix(" 401") }, "\(found)")
      #expect(shop.sent == before)
    }
  }

  @Test("SW20 to SW24, SW26: A failing Swedbank Pay becomes a problem that the SDKs know")
  func upstream() throws {
    try SwedbankShop.run(["timeout": "1s"]) { shop in
      let sdk = shop.sdk()
      func start(_ faults: SandboxFaults) -> String {
        shop.swedbank.faults = faults
        return problem { _ = try sdk.start(.v3) }
      }
      for status in [400, 403, 404, 500] {
        #expect(start(SandboxFaults(.error, status: status)).hasSuffix(" \(status)"))
      }
      #expect(start(SandboxFaults(.page)) == "badgateway 502")
      #expect(start(SandboxFaults(.malformed)) == "badgateway 502")
      #expect(start(SandboxFaults(.redirect)) == "badgateway 502")
      #expect(start(SandboxFaults(.silent)) == "gatewaytimeout 504")
      // The time-out is 1 s. Without it, the call would take 20 s.
      #expect(try shop.relay.slowCalls("swedbank", over: "0.5") >= 1)
      #expect(try shop.relay.slowCalls("swedbank", over: "10") == 0)
      #expect(start(SandboxFaults()) == "none", "and then it works again")
      shop.swedbank.stop()
      let found = problem { _ = try sdk.start(.v3) }
      #expect(found == "badgateway 502")
      let receipts = try shop.relay.receipts()
      #expect(receipts.isEmpty)
    }
  }

  @Test("SW25: A body that is too long, or not JSON, gets a problem, and the next request is served")
  func bodies() throws {
    try SwedbankShop.run { shop in
      let sdk = shop.sdk()
      let path = "/v1/shop/users/buyer/swedbank/paymentorders"
      func post(_ body: [UInt8], _ type: String?) throws -> Reply {
        var headers = sdk.headers
        headers["Content-Type"] = type
        return try sdk.api.request("POST", path, body: body, headers: headers)
      }
      // Without the body: the answer comes before it, and a client that goes on sending may meet the end of
      // the connection first.
      let long = try Wire(sdk.api.port)
      let length = ["Content-Length": "\((256 << 10) + 1)", "Content-Type": "application/json"]
      try long.send(Endpoint.bytes("POST", path, body: nil, headers: sdk.headers.merging(length) { $1 }))
      let refused = try long.reply()
      #expect(refused.status == 413)
      let replies = [
        refused, try post([], "application/json"),
        try post(Array("{".utf8), "application/json"), try post(Array("{}".utf8), "text/plain"),
        try post(Array("[]".utf8), "application/json"), try post([0xFF, 0xFE], "application/json"),
      ]
      for reply in replies {
        #expect([400, 413, 415].contains(reply.status), "\(reply.text)")
        #expect(reply.header("Content-Type") == "application/problem+json")
      }
      #expect(shop.sent.isEmpty)
      _ = try sdk.start(.v3)
    }
  }
}
