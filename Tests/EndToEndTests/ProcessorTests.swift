// A real receiptd that queries a stand-in for Stripe: for data that events omit, and for events that never
// arrived.

import Domain
import Formats
import Platform
import Sandbox
import Store
import Testing

@Suite(.withDaemonLog) struct ProcessorTests {
  /// The requests to the stand-in, with their times.
  private final class Asked: Sendable {
    private let entries = Monitor<[(request: SandboxStripeRequest, at: MonotonicInstant)]>([])

    func note(_ request: SandboxStripeRequest) { entries.update { $0.append((request, .now())) } }

    var all: [(request: SandboxStripeRequest, at: MonotonicInstant)] { entries.withLock { $0 } }

    func wait(for count: Int) throws {
      try waitUntil("Stripe is asked \(count) times") { all.count >= count }
    }
  }

  private func withStripe(
    _ behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour(apiKey: "rk_test_1"), more: JSONValue = [:],
    _ body: (Relay, Destination, SandboxStripe, Asked) throws -> Void
  ) throws {
    let asked = Asked()
    let stripe = try SandboxStripe(behaviour: behaviour) { asked.note($0) }
    defer { stripe.stop() }
    let asking: JSONValue = ["stripe": ["api_key": "rk_test_1", "api_base": .string(stripe.base)]]
    try withRelay(app: asking.merging(more)) { relay, destination in
      try body(relay, destination, stripe, asked)
    }
  }

  private func know(_ checkout: Checkout, _ stripe: SandboxStripe) {
    var records = stripe.records
    for event in [checkout.subscriptionEvent(), checkout.completed] {
      if let object = event["data"]?["object"] { records.add(object: object) }
    }
    stripe.records = records
  }

  @Test func `A payment whose event lacks the price gets it by a lookup, and is delivered`() throws {
    try withStripe { relay, destination, stripe, asked in
      let checkout = Checkout("lacking")
      know(checkout, stripe)
      try relay.ingest(checkout.sessionEvent())
      #expect(try relay.receipt(of: checkout.subscription)?.reason == .price)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.first?["stripe_price_id"] == Checkout.price)
      #expect(asked.all.map(\.request.target) == ["/v1/subscriptions/\(checkout.subscription)"])
      #expect(try relay.metric(#"receiptd_lookups_total{app="shop",processor="stripe",result="found"}"#) == 1)
      #expect(try relay.events().count == 1)
      #expect(try relay.count("look_ups") == 0)
      // Stripe is not queried for a complete purchase.
      try relay.passTime()
      #expect(asked.all.count == 1)
      #expect(!relay.log.contains("rk_test_1"))
    }
  }

  @Test("A thin event of a paid invoice is fetched and pays; one that the key may not read is said aloud")
  func thin() throws {
    try withStripe { relay, destination, stripe, asked in
      func event(_ type: String, _ id: String) -> JSONValue {
        [
          "id": .string("evt_thin_\(id)"), "object": "v2.core.event", "type": .string(type),
          "livemode": false, "created": "2026-11-28T07:00:00.000Z", "related_object": ["id": .string(id)],
        ]
      }
      let checkout = Checkout("thin")
      let named: JSONValue = ["metadata": ["ply_user_id": .string(checkout.user)]]
      let paid = checkout.invoiceEvent("paid", ["parent": ["subscription_details": named]])
      var records = stripe.records
      if let invoice = paid["data"]?["object"] { records.add(object: invoice) }
      stripe.records = records
      try relay.ingest(event("v1.invoice.paid", "in_\(checkout.user)"))
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.first?["user_id"] == checkout.user)
      #expect(asked.all.first?.request.target == "/v1/invoices/in_thin")
      try relay.ingest(event("v1.invoice.paid", "in_hidden"))
      try waitUntil("it is unparsed") { try relay.events().contains { $0.outcome == "unparsed" } }
      try waitUntil("it says so") { relay.log.contains("could not read an event") }
      #expect(try relay.count("purchases") == 1)
    }
  }

  @Test func `After a 429 lookups wait for Retry-After, and nothing is lost`() throws {
    let behaviour = SandboxStripeBehaviour(status: 429, retryAfterSeconds: 2)
    try withStripe(behaviour) { relay, _, stripe, asked in
      let checkout = Checkout("patient")
      know(checkout, stripe)
      try relay.ingest(checkout.sessionEvent())
      try asked.wait(for: 1)
      stripe.behaviour = SandboxStripeBehaviour()
      // It does not delay others (R11).
      try relay.passTime()
      try relay.reaches(.delivered, checkout.subscription)
      let times = asked.all.map(\.at)
      // More than two if the machine is so slow that the second one was refused, too.
      try #require(times.count >= 2)
      #expect(zip(times, times.dropFirst()).allSatisfy { $1.duration(since: $0) >= .seconds(2) })
      let limited = try relay.metric(
        #"receiptd_lookups_total{app="shop",processor="stripe",result="limited"}"#)
      #expect(limited == Double(times.count - 1))
    }
  }

  @Test func `A refused key is logged once, and a reload with the right key resumes lookups`() throws {
    try withStripe(SandboxStripeBehaviour(apiKey: "rk_test_2")) { relay, _, stripe, asked in
      for user in ["a", "b"] {
        know(Checkout(user), stripe)
        try relay.ingest(Checkout(user).sessionEvent())
      }
      try waitUntil("it says so") { relay.log.contains("refuses the key") }
      #expect(asked.all.allSatisfy { $0.request.status == 401 })
      relay.configuration = relay.configuration.merging(
        ["apps": ["shop": ["stripe": ["api_key": "rk_test_2"]]]])
      try relay.writeAndReload()
      for user in ["a", "b"] { try relay.reaches(.delivered, Checkout(user).subscription) }
      #expect(relay.log.ranges(of: "refuses the key").count == 1)
      #expect(!relay.log.contains("rk_test_"))
    }
  }

  @Test("Events that Stripe could not deliver are fetched at the start, also after an interruption")
  func downtime() throws {
    let auto: JSONValue = ["stripe": ["backfill": "auto", "backfill_after": "1ms"]]
    try withStripe(more: auto) { relay, destination, stripe, asked in
      try relay.passTime()
      try relay.stop()
      #expect(asked.all.isEmpty, "the first start has missed nothing")
      let (lost, seen) = (Checkout("lost"), Checkout("seen"))
      var records = stripe.records
      records.add(lost.completed, isDelivered: false)
      records.add(seen.completed)
      stripe.records = records
      stripe.behaviour = SandboxStripeBehaviour(status: 503)
      try relay.start()
      try asked.wait(for: 1)
      try relay.stop()
      stripe.behaviour = SandboxStripeBehaviour(apiKey: "rk_test_1")
      try relay.start()
      try relay.reaches(.delivered, lost.subscription)
      #expect(destination.ledger(of: lost.subscription).count == 1)
      #expect(try relay.receipt(of: seen.subscription) == nil, "Stripe says that it was delivered")
      try waitUntil("it is done") { try relay.count("backfills") == 0 }
      try waitUntil("the log says what was missing") { relay.log.contains("missing=1") }
    }
  }
}
