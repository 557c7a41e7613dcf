// The main job: a context and a signed event in, one correct receipt out.

import Domain
import Formats
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog, .everyPlace) struct MainJobTests {
  @Test("A context and then its event make one receipt with exactly these bytes and headers (R2)")
  func contextThenEvent() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("jdo-1")
      let reply = try relay.outside.postContext(checkout.user, checkout.context)
      #expect(reply.status == 201)
      let id = try #require(reply["context_id"])
      #expect(reply["user_id"] == "jdo-1")
      #expect(reply["stripe_price_id"] == Checkout.price)
      #expect(reply["status_url"] == "/v1/shop/contexts/\(id)")
      #expect(reply.header("Location") == reply["status_url"])
      let answer = try relay.outside.send(checkout.completed)
      #expect(answer.status == 200)
      #expect(answer.text == #"{"received":true}"#)
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      #expect(receipt.importID == "imp-0")
      #expect(receipt.attempts == 1)
      let entry = try #require(destination.ledger.first)
      #expect(
        entry.text == """
          {"user_id":"jdo-1","stripe_object_type":"subscription","stripe_object_id":"sub_jdo-1",\
          "stripe_price_id":"\(Checkout.price)","ply_context":"\(checkout.context)"}
          """)
      #expect(entry.head.method == "POST")
      #expect(entry.head.path == "/receipts")
      #expect(entry.head.header("X-API-KEY") == Secrets.apiKey)
      #expect(entry.head.header("X-PLATFORM-TYPE") == "STRIPE")
      #expect(entry.head.header("Content-Type") == "application/json")
      #expect(entry.head.header("User-Agent")?.hasPrefix("receiptd/") == true)
      #expect(try relay.state(ofContext: id) == "delivered")
    }
  }

  @Test("A one-time payment is delivered as its checkout session")
  func oneTimePayment() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("once")
      try relay.post(checkout)
      let paid = checkout.completed.merging(
        ["data": ["object": ["mode": "payment", "subscription": .null]]])
      try relay.ingest(paid)
      try relay.reaches(.delivered, checkout.session)
      let entry = try #require(destination.ledger.first)
      #expect(entry["stripe_object_type"] == "checkout_session")
      #expect(entry.objectID == checkout.session)
      #expect(entry["ply_context"] == checkout.context)
    }
  }

  @Test("Every order of context, session, subscription and invoice gives the same delivery (R2)")
  func everyOrder() throws {
    try withRelay(app: ["join": ["wait_for_context": "1h"], "delivery": ["rate": 1000]]) {
      relay, destination in
      let orders = permutations([0, 1, 2, 3])
      for (index, order) in orders.enumerated() {
        let checkout = Checkout("order-\(index)")
        for step in order {
          switch step {
          case 0: try relay.post(checkout)
          case 1: try relay.ingest(checkout.sessionEvent())
          case 2: try relay.ingest(checkout.subscriptionEvent())
          default: try relay.ingest(checkout.invoiceEvent())
          }
        }
      }
      for (index, order) in orders.enumerated() {
        let checkout = Checkout("order-\(index)")
        try relay.reaches(.delivered, checkout.subscription)
        let entries = destination.ledger(of: checkout.subscription)
        #expect(entries.count == 1, "order \(order)")
        #expect(entries.first?["user_id"] == checkout.user, "order \(order)")
        #expect(entries.first?["stripe_price_id"] == Checkout.price, "order \(order)")
        #expect(entries.first?["ply_context"] == checkout.context, "order \(order)")
      }
      #expect(try relay.receipts().count == orders.count)
      #expect(try relay.stop() == 0)
      #expect(destination.ledger.count == orders.count)
    }
  }

  @Test("The same event three times, then related events twice, make one delivery (R2)")
  func repeatedEvents() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("again")
      try relay.post(checkout)
      try relay.ingest(checkout.completed, checkout.completed, checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      for _ in 0..<2 {
        try relay.ingest(checkout.subscriptionEvent(), checkout.invoiceEvent())
        try relay.ingest(checkout.invoiceEvent("payment_succeeded"), checkout.completed)
      }
      // A second event object for the same fact, as Stripe may send.
      try relay.ingest(checkout.completed.merging(["id": "evt_another"]))
      try relay.passTime()
      #expect(try relay.receipts().count == 2)
      #expect(destination.ledger(of: checkout.subscription).count == 1)
      #expect(try relay.events().count == 6)
      #expect(
        try relay.metric(#"receiptd_events_total{app="shop",processor="stripe",outcome="duplicate"}"#) == 7)
    }
  }

  @Test(
    "An unpaid checkout waits for its payment and is delivered after it (R2)",
    arguments: [false, true])
  func paidLater(isSwapped: Bool) throws {
    try withRelay { relay, destination in
      let checkout = Checkout("slow")
      try relay.post(checkout)
      let unpaid = checkout.completed.merging(["data": ["object": ["payment_status": "unpaid"]]])
      let events = [unpaid, checkout.sessionEvent("async_payment_succeeded")]
      if isSwapped {
        try relay.ingest(events[1], events[0])
      } else {
        try relay.ingest(events[0])
        #expect(try relay.reaches(.waiting, checkout.subscription).reason == .payment)
        // The subscription of a delayed payment is active at once, which proves no payment.
        try relay.ingest(checkout.subscriptionEvent())
        try relay.passTime()
        #expect(destination.ledger(of: checkout.subscription).isEmpty)
        try relay.ingest(events[1])
      }
      try relay.reaches(.delivered, checkout.subscription)
      try relay.passTime()
      let entries = destination.ledger(of: checkout.subscription)
      #expect(entries.map { $0["ply_context"] } == [checkout.context])
    }
  }
}
