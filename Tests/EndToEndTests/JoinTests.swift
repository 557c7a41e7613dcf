// The user, the price and the context of a purchase.

import Domain
import Formats
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog, .everyPlace) struct JoinTests {
  @Test("A user known for a Stripe customer is the user of that customer's next purchase")
  func userByCustomer() throws {
    try withRelay { relay, destination in
      let first = Checkout("regular")
      try relay.post(first)
      try relay.ingest(first.completed)
      try relay.reaches(.delivered, first.subscription)
      try relay.ingest(
        first.subscriptionEvent("created", ["id": "sub_second", "customer": .string(first.customer)]))
      try relay.reaches(.delivered, "sub_second")
      #expect(destination.ledger(of: "sub_second").map { $0["user_id"] } == ["regular"])
    }
  }

  @Test("A purchase without a user waits until a related event names the user (R4)")
  func userComesLater() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("shy")
      try relay.ingest(
        checkout.completed.merging(["data": ["object": ["client_reference_id": .null, "customer": .null]]]))
      #expect(try relay.reaches(.waiting, checkout.subscription).reason == .user)
      try relay.ingest(checkout.subscriptionEvent("updated", ["metadata": ["ply_user_id": "shy"]]))
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["user_id"] } == ["shy"])
    }
  }

  @Test("A user that never becomes known fails the receipt with that reason (R4)")
  func userNeverComes() throws {
    try withRelay(app: ["join": ["wait_for_user": "200ms"]]) { relay, destination in
      let checkout = Checkout("nameless")
      let anonymous = checkout.completed.merging(["data": ["object": ["client_reference_id": .null]]])
      try relay.ingest(anonymous)
      #expect(try relay.reaches(.failed, checkout.subscription).reason == .user)
      #expect(destination.ledger.isEmpty)
    }
  }

  @Test("The id of a context as client_reference_id names context and user (R5)")
  func contextAsReference() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("linked")
      let id = try relay.post(checkout)
      // A newer context of the same user, which loses to the named one.
      let other = blob(price: Checkout.price, presentation: "pres_other")
      #expect(try relay.outside.postContext(checkout.user, other).status == 201)
      try relay.ingest(checkout.sessionEvent("completed", ["client_reference_id": .string(id)]))
      try relay.reaches(.delivered, checkout.subscription)
      let entry = try #require(destination.ledger.first)
      #expect(entry["user_id"] == "linked")
      #expect(entry["ply_context"] == checkout.context)
      #expect(try relay.state(ofContext: id) == "delivered")
    }
  }

  @Test("A context's id in the metadata, or the blob itself, is the context of the purchase")
  func contextInMetadata() throws {
    try withRelay { relay, destination in
      let named = Checkout("named")
      let id = try relay.post(named)
      try relay.ingest(
        named.sessionEvent(
          "completed", ["client_reference_id": .null, "metadata": ["ply_context_id": .string(id)]]))
      try relay.reaches(.delivered, named.subscription)
      let carried = Checkout("carried")
      let metadata: JSONValue = ["ply_context": .string(carried.context), "user_id": "carried"]
      try relay.ingest(
        carried.completed.merging(
          ["data": ["object": ["client_reference_id": .null, "metadata": metadata]]]))
      try relay.reaches(.delivered, carried.subscription)
      for checkout in [named, carried] {
        let entry = try #require(destination.ledger(of: checkout.subscription).first)
        #expect(entry["user_id"] == checkout.user)
        #expect(entry["ply_context"] == checkout.context)
      }
    }
  }

  @Test("Without a price in the event, the context's Stripe price is reported")
  func priceOfContext() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("frugal", price: "price_of_the_context")
      try relay.post(checkout)
      try relay.ingest(checkout.sessionEvent())
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["stripe_price_id"] } == ["price_of_the_context"])
    }
  }

  @Test("Of several prices the context's own is reported, else the first")
  func choiceOfPrice() throws {
    try withRelay { relay, destination in
      let items: JSONValue = [
        "line_items": ["data": [["price": ["id": "price_a"]], ["price": ["id": "price_b"]]]]
      ]
      for (user, named, reported, isMismatch) in [
        ("both", "price_b", "price_b", false), ("neither", "monthly", "price_a", true),
      ] {
        let checkout = Checkout(user, price: named)
        try relay.post(checkout)
        try relay.ingest(checkout.sessionEvent("completed", items))
        let receipt = try relay.reaches(.delivered, checkout.subscription)
        #expect(receipt.priceMismatch == isMismatch)
        #expect(receipt.priceID?.text == reported)
        #expect(destination.ledger(of: checkout.subscription).map { $0["stripe_price_id"] } == [reported])
      }
    }
  }

  @Test("Of several contexts the newest with the purchase's price is taken")
  func choiceOfContext() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("busy")
      let right = blob(price: Checkout.price, presentation: "right")
      for context in [
        blob(price: Checkout.price, presentation: "old"), right,
        blob(price: "price_x", presentation: "newest"),
      ] {
        #expect(try relay.outside.postContext(checkout.user, context).status == 201)
      }
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["ply_context"] } == [right])
    }
  }

  @Test("A merchant's own price waits for Stripe's, then is reported unchanged")
  func merchantsPrice() throws {
    try withRelay(app: ["join": ["wait_for_stripe_price": "300ms"]]) { relay, destination in
      let checkout = Checkout("patient", price: "stripe.monthly_premium")
      try relay.post(checkout)
      try relay.ingest(checkout.sessionEvent())
      #expect(try relay.receipt(of: checkout.subscription)?.reason == .price)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["stripe_price_id"] } == ["stripe.monthly_premium"])
    }
  }
}

