// Payments with Swedbank Pay through a real relay: started by an SDK, paid at a stand-in, reported by its
// callbacks, and delivered to the merchant's backend.

import Domain
import Formats
import HTTPServer
import Sandbox
import Testing

@Suite(.withDaemonLog) struct SwedbankCheckoutTests {
  @Test(
    "SW28, CB03: An SDK pays, and the merchant's backend gets the purchase with its context",
    arguments: SwedbankSDK.Version.allCases)
  func pays(version: SwedbankSDK.Version) throws {
    try SwedbankShop.run { shop in
      let checkout = Checkout("buyer")
      let context = try shop.relay.post(checkout)
      let sdk = shop.sdk(headers: ["X-Context-Id": context])
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
      #expect(try shop.relay.receipt(of: order.id) == nil, "nothing is paid yet")
      #expect(shop.swedbank.perform(.pay, on: order.id))
      try shop.relay.reaches(.delivered, order.id)
      let message = try #require(shop.messages("purchase.completed").first?.json["data"])
      #expect(message["processor"] == "swedbank")
      #expect(message["object_type"] == "payment_order")
      #expect(message["object_id"] == .string(order.id))
      #expect(message["user_id"] == "buyer")
      #expect(message["amount"] == "59.99")
      #expect(message["currency"] == "SEK")
      #expect(message["captured"] == true)
      #expect(message["ply_context"] == .string(checkout.context))
      #expect(shop.purchasely.ledger.isEmpty)
    }
  }

  @Test("An authorised payment is captured by the relay only if the configuration says so, and once")
  func captures() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.authorize, on: order.id)
      try shop.relay.reaches(.delivered, order.id)
      #expect(shop.messages("purchase.completed").first?.json["data"]?["captured"] == false)
      #expect(shop.swedbank.orders.last?.captureRequests == 0)
    }
    try SwedbankShop.run(["capture": "auto"]) { shop in
      // The answer to the capture is lost, and the order says that it took effect.
      shop.swedbank.faults = SandboxFaults(.cut, remaining: 1, operations: ["capture"])
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.authorize, on: order.id)
      try waitUntil("it is captured") { shop.swedbank.orders.last?.capturableAmount == 0 }
      try shop.relay.reaches(.delivered, order.id)
      let metric = #"receiptd_captures_total{app="shop",processor="swedbank",outcome="captured"}"#
      try waitUntil("the relay knows it") { try shop.relay.metric(metric) == 1 }
      #expect(shop.swedbank.orders.last?.captureRequests == 1)
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }

  @Test("A reversal after the payment is reported with its own id")
  func reversal() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.pay, on: order.id)
      try shop.relay.reaches(.delivered, order.id)
      shop.swedbank.perform(.reverse, on: order.id)
      try waitUntil("the reversal arrives") { !shop.messages("purchase.reversed").isEmpty }
      let ids = shop.backend.ledger.map { $0.head.header("webhook-id") ?? "" }
      #expect(ids.count == 2)
      #expect(ids.last == ids.first.map { $0 + "-reversed" })
      try shop.relay.reaches(.delivered, order.id)
    }
  }

  @Test("CB05: The same callback eight times makes one purchase")
  func repeats() throws {
    try SwedbankShop.run(copies: 8) { shop in
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.pay, on: order.id)
      try shop.relay.reaches(.delivered, order.id)
      try shop.relay.passTime()
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }

  @Test("An order whose callbacks are all lost is fetched after settle_after")
  func lostCallbacks() throws {
    try SwedbankShop.run(["settle_after": "1s"], copies: 0) { shop in
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.pay, on: order.id)
      try shop.relay.reaches(.delivered, order.id)
    }
  }

  @Test("CB12: While Swedbank Pay fails, the fetch that a callback asks for is repeated")
  func failingFetch() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3)
      shop.swedbank.faults = SandboxFaults(.error, status: 503, remaining: 1)
      shop.swedbank.perform(.pay, on: order.id)
      try shop.relay.reaches(.delivered, order.id)
      #expect(shop.sent.count { $0.hasPrefix("GET \(order.id)") } >= 2)
    }
  }

  @Test("CB06 to CB09: Unknown orders, foreign senders and wrong secrets cause no request")
  func forged() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3)
      let stored = try #require(shop.swedbank.orders.first { $0.id == order.id })
      let callback = try #require(stored.callbackURL)
      let path = String(callback.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
      func post(
        _ id: JSONValue, _ path: String, _ headers: [String: String] = [:], from source: UInt32 = 1
      ) throws -> Int {
        var api = shop.relay.outside.api
        api.source = source
        let body: JSONValue = ["paymentOrder": ["id": id, "number": 1]]
        let fields = ["Content-Type": "application/json"].merging(headers) { $1 }
        return try api.request("POST", path, body: body.serialized(), headers: fields).status
      }
      let before = shop.sent
      #expect(try post("/psp/paymentorders/unknown", path) == 200)
      #expect(try [200, 400].contains(post("https://evil.test/psp/paymentorders/1", path)))
      #expect(try [200, 400].contains(post("/psp/../paymentorders/1", path)))
      #expect(try [200, 400].contains(post(17, path)))
      #expect(try post(.string(order.id), path, from: 2) == 403)
      #expect(try post(.string(order.id), path, ["X-Forwarded-For": "127.0.0.1"], from: 2) == 403)
      #expect(try post(.string(order.id), path.dropLast(1) + "0") == 404)
      #expect(try post(.string(order.id), "/v1/shop/webhooks/swedbank/guess") == 404)
      try shop.relay.passTime()
      #expect(shop.sent == before)
      #expect(try post(.string(order.id), path) == 200)
      try waitUntil("the order is fetched") { shop.sent.count > before.count }
    }
  }

  @Test("SW02, SW14: Without the app's key, or as another user, nothing reaches Swedbank Pay")
  func foreign() throws {
    try SwedbankShop.run { shop in
      let order = try shop.sdk().start(.v3)
      let before = shop.sent
      for key in [nil, "", "wrong", Secrets.clientKey + "x"] {
        var nobody = shop.sdk()
        nobody.headers["X-API-KEY"] = key
        #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("mobilesdk/unauthorized"), status: 401)) {
          _ = try nobody.start(.v3)
        }
      }
      #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("notfound"), status: 404)) {
        _ = try shop.sdk(user: "another").abort(order.answer)
      }
      #expect(throws: SwedbankSDK.Failure.problem(type: Self.type("mobilesdk/badrequest"), status: 400)) {
        _ = try SwedbankSDK(shop.relay).start(.v3)
      }
      #expect(shop.sent == before)
    }
  }

  private static func type(_ name: String) -> String { "https://api.payex.com/psp/errordetail/\(name)" }

  @Test("Only Stripe's purchases are sent to Purchasely, whatever else the app sells")
  func purchaselyGetsStripeOnly() throws {
    try SwedbankShop.run { shop in
      let checkout = Checkout("stripe-buyer")
      try shop.relay.post(checkout)
      let order = try shop.sdk().start(.v3)
      shop.swedbank.perform(.pay, on: order.id)
      try shop.relay.ingest(checkout.completed)
      try shop.relay.reaches(.delivered, checkout.subscription)
      try shop.relay.reaches(.delivered, order.id)
      #expect(shop.purchasely.ledger.map(\.objectID) == [checkout.subscription])
      #expect(shop.purchasely.ledger.allSatisfy { $0.head.header("X-PLATFORM-TYPE") == "STRIPE" })
      #expect(
        shop.messages("purchase.completed").map { $0.json["data"]?["object_id"] } == [.string(order.id)])
    }
  }
}
