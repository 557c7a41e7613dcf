// Whose purchase is it? Reports of people who run such joins, played against the daemon.

import Domain
import Formats
import Platform
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct IdentityReportTests {
  /// A paid checkout of a customer, whose session has this reference.
  private static func event(
    _ checkout: Checkout, customer: String, reference: JSONValue = .null
  ) -> JSONValue {
    let session: JSONValue = ["client_reference_id": reference, "customer": .string(customer)]
    return checkout.completed.merging(["data": ["object": session]])
  }

  /// Posts a context as an app does that made the id.
  private static func post(_ relay: Relay, _ user: String, _ blob: String, id: ContextID) throws -> Reply {
    let body: JSONValue = ["ply_context": .string(blob), "id": .string(id.text)]
    return try relay.outside.api.request(
      "POST", "/v1/shop/users/\(user)/contexts", body: body.serialized(),
      headers: ["Content-Type": "application/json", "X-API-KEY": Secrets.clientKey])
  }

  @Test func `Our shop's number is in the customer's metadata, too, and the receipt went to that`() throws {
    try withRelay { relay, destination in
      let metadata: JSONValue = ["user_id": "4711", "ply_user_id": "jdo-1"]
      let customer: JSONValue = ["id": "cus_1", "object": "customer", "metadata": metadata]
      try relay.ingest(Stripe.event("customer.created", customer))
      let checkout = Checkout("shop-number")
      try relay.ingest(Self.event(checkout, customer: "cus_1"))
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.map { $0["user_id"] } == ["jdo-1"])
      let shown = try relay.receiptctl("receipts", "show", receipt.id.text).output
      #expect(shown.contains("'4711' is named in the customer's metadata, which counts less"), "\(shown)")
    }
  }

  @Test func `My son paid with my card while his phone was offline, and I got what he bought`() throws {
    try withRelay { relay, destination in
      let first = Checkout("anna")
      try relay.post(first)
      try relay.ingest(Self.event(first, customer: "cus_F", reference: "anna"))
      try relay.reaches(.delivered, first.subscription)
      let second = Checkout("ben")
      var random = SystemRandomNumberGenerator()
      let now = Timestamp(unixMilliseconds: SystemClock().wallMilliseconds)
      let id = ContextID.make(now: now, random: &random)
      try relay.ingest(Self.event(second, customer: "cus_F", reference: .string(id.text)))
      // Longer than the relay waits for a context.
      try relay.passTime()
      let waiting = try relay.reaches(.waiting, second.subscription)
      #expect(waiting.reason == .user)
      let shown = try relay.receiptctl("receipts", "show", waiting.id.text).output
      #expect(shown.contains("The checkout names the context \(id), which was not posted"), "\(shown)")
      #expect(try Self.post(relay, "ben", second.context, id: id).status == 201)
      try relay.reaches(.delivered, second.subscription)
      let sent = destination.ledger.filter { $0.objectID == second.subscription }
      #expect(sent.map { $0["user_id"] } == ["ben"])
      #expect(sent.map { $0["ply_context"] } == [second.context])
    }
  }

  @Test func `Every user of our web app was [object Promise], and had what the first one bought`() throws {
    try withRelay { relay, _ in
      for user in ["[object Promise]", "00000000-0000-0000-0000-000000000000"] {
        let body: JSONValue = ["ply_context": .string(blob(price: nil)), "user_id": .string(user)]
        let posted = try relay.outside.api.request(
          "POST", "/v1/shop/contexts", body: body.serialized(),
          headers: ["Content-Type": "application/json", "X-API-KEY": Secrets.clientKey])
        #expect(posted.status == 422)
        #expect(posted["type"] == "urn:receiptd:problem:placeholder-user")
      }
      let checkout = Checkout("not-awaited")
      try relay.ingest(Self.event(checkout, customer: "cus_2", reference: "[object Promise]"))
      #expect(try relay.reaches(.waiting, checkout.subscription).reason == .user)
    }
  }
}