/// R5 and R11: contexts of other users and apps are never used.
@Suite(.withDaemonLog, .everyPlace) struct SeparationTests {
  @Test("Contexts of other users are never used, and one context serves one purchase (R5)")
  func otherUsers() throws {
    try withRelay { relay, destination in
      let alice = Checkout("alice")
      let bob = Checkout("bob")
      try relay.post(alice)
      try relay.ingest(bob.completed)
      try relay.reaches(.delivered, bob.subscription)
      #expect(destination.ledger.map { $0["ply_context"] } == [nil])
      try relay.ingest(alice.completed)
      try relay.reaches(.delivered, alice.subscription)
      // Alice buys again without a context: the first one is used already.
      let again = alice.completed.merging(
        ["id": "evt_again", "data": ["object": ["id": "cs_again", "subscription": "sub_again"]]])
      try relay.ingest(again)
      try relay.reaches(.delivered, "sub_again")
      let blobs = destination.ledger.map { $0["ply_context"] }
      #expect(blobs == [nil, alice.context, nil])
    }
  }

  @Test("Contexts, users and customers of other apps are never used (R5)")
  func otherApps() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let other = Relay.app(destination, ["join": ["wait_for_user": "200ms"]])
    try withRelay(to: destination, top: ["apps": ["other": other]]) { relay in
      let checkout = Checkout("twin")
      let id = try relay.post(checkout)
      try relay.ingest(checkout.sessionEvent())
      try relay.reaches(.delivered, checkout.subscription)
      let spare = try relay.post(Checkout("twin", price: "price_spare"))
      // The same customer, and the other app's contexts by user and by id.
      try relay.ingest(checkout.subscriptionEvent("created", ["id": "sub_by_customer"]), app: "other")
      try relay.ingest(
        checkout.completed.merging(
          ["data": ["object": ["subscription": "sub_by_user", "customer": .null]]]), app: "other")
      try relay.ingest(
        checkout.completed.merging([
          "id": "evt_by_id",
          "data": [
            "object": [
              "id": "cs_by_id", "subscription": "sub_by_id", "customer": .null,
              "client_reference_id": .string(spare),
            ]
          ],
        ]), app: "other")
      try relay.reaches(.delivered, "sub_by_user")
      #expect(try relay.reaches(.failed, "sub_by_id").reason == .user)
      #expect(destination.ledger(of: "sub_by_user").map { $0["ply_context"] } == [nil])
      #expect(try relay.receipt(of: "sub_by_customer") == nil)
      #expect(try relay.receipts { $0.app = "other" }.allSatisfy { $0.purchase.contextID == nil })
      #expect(try relay.state(ofContext: spare) == "open")
      #expect(try relay.outside.api.request("GET", "/v1/other/contexts/\(id)").status == 404)
    }
  }
}
