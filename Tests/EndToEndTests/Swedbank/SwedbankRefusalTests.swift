// Answers of Swedbank Pay that a real relay must not pass on, and bodies that it cannot read: each has a
// problem that the SDKs parse.

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
