// R8: requests that are too large or too slow are refused, never stored in part.

import Formats
import Glibc
import Platform
import SQLiteStore
import Testing

@Suite(.withDaemonLog) struct DaemonLimitTests {
  private static let contexts = "/v1/shop/users/u/contexts"
  private static let headers = ["Content-Type": "application/json", "X-API-KEY": Secrets.clientKey]

  @Test func `A body over the limit is 413, announced or in chunks, and nothing of it is stored`() throws {
    try withRelay(top: ["limits": ["webhook_body": "64KiB"]]) { relay, _ in
      for (path, maximum) in [(Self.contexts, 64 << 10), (Stripe.eventsPath, 64 << 10)] {
        let announced = try Wire(relay.outside.api.port)
        let length = Self.headers.merging(["Content-Length": "\(maximum + 1)"]) { $1 }
        try announced.send(Endpoint.bytes("POST", path, body: nil, headers: length))
        let reply = try announced.reply()
        #expect(reply.status == 413)
        #expect(reply["type"] == "urn:receiptd:problem:body-too-large")
        let chunked = try Wire(relay.outside.api.port)
        let coding = Self.headers.merging(["Transfer-Encoding": "chunked"]) { $1 }
        try chunked.send(Endpoint.bytes("POST", path, body: nil, headers: coding))
        let chunk = "4000\r\n\(String(repeating: "x", count: 0x4000))\r\n"
        for _ in 0..<5 {
          // The refusal closes the connection, which may cut off the last chunks.
          guard (try? chunked.send(chunk)) != nil else { break }
        }
        #expect(try chunked.reply().status == 413)
      }
      // At the limit the body is read, and refused for its signature.
      let most = [UInt8](repeating: 0x20, count: 64 << 10)
      #expect(try relay.outside.send(bytes: most, signature: nil).status == 400)
      #expect(try relay.count("contexts") == 0)
      #expect(try relay.count("events") == 0)
    }
  }

  @Test func `A body that arrives too slowly is 408, at any pace`() throws {
    try withRelay(top: ["limits": ["request_timeout": "500ms"]]) { relay, _ in
      let wire = try Wire(relay.outside.api.port)
      let length = Self.headers.merging(["Content-Length": "1000"]) { $1 }
      try wire.send(Endpoint.bytes("POST", Self.contexts, body: nil, headers: length))
      let start = MonotonicInstant.now()
      try waitUntil("the relay has enough") {
        // After the relay has closed, sending fails; its response can still be read.
        wire.isReadable(within: .milliseconds(20)) || (try? wire.send("a")) == nil
      }
      #expect(MonotonicInstant.now().duration(since: start) < .seconds(10))
      let reply = try wire.reply()
      #expect(reply.status == 408)
      #expect(reply["type"] == "urn:receiptd:problem:too-slow")
    }
  }

  @Test("A full write queue is 503 with Retry-After; admitted requests are answered once stored (R1)")
  func fullQueue() throws {
    try withRelay(top: ["limits": ["queue": 8]]) { relay, _ in
      let other = try Connection(path: relay.databasePath, mode: .readWrite, busyTimeout: .seconds(5))
      try other.execute("BEGIN IMMEDIATE")
      let requests = try (0..<24).map { number in
        let body = Checkout("queued-\(number)").completed.serialized()
        let signature = try Stripe.signature(of: body, secret: Secrets.webhook)
        let wire = try Wire(relay.outside.api.port)
        try wire.send(
          Endpoint.bytes("POST", Stripe.eventsPath, body: body, headers: ["Stripe-Signature": signature]))
        return wire
      }
      // At most eight are admitted: half of the queue, plus those already dequeued.
      try waitUntil("the rest is refused") { requests.filter { $0.isReadable(within: .zero) }.count >= 16 }
      // The relay's own commands are admitted, too. Dequeued commands wait for the lock and fail after ten
      // seconds, which may happen first on a busy machine.
      let depth = try #require(try relay.metric("receiptd_write_queue"))
      #expect(depth <= 8, "\(depth)")
      #expect(try relay.count("events") == 0)
      #expect(try relay.admin.request("GET", "/healthz").status == 200)
      try other.execute("ROLLBACK")
      let replies = try requests.map { try $0.reply() }
      for reply in replies where reply.status != 200 {
        #expect(reply.status == 503)
        #expect(reply.header("Retry-After") != nil)
      }
      #expect(replies.filter { $0["type"] == "urn:receiptd:problem:busy" }.count >= 16)
      let taken = replies.filter { $0.status == 200 }.count
      #expect((1...8).contains(taken), "\(taken)")
      #expect(try relay.count("events") == Int64(taken))
    }
  }
}
