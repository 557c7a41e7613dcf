// A long poll for a checkout's state occupies no thread.

import Domain
import Formats
import HTTPServer
import Platform
import Store
import Testing

@Suite(.withDaemonLog) struct LongPollTests {
  private static func ask(_ relay: Relay, _ id: String, _ query: String) throws -> Wire {
    let wire = try Wire(relay.outside.api.port)
    try wire.send(Endpoint.bytes("GET", "/v1/shop/contexts/\(id)\(query)", body: nil, headers: [:]))
    return wire
  }

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

  @Test("Without a wait the answer is immediate; with one it comes at the end of its time")
  func waits() throws {
    try withRelay { relay, _ in
      let id = try relay.post(Checkout("curious"))
      for query in ["", "?", "?wait=0", "?x=y"] {
        let start = MonotonicInstant.now()
        #expect(try Self.ask(relay, id, query).reply()["state"] == "open", "\(query)")
        #expect(MonotonicInstant.now().duration(since: start) < .seconds(1), "\(query)")
      }
      let start = MonotonicInstant.now()
      #expect(try Self.ask(relay, id, "?wait=1").reply()["state"] == "open")
      #expect(
        (Duration.milliseconds(990)...Duration.seconds(5)).contains(
          MonotonicInstant.now().duration(since: start)))
      for query in [
        "?wait=31", "?wait=-1", "?wait=soon", "?wait=", "?wait=1.5", "?wait=99999999999999999999",
      ] {
        let reply = try Self.ask(relay, id, query).reply()
        #expect(reply.status == 400, "\(query)")
        #expect(reply["type"] == "urn:receiptd:problem:invalid-wait", "\(query)")
      }
    }
  }

  @Test("A checkout goes from open to paid to its end; a failure also ends the wait")
  func states() throws {
    try withRelay(app: ["join": ["window": "1s"]]) { relay, destination in
      destination.answer(.late(.milliseconds(500), .taken), .status(422))
      let paid = Checkout("paid")
      let id = try relay.post(paid)
      try relay.ingest(paid.completed)
      #expect(try relay.state(ofContext: id) == "paid")
      #expect(try Self.ask(relay, id, "?wait=30").reply()["state"] == "delivered")
      let failed = Checkout("failed")
      let failedID = try relay.post(failed)
      let wire = try Self.ask(relay, failedID, "?wait=30")
      try relay.ingest(failed.completed)
      #expect(try wire.reply()["state"] == "failed")
      let cancelled = Checkout("cancelled")
      let cancelledID = try relay.post(cancelled)
      try relay.ingest(cancelled.sessionEvent("completed", ["payment_status": "unpaid"]))
      #expect(try relay.state(ofContext: cancelledID) == "open")
      try relay.ingest(cancelled.sessionEvent("async_payment_failed"))
      #expect(try Self.ask(relay, cancelledID, "?wait=30").reply()["state"] == "cancelled")
      let expired = try relay.post(Checkout("expired"))
      try waitUntil("an unused context expires") { try relay.state(ofContext: expired) == "expired" }
    }
  }
}
