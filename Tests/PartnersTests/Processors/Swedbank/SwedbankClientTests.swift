// The SDKs as clients: what they send, in which order, and what they require of each answer
// (SwedbankPay/swedbank-pay-sdk-ios, MerchantBackendApi.swift and Link.swift; -android, Api.kt and Link.kt).

import Domain
import Formats
import Partners
import Testing

/// One SDK that talks to the backend. It follows links, and fails as the SDKs fail.
private struct SDK {
  enum Failure: Error {
    case unexpectedContent
    case problem(type: String, status: Int64)
    case missingLink(String)
  }

  var harness: SwedbankHarness
  let root: String

  /// Success is anything but 400–599, as exactly `application/json` with a body. A problem must be exactly
  /// `application/problem+json`.
  mutating func request(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
    // Links are resolved against the request's URL: only a path from the root leads back here.
    guard path.hasPrefix(root) else { throw Failure.missingLink(path) }
    let answer = try harness.send(
      method, String(path.dropFirst(root.count)), body?.serialized() ?? [], root: root)
    guard case .object? = answer.json, let json = answer.json else { throw Failure.unexpectedContent }
    guard (400...599).contains(answer.status) else {
      guard answer.contentType == "application/json" else { throw Failure.unexpectedContent }
      return json
    }
    guard answer.contentType == "application/problem+json" else { throw Failure.unexpectedContent }
    var status = Int64(answer.status)
    if case .integer(let given)? = json["status"] { status = given }
    throw Failure.problem(type: json["type"]?.stringValue ?? "about:blank", status: status)
  }

  /// The URL of an operation; iOS requires the list.
  func link(_ rel: String, in answer: JSONValue) throws -> String {
    guard case .array(let operations)? = answer["operations"] else { throw Failure.unexpectedContent }
    guard let href = operations.first(where: { $0["rel"] == .string(rel) })?["href"]?.stringValue else {
      throw Failure.missingLink(rel)
    }
    return href
  }
}

@Suite("The SDKs of Swedbank Pay as clients")
struct SwedbankClientTests {
  typealias Samples = SwedbankSamples

  private static func sdk(_ script: [BackendReply], root: String = SwedbankHarness.root) throws -> SDK {
    let allow = SwedbankSettings.Allowed(expand: true, tokens: true, payerTokens: true)
    var harness = try SwedbankHarness(SwedbankHarness.settings(allow: allow))
    harness.script = script
    return SDK(harness: harness, root: root)
  }

  @Test func `SW28: A payment of version 2 runs from identification to a change of the instrument`() throws {
    let session: JSONValue = [
      "operations": [Samples.operation("view-consumer-identification", href: "https://ecom.payex.example/c")]
    ]
    for root in [SwedbankHarness.root, "/v1/ios/users/u1/swedbank/"] {
      var sdk = try Self.sdk(
        [.json(200, session), .json(201, Samples.createdV2), .json(200, Samples.createdV2)]
          + [.json(200, Samples.createdV2)], root: root)
      let links = try sdk.request("GET", root)
      let consumers = try #require(links["consumers"]?.stringValue)
      let orders = try #require(links["paymentorders"]?.stringValue)
      let identification = try sdk.request("POST", consumers, Samples.consumers)
      _ = try sdk.link("view-consumer-identification", in: identification)
      let order = try sdk.request("POST", orders, Samples.json(Samples.orderV2))
      _ = try sdk.link("view-paymentorder", in: order)
      #expect(order["paymentOrder"]?["id"]?.stringValue == SwedbankHarness.order)
      let setInstrument = try #require(order["mobileSDK"]?["setInstrument"]?.stringValue)
      let changed = try sdk.request("PATCH", setInstrument, Samples.setInstrument)
      #expect(changed["paymentOrder"]?["availableInstruments"]?.elements.count == 3)
      #expect(sdk.harness.script.isEmpty)
    }
  }

  @Test func `SW28: A payment of version 3 runs from its start to its end`() throws {
    var sdk = try Self.sdk(
      [.json(201, Samples.createdV3), .json(200, Samples.createdV3), .json(200, Samples.paidWithTokens)]
        + [.json(200, Samples.paidWithTokens), .json(200, Samples.createdV3)])
    let root = sdk.root
    let orders = try #require(try sdk.request("GET", root)["paymentorders"]?.stringValue)
    let order = try sdk.request("POST", orders, Samples.json(Samples.orderV3))
    _ = try sdk.link("view-checkout", in: order)
    let change: JSONValue = ["operation": "SetInstrument", "instrument": "Swish"]
    let href = try sdk.link("set-instrument", in: order)
    let changed = try sdk.request("PATCH", root + "patch", ["href": .string(href), "paymentorder": change])
    let resource: JSONValue = .string(SwedbankHarness.order)
    let paid = try sdk.request("POST", root + "expand", ["resource": resource, "expand": ["paid"]])
    #expect(paid["paymentOrder"]?["status"] == "Paid")
    let tokens = try sdk.request("POST", root + "tokens", ["resource": resource, "expand": ["paid"]])
    #expect(tokens == ["recurrence": true, "unscheduled": true])
    let abort = try sdk.link("abort", in: changed)
    _ = try sdk.request("PATCH", root + "patch", Samples.abort(abort))
    #expect(sdk.harness.script.isEmpty)
  }

  @Test func `SW28: An SDK recognises every kind of error by its type and status`() throws {
    let inputError: JSONValue = [
      "type": "https://api.payex.com/psp/errordetail/inputerror", "title": "T", "status": 400,
    ]
    for (reply, type, status) in [
      (.json(400, inputError), "inputerror", 400), (.unreachable, "mobilesdk/badgateway", 502),
      (.noAnswer(isTimeout: true), "mobilesdk/gatewaytimeout", 504),
      (.text(200, "text/html", "<html>"), "mobilesdk/badgateway", 502),
    ] as [(BackendReply, String, Int64)] {
      var sdk = try Self.sdk([reply])
      let root = sdk.root
      do {
        _ = try sdk.request("POST", root + "paymentorders", Samples.json(Samples.orderV3))
        Issue.record("the request fails")
      } catch SDK.Failure.problem(let found, let foundStatus) {
        #expect(found == "https://api.payex.com/psp/errordetail/\(type)")
        #expect(foundStatus == status)
      }
    }
  }
}
