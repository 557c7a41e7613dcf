// Captures of payments with Afterpay and Cash App Pay through a real relay: what apps get, what Afterpay
// gets, and what the merchant's backend gets.

import Domain
import Formats
import HTTPServer
import Sandbox
import Testing

@Suite(.withDaemonLog) struct CashAppCaptureTests {
  @Test("CA11, CA20: An approved capture is answered, and the backend gets the purchase with its context")
  func captured() throws {
    try AfterpayRelay.run { shop in
      let checkout = Checkout("buyer")
      let context = try shop.relay.post(checkout)
      let token = try shop.startApproved(context: context)
      let reply = try shop.capture(token)
      #expect(reply.status == 200)
      #expect(reply.header("Content-Type") == "application/json")
      #expect(reply["state"] == "captured")
      #expect(reply["status"] == "APPROVED")
      #expect(reply["token"] == token)
      #expect(reply["amount"] == "59.99")
      let entry = try #require(shop.afterpay.checkouts.first)
      #expect(reply["id"] == entry.payment?.id)
      // The stand-in refuses members that Afterpay does not document.
      let reference = try #require(entry.payment?.merchantReference)
      #expect(reference.utf8.count == 30)
      try shop.relay.reaches(.delivered, token)
      let message = try #require(shop.messages("purchase.completed").first?.json["data"])
      #expect(message["processor"] == "afterpay")
      #expect(message["object_type"] == "payment")
      #expect(message["object_id"] == .string(token))
      #expect(message["user_id"] == "buyer")
      #expect(message["price_id"] == "gold")
      #expect(message["amount"] == "59.99")
      #expect(message["currency"] == "USD")
      #expect(message["captured"] == true)
      #expect(message["context_id"] == .string(context))
      #expect(message["ply_context"] == .string(checkout.context))
      #expect(shop.purchasely.ledger.isEmpty)
      #expect(try shop.state(of: token) == "captured")
      #expect(try shop.relay.state(ofContext: context) == "delivered")
    }
  }

  @Test func `A full refund is reported after payments fetch, because Afterpay reports none itself`() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      #expect(try shop.capture(token).status == 200)
      try shop.relay.reaches(.delivered, token)
      #expect(shop.afterpay.perform(.refund, on: token))
      #expect(try shop.relay.operate(["payments", "fetch", token]).end() == 0)
      try waitUntil("the reversal is delivered") { !shop.messages("purchase.reversed").isEmpty }
      #expect(shop.messages("purchase.reversed").first?.json["data"]?["object_id"] == .string(token))
    }
  }

  @Test("CA20: Without a backend the receipt waits for its destination, and is never sent to Purchasely")
  func withoutBackend() throws {
    try AfterpayRelay.run(hasWebhook: false) { shop in
      let checkout = Checkout("stripe-buyer")
      try shop.relay.post(checkout)
      let token = try shop.startApproved()
      #expect(try shop.capture(token).status == 200)
      try shop.relay.ingest(checkout.completed)
      try shop.relay.reaches(.delivered, checkout.subscription)
      try waitUntil("the receipt waits for its destination") {
        try shop.relay.receipt(of: token).map { $0.state == .waiting && $0.reason == .destination } ?? false
      }
      #expect(shop.purchasely.ledger.map(\.objectID) == [checkout.subscription])
      #expect(shop.purchasely.ledger.allSatisfy { $0.head.header("X-PLATFORM-TYPE") == "STRIPE" })
    }
  }
}
