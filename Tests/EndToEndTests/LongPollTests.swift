// A long poll for a checkout's state occupies no thread.

import Domain
import Formats
import HTTPServer
import Platform
import Store
import Testing

@Suite(.withDaemonLog) struct LongPollTests {
  @Test("Two hundred long polls use no thread, and are answered when their receipts are delivered")
  func manyWait() throws {
    let limits: JSONValue = ["connections_per_address": 1000, "long_polls_per_context": 10]
    try withRelay(top: ["limits": limits]) { relay, destination in
      destination.answerAll(.late(.milliseconds(200), .taken))
      let checkouts = (0..<20).map { Checkout("waits-\($0)") }
      let ids = try checkouts.map { try relay.post($0) }
      let process = try #require(relay.process)
      let threads = try #require(process.threads)
      let wires = try ids.flatMap { id in
        try (0..<10).map { _ in
          let wire = try Wire(relay.outside.api.port)
          let request = "GET /v1/shop/contexts/\(id)?wait="
          // The first response shows that the connection is served; the second one is a long poll.
          try wire.send("\(request)0 HTTP/1.1\r\nHost: x\r\n\r\n")
          #expect(try wire.reply()["state"] == "open")
          try wire.send("\(request)30 HTTP/1.1\r\nHost: x\r\n\r\n")
          return wire
        }
      }
      #expect(try relay.state(ofContext: ids[0]) == "open")
      #expect(process.threads == threads)
      #expect(wires.allSatisfy { !$0.isReadable(within: .zero) })
      for checkout in checkouts { try relay.ingest(checkout.completed) }
      for wire in wires {
        let reply = try wire.reply()
        #expect(reply.status == 200)
        #expect(reply["state"] == "delivered")
        #expect(reply["receipt_id"]?.hasPrefix("rcp_") == true)
      }
      #expect(process.threads == threads)
    }
  }
}
