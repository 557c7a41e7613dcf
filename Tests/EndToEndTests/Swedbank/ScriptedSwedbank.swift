// A Swedbank Pay that answers what a test says, byte for byte, in front of a real relay.

import Formats
import Platform
import TestSupport

/// A relay whose Swedbank Pay is scripted.
struct ScriptedSwedbank {
  static let order = "/psp/paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce"

  /// A request that the relay sent.
  struct Call {
    let method: String
    let target: String
    let head: String
    let body: String

    var json: JSONValue? { try? JSONValue(parsing: Array(body.utf8)) }
    var line: String { "\(method) \(target)" }

    fileprivate init(_ request: String) {
      let words = request.split(separator: " ", maxSplits: 2).map(String.init)
      (method, target) = (words.first ?? "", words.dropFirst().first ?? "")
      let end = request.firstRange(of: "\r\n\r\n")
      head = String(request[..<(end?.lowerBound ?? request.endIndex)])
      body = end.map { String(request[$0.upperBound...]) } ?? ""
    }
  }

  private struct State {
    var calls: [Call] = []
    var script: @Sendable (Call) -> (status: String, type: String, body: String) = { _ in
      ("500 Error", "text/plain", "")
    }
  }

  let relay: Relay
  let base: String
  private let state: Monitor<State>

  var calls: [Call] { state.withLock { $0.calls } }

  func answer(_ script: @escaping @Sendable (Call) -> (status: String, type: String, body: String)) {
    state.update { $0.script = script }
  }

  /// Answers every call with JSON.
  func answer(_ body: JSONValue, status: String = "200 OK") {
    let text = body.text
    answer { _ in (status, "application/json; charset=utf-8", text) }
  }

  /// A request of the user `buyer`.
  func request(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> Reply {
    var fields = ["X-API-KEY": Secrets.clientKey, "X-User-Id": "buyer"]
    if body != nil { fields["Content-Type"] = "application/json" }
    let target = path.hasPrefix("/") ? path : "/v1/shop/swedbank/\(path)"
    return try relay.outside.api.request(method, target, body: body?.serialized(), headers: fields)
  }

  /// Starts the order `order`, and forgets the calls.
  func start(_ answer: JSONValue? = nil, _ order: JSONValue = Self.purchase) throws -> Reply {
    self.answer(answer ?? Self.resource(), status: "201 Created")
    let reply = try request("POST", "paymentorders", ["paymentorder": order])
    return reply
  }

  func forgetCalls() { state.update { $0.calls = [] } }

  /// An order as Swedbank Pay answers it.
  static func resource(
    _ status: String = "Initialized", rels: [String] = [], base: String = "", more: JSONValue = [:]
  ) -> JSONValue {
    let operations = rels.map { rel -> JSONValue in
      ["method": "PATCH", "rel": .string(rel), "href": .string(base + order)]
    }
    let body: JSONValue = [
      "id": .string(order), "status": .string(status), "amount": 1500, "currency": "SEK",
      "availableInstruments": ["CreditCard", "Swish"],
    ]
    return ["paymentOrder": body.merging(more), "operations": .array(operations)]
  }

  static let purchase: JSONValue = [
    "operation": "Purchase", "currency": "SEK", "amount": 1500, "vatAmount": 375, "description": "Gold",
    "userAgent": "app/1", "language": "sv-SE",
    "urls": [
      "hostUrls": ["https://a.test"], "completeUrl": "https://a.test/c", "cancelUrl": "https://a.test/x",
    ],
    "payeeInfo": ["payeeId": "theirs", "payeeReference": "theirs"],
  ]

  static func run(_ settings: JSONValue = [:], _ body: (ScriptedSwedbank) throws -> Void) throws {
    let state = Monitor(State())
    let server = try ScriptedServer { connection in
      while let request = connection.readRequest() {
        let call = Call(request)
        let script = state.update { state in
          state.calls.append(call)
          return state.script
        }
        let answer = script(call)
        connection.send(
          "HTTP/1.1 \(answer.status)\r\nContent-Type: \(answer.type)\r\n"
            + "Content-Length: \(answer.body.utf8.count)\r\n\r\n\(answer.body)")
      }
    }
    defer { server.stop() }
    let base = "http://127.0.0.1:\(server.port)"
    let section: JSONValue = [
      "api_base": .string(base), "merchant_token": .string(SwedbankShop.token), "payee_id": "payee-1",
      "public_origin": "https://pay.example.com", "callback_from": ["127.0.0.1"],
    ]
    let webhook: JSONValue = [
      "url": .string(base + "/backend"), "secrets": ["whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u"],
    ]
    let app: JSONValue = ["swedbank": section.merging(settings), "webhook": webhook]
    try withRelay(app: app) { relay, _ in
      try body(ScriptedSwedbank(relay: relay, base: base, state: state))
    }
  }
}
