// R11: a failing app never delays another.

import Domain
import Formats
import HTTPServer
import Platform
import Testing

@Suite(.withDaemonLog) struct IsolationTests {
  @Test("An app with a silent destination and a flood of events delays no other app's deliveries (R11)")
  func silentDestinationAndFlood() throws {
    let (silent, destination) = (try Destination(), try Destination())
    defer {
      silent.stop()
      destination.stop()
    }
    silent.answerAll(.silence)
    let dead = Relay.app(
      silent,
      ["delivery": ["timeout": "5m", "concurrency": 50, "rate": 1000], "join": ["wait_for_context": "0s"]])
    try withRelay(to: destination, top: ["apps": ["dead": dead]]) { relay in
      let (outside, isOver, flooded) = (relay.outside, Monitor(false), Monitor(0))
      let flood = try (0..<3).map { sender in
        try WorkerThread(name: "flood-\(sender)") {
          var number = 0
          while !isOver.withLock({ $0 }) {
            number += 1
            // Refused requests are as good a flood as accepted ones.
            let reply = try? outside.send(Checkout("flood-\(sender)-\(number)").completed, app: "dead")
            if reply != nil { flooded.withLock { $0 += 1 } }
          }
        }
      }
      defer {
        isOver.withLock { $0 = true }
        for thread in flood { thread.join() }
      }
      _ = try silent.waitFor(requests: 50)
      for number in 0..<20 {
        let checkout = Checkout("vip-\(number)")
        let start = MonotonicInstant.now()
        try relay.buy(checkout)
        try relay.reaches(.delivered, checkout.subscription)
        let took = MonotonicInstant.now().duration(since: start)
        #expect(took < .seconds(5), "purchase \(number) took \(took)")
      }
      #expect(flooded.withLock { $0 } > 100)
      #expect(silent.ledger.count == 50)
      #expect(try relay.metric(#"receiptd_receipts{app="dead",state="delivered"}"#) == 0)
    }
  }
}
