// From a ready receipt to the destination's 2xx.

import Domain
import Formats
import Platform
import Store
import Testing

@Suite(.withDaemonLog) struct DaemonDeliveryTests {
  @Test("A receipt is sent until it is accepted, with the same bytes, not before Retry-After (R3)")
  func retries() throws {
    try withRelay { relay, destination in
      destination.answer(
        .status(503), .status(500), .status(503, headers: ["Retry-After": "1"]), .status(408), .status(409),
        .status(425), .status(429, headers: ["Retry-After": "1"]))
      let checkout = Checkout("stubborn")
      try relay.buy(checkout)
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      let ledger = destination.ledger
      #expect(ledger.count == 8)
      #expect(receipt.attempts == 8)
      #expect(Set(ledger.map(\.body)).count == 1)
      for index in [2, 6] {
        #expect(
          ledger[index + 1].at.duration(since: ledger[index].at) >= .milliseconds(990), "after try \(index)")
      }
      let statuses = try relay.attempts(of: checkout.subscription).map(\.report.status)
      #expect(statuses == [503, 500, 503, 408, 409, 425, 429, 200])
    }
  }
}
