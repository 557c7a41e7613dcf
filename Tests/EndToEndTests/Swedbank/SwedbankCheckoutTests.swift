// Payments with Swedbank Pay through a real relay: started by an SDK, paid at a stand-in, reported by its
// callbacks, and delivered to the merchant's backend.

import Domain
import Encoding
import HTTPServer
import JSON
import Platform
import Sandbox
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct SwedbankCheckoutTests {
  private static let token = "merchant-token-end-to-end"

  /// A relay whose app takes payments with Swedbank Pay and with Stripe.
  private struct Bed {
    let relay: Relay
    let purchasely: Destination
    let backend: Destination
    let swedbank: SandboxSwedbank
    let requests: Monitor<[SandboxExchange]>

    /// The requests to Swedbank Pay, as `GET /psp/paymentorders/…`.
    var sent: [String] { requests.withLock { $0.map { "\($0.method) \($0.target)" } } }

    func sdk(user: String = "buyer", headers: [String: String] = [:]) -> SwedbankSDK {
      SwedbankSDK(relay, headers: headers.merging(["X-User-Id": user]) { own, _ in own })
    }

    /// The messages to the merchant's backend, by type.
    func messages(_ type: String) -> [Destination.Entry] { backend.ledger.filter { $0["type"] == type } }
  }

  /// - Parameters:
  ///   - settings: changes for the section `swedbank`.
  ///   - copies: how often the stand-in sends each callback.
  private func withSwedbank(
    _ settings: JSONValue = [:], copies: Int = 1, faults: SandboxFaults = SandboxFaults(),
    _ body: (Bed) throws -> Void
  ) throws {
    let requests = Monitor<[SandboxExchange]>([])
    let swedbank = try SandboxSwedbank(
      token: Self.token, payeeID: "payee-1", faults: faults, callbackScale: 0.01,
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
    try withRelay(app: app, top: top) { relay, purchasely in
      try body(
        Bed(
          relay: relay, purchasely: purchasely, backend: backend, swedbank: swedbank, requests: requests))
      #expect(!relay.log.contains(Self.token))
    }
  }

  @Test(
    "SW28, CB03: An SDK pays, and the merchant's backend gets the purchase with its context",
    arguments: SwedbankSDK.Version.allCases)
  func pays(version: SwedbankSDK.Version) throws {
    try withSwedbank { bed in
      let checkout = Checkout("buyer")
      let context = try bed.relay.post(checkout)
      let sdk = bed.sdk(headers: ["X-Context-Id": context])
      if version == .v2 {
        let consumer: JSONValue = [
          "operation": "initiate-consumer-session", "language": "en-US",
          "shippingAddressRestrictedToCountryCodes": ["SE"],
        ]
        let session = try sdk.request("POST", try sdk.link("consumers"), consumer)
        _ = try sdk.operation("view-consumer-identification", in: session)
      }
      let order = try sdk.start(version)
      _ = try sdk.setInstrument("Swish", of: order.answer, version)
      #expect(try bed.relay.receipt(of: order.id) == nil, "nothing is paid yet")
      #expect(bed.swedbank.perform(.pay, on: order.id))
      try bed.relay.reaches(.delivered, order.id)
      let message = try #require(bed.messages("purchase.completed").first?.json["data"])
      #expect(message["processor"] == "swedbank")
      #expect(message["object_type"] == "payment_order")
      #expect(message["object_id"] == .string(order.id))
      #expect(message["user_id"] == "buyer")
      #expect(message["amount"] == "59.99")
      #expect(message["currency"] == "SEK")
      #expect(message["captured"] == true)
      #expect(message["ply_context"] == .string(checkout.context))
      #expect(bed.purchasely.ledger.isEmpty)
    }
  }

  @Test("A reversal after the payment is reported with its own id")
  func reversal() throws {
    try withSwedbank { bed in
      let order = try bed.sdk().start(.v3)
      bed.swedbank.perform(.pay, on: order.id)
      try bed.relay.reaches(.delivered, order.id)
      bed.swedbank.perform(.reverse, on: order.id)
      try waitUntil("the reversal arrives") { !bed.messages("purchase.reversed").isEmpty }
      let ids = bed.backend.ledger.map { $0.head.header("webhook-id") ?? "" }
      #expect(ids.count == 2)
      #expect(ids.last == ids.first.map { $0 + "-reversed" })
      try bed.relay.reaches(.delivered, order.id)
    }
  }

  @Test("CB05: The same callback eight times makes one purchase")
  func repeats() throws {
    try withSwedbank(copies: 8) { bed in
      let order = try bed.sdk().start(.v3)
      bed.swedbank.perform(.pay, on: order.id)
      try bed.relay.reaches(.delivered, order.id)
      try bed.relay.passTime()
      #expect(bed.messages("purchase.completed").count == 1)
    }
  }

  @Test("An order whose callbacks are all lost is fetched after settle_after")
  func lostCallbacks() throws {
    try withSwedbank(["settle_after": "1s"], copies: 0) { bed in
      let order = try bed.sdk().start(.v3)
      bed.swedbank.perform(.pay, on: order.id)
      try bed.relay.reaches(.delivered, order.id)
    }
  }

  @Test("CB12: While Swedbank Pay fails, the fetch that a callback asks for is repeated")
  func failingFetch() throws {
    try withSwedbank { bed in
      let order = try bed.sdk().start(.v3)
      bed.swedbank.faults = SandboxFaults(.error, status: 503, remaining: 1)
      bed.swedbank.perform(.pay, on: order.id)
      try bed.relay.reaches(.delivered, order.id)
      #expect(bed.sent.count { $0.hasPrefix("GET \(order.id)") } >= 2)
    }
  }

  @Test("CB06 to CB09: Unknown orders, foreign senders and wrong secrets cause no request")
  func forged() throws {
    try withSwedbank { bed in
      let order = try bed.sdk().start(.v3)
      let stored = try #require(bed.swedbank.orders.first { $0.id == order.id })
      let callback = try #require(stored.callbackURL)
      let path = String(callback.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
      func post(
        _ id: JSONValue, _ path: String, _ headers: [String: String] = [:], from source: UInt32 = 1
      ) throws -> Int {
        var api = bed.relay.outside.api
        api.source = source
        let body: JSONValue = ["paymentOrder": ["id": id, "number": 1]]
        let fields = ["Content-Type": "application/json"].merging(headers) { $1 }
        return try api.request("POST", path, body: body.serialized(), headers: fields).status
      }
      let before = bed.sent
      #expect(try post("/psp/paymentorders/unknown", path) == 200)
      #expect(try [200, 400].contains(post("https://evil.test/psp/paymentorders/1", path)))
      #expect(try [200, 400].contains(post("/psp/../paymentorders/1", path)))
      #expect(try [200, 400].contains(post(17, path)))
      #expect(try post(.string(order.id), path, from: 2) == 403)
      #expect(try post(.string(order.id), path, ["X-Forwarded-For": "127.0.0.1"], from: 2) == 403)
      #expect(try post(.string(order.id), path.dropLast(1) + "0") == 404)
      #expect(try post(.string(order.id), "/v1/shop/webhooks/swedbank/guess") == 404)
      try bed.relay.passTime()
      #expect(bed.sent == before)
      #expect(try post(.string(order.id), path) == 200)
      try waitUntil("the order is fetched") { bed.sent.count > before.count }
    }
  }

  @Test("SW02, SW14: Without a key, or as another user, nothing reaches Swedbank Pay")
  func foreign() throws {
    try withSwedbank { bed in
      let order = try bed.sdk().start(.v3)
      let before = bed.sent
      var nobody = bed.sdk()
      nobody.headers["X-API-KEY"] = nil
      #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("mobilesdk/unauthorized"), status: 401)) {
        _ = try nobody.start(.v3)
      }
      #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("notfound"), status: 404)) {
        _ = try bed.sdk(user: "another").abort(order.answer)
      }
      #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("mobilesdk/badrequest"), status: 400)) {
        _ = try SwedbankSDK(bed.relay).start(.v3)
      }
      #expect(bed.sent == before)
    }
  }

  private static func type(_ name: String) -> String { "https://api.payex.com/psp/errordetail/\(name)" }

  @Test("Only Stripe's purchases are sent to Purchasely, whatever else the app sells")
  func purchaselyGetsStripeOnly() throws {
    try withSwedbank { bed in
      let checkout = Checkout("stripe-buyer")
      try bed.relay.post(checkout)
      let order = try bed.sdk().start(.v3)
      bed.swedbank.perform(.pay, on: order.id)
      try bed.relay.ingest(checkout.completed)
      try bed.relay.reaches(.delivered, checkout.subscription)
      try bed.relay.reaches(.delivered, order.id)
      #expect(bed.purchasely.ledger.map(\.objectID) == [checkout.subscription])
      #expect(bed.purchasely.ledger.allSatisfy { $0.head.header("X-PLATFORM-TYPE") == "STRIPE" })
      #expect(bed.messages("purchase.completed").map { $0.json["data"]?["object_id"] } == [.string(order.id)])
    }
  }
}
