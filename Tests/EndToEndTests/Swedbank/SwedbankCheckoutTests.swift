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

  @Test("SW29, SW30: An order with a configured amount gets the price's line, and an altered one is not sent")
  func prices() throws {
    let gold: JSONValue = ["amount": 5999, "vat": 1200, "currency": "SEK"]
    try SwedbankShop.run(["prices": ["gold": gold]]) { shop in
      let sdk = shop.sdk()
      var refusal: SwedbankSDK.Failure?
      do { _ = try sdk.start(.v3, amount: 1) } catch let failure as SwedbankSDK.Failure { refusal = failure }
      guard case .problem(_, let status)? = refusal else {
        Issue.record("\(String(describing: refusal))")
        return
      }
      #expect(status == 422)
      #expect(shop.sent.isEmpty)
      #expect(shop.swedbank.orders.isEmpty)
      let order = try sdk.start(.v3)
      #expect(shop.swedbank.perform(.pay, on: order.id))
      try shop.relay.reaches(.delivered, order.id)
      let message = try #require(shop.messages("purchase.completed").first?.json["data"])
      #expect(message["price_id"] == "gold")
      #expect(message["amount"] == "59.99")
    }
  }

  @Test func `A reversal after the payment is reported with its own id`() throws {
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
}
