// Connections of the real program: which clients hold them, for how long, and the share reserved for
// webhooks.

import Domain
import Formats
import Glibc
import Platform
import TestSupport
import Testing

@Suite(.withDaemonLog) struct ConnectionTests {
  private static func poll(_ id: String) -> String {
    "GET /v1/shop/contexts/\(id)?wait=30 HTTP/1.1\r\nHost: x\r\n\r\n"
  }

  private static func connections(_ relay: Relay) throws -> Double? {
    try relay.metric("receiptd_http_connections")
  }

  @Test func `Without descriptors it logs once, and serves as soon as there are some`() throws {
    try withRelay { relay, _ in
      let process = try #require(relay.process)
      let count = process.descriptors + 3
      #expect(try ShellRun(["prlimit", "--pid", "\(process.id)", "--nofile=\(count):\(count)"]).code == 0)
      var idle = try (0..<10).map { _ in try Wire(relay.outside.api.port) }
      let warning = "no connection can be accepted: Too many open files; raise LimitNOFILE="
      try waitUntil("it says so") { relay.log.contains(warning) }
      idle.removeAll()
      #expect(try relay.outside.send(Checkout("late").completed).status == 200)
      #expect(relay.log.split(separator: warning).count == 2)
    }
  }

  @Test(
    "Long polls leave room, webhooks have the last connections, and unfinished ones cannot take them all"
  )
  func shares() throws {
    // 16 of them may be long polls, and 2 are for webhooks.
    let limits: JSONValue = ["connections": 20, "request_timeout": "5m"]
    try withRelay(top: ["limits": limits]) { relay, _ in
      let ids = try (0..<5).map { try relay.post(Checkout("shared-\($0)")) }
      try waitUntil("the connections of the posts are closed") { try Self.connections(relay) == 0 }
      let port = relay.outside.api.port
      func ask(_ id: String) throws -> Wire {
        let wire = try Wire(port)
        try wire.send(Self.poll(id))
        return wire
      }
      var polls = try ids.prefix(4).flatMap { id in try (0..<4).map { _ in try ask(id) } }
      try waitUntil("as many wait as may") { try relay.metric("receiptd_long_polls") == 16 }
      let limited = try ask(ids[4])
      let early = try limited.reply()
      #expect(early.status == 200)
      #expect(early["state"] == "open")
      #expect(early.header("Retry-After") == "5")
      #expect(try relay.admin.request("GET", "/readyz").status == 200)
      // Two more requests in progress, and the rest is for webhooks. The idle one does not count.
      let context = Endpoint.bytes(
        "POST", "/v1/shop/users/slow/contexts", body: nil,
        headers: [
          "Content-Type": "application/json", "Authorization": "Bearer \(Secrets.clientKey)",
          "Content-Length": "10",
        ])
      let slow = try (0..<2).map { _ in
        let wire = try Wire(port)
        try wire.send(context)
        return wire
      }
      try waitUntil("they are connected") { try Self.connections(relay) == 19 }
      let refused = try relay.outside.api.request("GET", "/v1/shop/contexts/\(ids[4])")
      #expect(refused.status == 503)
      #expect(refused["type"] == "urn:receiptd:problem:too-many-connections")
      #expect(refused.header("Retry-After") == "2")
      #expect(refused.header("Connection") == "close")
      try relay.ingest(Checkout("shared-0").completed)
      // These four have their answer and may send another request: they stay connected.
      for poll in polls.prefix(4) { #expect(try poll.reply()["state"] == "delivered") }
      // Of webhooks that do not end, the oldest are cut for a genuine one.
      let half = Endpoint.bytes("POST", Stripe.eventsPath, body: nil, headers: ["Content-Length": "10"])
      let webhooks = try (0..<12).map { _ in
        let wire = try Wire(port)
        try wire.send(half)
        return wire
      }
      try relay.ingest(Checkout("shared-1").completed)
      #expect(try webhooks[0].reply().status == 503)
      polls.removeAll()
      try relay.waitUntilReady()
      withExtendedLifetime((limited, slow, webhooks)) {}
    }
  }

  @Test(arguments: [["127.0.0.1"], []])
  func `Idle connections of a proxy or of many addresses do not cause refusals`(proxies: [String]) throws {
    let top: JSONValue = [
      "listen": ["proxies": .array(proxies.map { .string($0) })],
      "limits": ["connections": 100, "connections_per_address": 30, "request_timeout": "5m"],
    ]
    try withRelay(top: top) { relay, _ in
      // Requests were refused above 90 connections. None of these has a request now; half of them had one and
      // stayed open.
      let idle = try (0..<93).map { number in
        let wire = try Wire(relay.outside.api.port, source: proxies.isEmpty ? 2 + UInt32(number) / 30 : 1)
        if number % 2 == 0 {
          try wire.send("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
          #expect(try wire.reply().status == 404)
        }
        return wire
      }
      try waitUntil("all are connected") { try Self.connections(relay) == 93 }
      let checkout = Checkout("customer")
      try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      // As many again, from other addresses: the longest idle ones are closed to make room, and both requests
      // are still served.
      let more = try (0..<93).map { number in
        try Wire(relay.outside.api.port, source: proxies.isEmpty ? 6 + UInt32(number) / 30 : 1)
      }
      let next = Checkout("next")
      try relay.buy(next)
      try relay.reaches(.delivered, next.subscription)
      // Not at once: the last of them may still take the place of idle ones.
      try relay.waitUntilReady()
      withExtendedLifetime((idle, more)) {}
    }
  }

  /// Sends a byte at a time until the relay closes the connection.
  /// - Returns: after how long it did.
  private static func drip(_ start: [UInt8], into wire: Wire) throws -> Duration {
    let begin = MonotonicInstant.now()
    try wire.send(start)
    try waitUntil("the relay has enough", within: .seconds(55)) {
      // After the relay has closed, sending fails; its response can still be read.
      wire.isReadable(within: .milliseconds(50)) || (try? wire.send("a")) == nil
    }
    return MonotonicInstant.now().duration(since: begin)
  }

  @Test(.enabled(if: SelfSigned.isPossible, "the openssl command makes the certificate"))
  func `A slow TLS hello has a request's time from the accept`() throws {
    let directory = try TestFolder()
    let made = try SelfSigned(in: directory)
    let tls: JSONValue = ["certificate": .string(made.certificate), "key": .string(made.key)]
    try withRelay(top: ["listen": ["tls": tls], "limits": ["request_timeout": "1s"]]) { relay, _ in
      let (dripping, silent) = (try Wire(relay.outside.api.port), try Wire(relay.outside.api.port))
      // A record of 512 bytes with a ClientHello (RFC 8446 §5.1, §4.1.2).
      let time = try Self.drip([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3], into: dripping)
      #expect((Duration.milliseconds(900)..<Duration.seconds(20)).contains(time), "\(time)")
      #expect(silent.isClosed(within: .seconds(20)))
      #expect(silent.unread.isEmpty)
      try waitUntil("no connection is left") { try Self.connections(relay) == 0 }
    }
  }
}
