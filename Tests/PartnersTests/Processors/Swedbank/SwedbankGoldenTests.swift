// Exchanges that were recorded with Swedbank Pay's example backend: the same calls, the same status, the same
// type of problem. Where the example has a defect, the recording says what is expected instead.

import Domain
import Formats
import Partners
import Testing

struct GoldenExchange: Sendable, CustomTestStringConvertible {
  let json: JSONValue

  var testDescription: String { json["id"]?.stringValue ?? "" }

  static let all: [GoldenExchange] =
    (SwedbankSamples.json(PackageResources.swedbank_golden_json)["cases"]?.elements ?? []).map(Self.init)

  /// The host of the recordings.
  private static let host = "https://api.externalintegration.payex.com"
  private static let order = "/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce"

  /// Replaces the recording's host by the harness's.
  static func here(_ value: JSONValue) -> JSONValue {
    SwedbankSamples.json(Array(value.text.replacing(host, with: SwedbankHarness.base).utf8))
  }

  var request: JSONValue { json["clientRequest"] ?? .null }

  /// The path of the request. The example numbers orders; 42 is the known one.
  var path: String {
    String(request["target"]?.stringValue?.dropFirst() ?? "")
      .replacing("paymentorders/42/", with: "paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce/")
  }

  var script: [BackendReply] {
    (json["upstreamScript"]?.elements ?? []).map { reply in
      guard case .integer(let status)? = reply["status"] else { return .unreachable }
      let body = reply["body"].map(Self.here) ?? .null
      let bytes = body.stringValue.map { Array($0.utf8) } ?? body.serialized()
      return .answer(
        status: Int(clamping: status), contentType: reply["contentType"]?.stringValue, body: bytes)
    }
  }

  func harness() throws -> SwedbankHarness {
    let allow = SwedbankSettings.Allowed(
      patch: true, expand: true, tokens: true, payerTokens: true, usePaymentToken: true)
    var harness = try SwedbankHarness(SwedbankHarness.settings(allow: allow))
    harness.payments[SwedbankHarness.key(Self.order)] = "u1"
    harness.owners["user1"] = "u1"
    harness.script = script
    return harness
  }
}

@Suite("Exchanges recorded with Swedbank Pay's example backend")
struct SwedbankGoldenTests {
  @Test func `The recordings are complete`() { #expect(GoldenExchange.all.count > 20) }

  @Test("The backend makes the recorded calls and gives the recorded answer", arguments: GoldenExchange.all)
  func exchange(_ exchange: GoldenExchange) throws {
    var harness = try exchange.harness()
    let method = try #require(exchange.request["method"]?.stringValue)
    let body = exchange.request["body"].map { GoldenExchange.here($0).serialized() } ?? []
    let answer = try harness.send(method, exchange.path, body)
    let recorded = exchange.json["clientResponse"] ?? .null
    if case .object? = exchange.json["ours"], let ours = exchange.json["ours"] {
      try check(answer, harness, against: ours)
      return
    }
    // The example answers 200 for a new order; Swedbank Pay and its documentation 201.
    let isCreated = exchange.path == "paymentorders" && recorded["status"] == 200
    #expect(isCreated ? answer.status == 201 : JSONValue.integer(Int64(answer.status)) == recorded["status"])
    #expect(answer.json?["type"] == recorded["body"]?["type"])
    for name in ["gatewayStatus", "body", "operations", "paymentOrder", "status", "recurrence"] {
      let value = recorded["body"]?[name].map(GoldenExchange.here)
      #expect(answer.json?[name] == value, "\(name)")
    }
    try check(harness.calls, against: exchange.json["upstreamRequestsMade"]?.elements ?? [])
  }

  private func check(_ calls: [BackendCall], against recorded: [JSONValue]) throws {
    #expect(calls.map { JSONValue.string($0.method) } == recorded.map { $0["method"] })
    for (call, recorded) in zip(calls, recorded) {
      let url = try #require(GoldenExchange.here(recorded)["url"]?.stringValue)
      let isNamed = call.url(at: SwedbankHarness.base) == (url.hasSuffix("/") ? String(url.dropLast()) : url)
      #expect(isNamed, "\(call.target) is not \(url)")
      let sent = try? JSONValue(parsing: call.body)
      guard let body = recorded["body"] else {
        #expect(call.body.isEmpty)
        continue
      }
      // The harness has its own merchant, reference and callback.
      let isOrder = body["paymentorder"]?["payeeInfo"] != nil
      for name in isOrder ? ["operation", "amount", "orderItems", "userAgent"] : [] {
        #expect(sent?["paymentorder"]?[name] == body["paymentorder"]?[name])
      }
      if !isOrder { #expect(sent == body) }
    }
  }

  private func check(_ answer: BackendAnswer, _ harness: SwedbankHarness, against ours: JSONValue) throws {
    let expected = try #require(ours["status"])
    let statuses = expected.elements.isEmpty ? [expected] : expected.elements
    #expect(statuses.contains(.integer(Int64(answer.status))))
    if let type = ours["type"] { #expect(answer.json?["type"] == type) }
    if let status = ours["gatewayStatus"] { #expect(answer.json?["gatewayStatus"] == status) }
    if let count = ours["upstreamCalls"] { #expect(.integer(Int64(harness.calls.count)) == count) }
  }
}
