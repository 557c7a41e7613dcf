// A real relay whose app takes payments with Swedbank Pay, with stand-ins for it and for the merchant's
// backend.

import Formats
import HTTPServer
import Platform
import Sandbox
import TestSupport
import Testing

/// A relay whose app takes payments with Swedbank Pay and with Stripe.
struct SwedbankShop {
  static let token = "merchant-token-end-to-end"

  let relay: Relay
  let purchasely: Destination
  let backend: Destination
  let swedbank: SandboxSwedbank
  private let requests: Monitor<[SandboxExchange]>

  /// The requests to Swedbank Pay, as `GET /psp/paymentorders/…`.
  var sent: [String] { requests.withLock { $0.map { "\($0.method) \($0.target)" } } }

  func sdk(user: String = "buyer", headers: [String: String] = [:]) -> SwedbankSDK {
    SwedbankSDK(relay, headers: headers.merging(["X-User-Id": user]) { own, _ in own })
  }

  /// The messages to the merchant's backend, by type.
  func messages(_ type: String) -> [Destination.Entry] { backend.ledger.filter { $0["type"] == type } }

  /// - Parameters:
  ///   - settings: changes for the section `swedbank`.
  ///   - copies: how often the stand-in sends each callback.
  ///   - prepare: changes the relay before its start.
  static func run(
    _ settings: JSONValue = [:], copies: Int = 1, prepare: (Relay) throws -> Void = { _ in },
    _ body: (SwedbankShop) throws -> Void
  ) throws {
    let requests = Monitor<[SandboxExchange]>([])
    let swedbank = try SandboxSwedbank(
      token: Self.token, payeeID: "payee-1", callbackScale: 0.01,
      onExchange: { exchange in requests.update { $0.append(exchange) } })
    defer { swedbank.stop() }
    swedbank.callbackCopies = copies
    let backend = try Destination()
    defer { backend.stop() }
    let port = try ReservedPort()
    let section: JSONValue = [
      "api_base": .string(swedbank.base), "merchant_token": .string(Self.token), "payee_id": "payee-1",
      "public_origin": .string("http://127.0.0.1:\(port.number)"), "callback_from": ["127.0.0.1"],
    ]
    let secret = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
    let app: JSONValue = [
      "swedbank": section.merging(settings),
      "webhook": ["url": .string(backend.url), "secrets": [.string(secret)]],
    ]
    let top: JSONValue = ["listen": ["port": .integer(Int64(port.number))]]
    try withRelay(app: app, top: top, prepare: prepare) { relay, purchasely in
      try body(
        SwedbankShop(
          relay: relay, purchasely: purchasely, backend: backend, swedbank: swedbank, requests: requests))
      // SW27
      let metrics = try relay.admin.request("GET", "/metrics").text
      for text in [relay.log, metrics] {
        #expect(!text.contains(Self.token))
        #expect(!text.contains(Secrets.clientKey))
      }
    }
  }
}
