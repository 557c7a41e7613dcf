// Delayed payments: the receipt waits for the money, in any order of the events.

import Domain
import Formats
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct PaymentTests {
  private static func unpaid(_ checkout: Checkout, _ changes: JSONValue = [:]) -> JSONValue {
    let state: JSONValue = ["payment_status": "unpaid"]
    return checkout.completed.merging(["data": ["object": state.merging(changes)]])
  }

  @Test(
    "An unpaid checkout waits for its payment and is delivered after it (R2)",
    arguments: [false, true])
  func paidLater(isSwapped: Bool) throws {
    try withRelay { relay, destination in
      let checkout = Checkout("slow")
      try relay.post(checkout)
      let events = [Self.unpaid(checkout), checkout.sessionEvent("async_payment_succeeded")]
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

  @Test(
    "An unpaid checkout whose payment fails or whose session expires is cancelled, in either order (R2, R4)",
    arguments: ["async_payment_failed", "expired"], [false, true])
  func neverPaid(type: String, isSwapped: Bool) throws {
    try withRelay { relay, destination in
      let checkout = Checkout("broke")
      let end = checkout.sessionEvent(type, ["payment_status": "unpaid"])
      let events = [Self.unpaid(checkout), end]
      for event in isSwapped ? events.reversed() : events { try relay.ingest(event) }
      let receipt = try relay.reaches(.cancelled, checkout.subscription)
      #expect(receipt.reason == (type == "expired" ? .sessionExpired : .paymentFailed))
      try relay.passTime()
      #expect(destination.ledger(of: checkout.subscription).isEmpty)
    }
  }

  @Test("A session that expired without being completed makes no receipt")
  func abandoned() throws {
    try withRelay { relay, destination in
      let checkout = Checkout("window-shopper")
      try relay.ingest(
        checkout.sessionEvent(
          "expired", ["status": "expired", "payment_status": "unpaid", "subscription": .null]))
      try relay.passTime()
      #expect(try relay.receipts().count == 1)
      #expect(destination.ledger.count == 1)
    }
  }

  @Test("A payment that never arrives fails the receipt after its wait (R4)")
  func neverHeardOf() throws {
    try withRelay(app: ["join": ["wait_for_payment": "300ms"]]) { relay, destination in
      let checkout = Checkout("silent")
      try relay.ingest(Self.unpaid(checkout))
      #expect(try relay.reaches(.failed, checkout.subscription).reason == .payment)
      // It is resumed when the payment arrives after all.
      try relay.ingest(checkout.sessionEvent("async_payment_succeeded"))
      try relay.reaches(.delivered, checkout.subscription)
      #expect(destination.ledger.count == 1)
    }
  }

  @Test(
    "A session whose subscription comes with the payment makes one receipt, under the subscription (R2)",
    arguments: permutations([0, 1, 2]))
  func subscriptionComesLater(order: [Int]) throws {
    try withRelay(app: ["join": ["wait_for_context": "1h"]]) { relay, destination in
      let checkout = Checkout("basil")
      try relay.post(checkout)
      let events = [
        Self.unpaid(checkout, ["subscription": .null]), checkout.subscriptionEvent(),
        checkout.sessionEvent("async_payment_succeeded"),
      ]
      for index in order { try relay.ingest(events[index]) }
      try relay.reaches(.delivered, checkout.subscription)
      try relay.passTime()
      // The session id finds it, too.
      let receipt = try #require(try relay.receipt(of: checkout.subscription))
      #expect(try relay.receipt(of: checkout.session)?.id == receipt.id)
      let entries = destination.ledger.filter { $0["user_id"] == checkout.user }
      #expect(entries.map(\.objectID) == [checkout.subscription])
      #expect(entries.map { $0["ply_context"] } == [checkout.context])
    }
  }
}
