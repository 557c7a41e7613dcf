// Start and stop: cleanly, one process per database, with the right exit codes.

import Domain
import Formats
import Glibc
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonLifecycleTests {
  @Test(
    "A clean stop finishes requests in flight, answers waiting clients, and exits 0 (R1, R3)",
    arguments: [SIGTERM, SIGINT])
  func cleanStop(signal: Int32) throws {
    try withRelay { relay, destination in
      // Longer than the steps up to the stop take, and shorter than a stop waits.
      destination.answer(.late(Sanitizer.isOn ? .seconds(6) : .milliseconds(700), .taken))
      let checkout = Checkout("in-flight")
      let id = try relay.buy(checkout)
      _ = try destination.waitFor(requests: 1)
      let waiter = try Wire(relay.outside.api.port)
      try waiter.send("GET /v1/shop/contexts/\(id)?wait=30 HTTP/1.1\r\nHost: x\r\n\r\n")
      let half = try HalfRequest(relay.outside.api, Checkout("half").completed)
      relay.signal(signal)
      try waitUntil("it takes no new connections") { (try? Wire(relay.outside.api.port)) == nil }
      #expect(try half.finish().status == 200)
      #expect(try waiter.reply()["state"] == "paid")
      #expect(try relay.process?.end(within: .seconds(20)) == 0)
      // Closing the last connection removes the log, so the daemon closed all of them.
      let logIsLeft = unsafe access(relay.databasePath + "-wal", F_OK) == 0
      #expect(!logIsLeft, "the database was left open")
      #expect(try relay.receipt(of: checkout.subscription)?.state == .delivered)
      #expect(try relay.events().count == 2)
      // None of it is sent again.
      try relay.start()
      try relay.reaches(.delivered, Checkout("half").subscription)
      #expect(destination.ledger(of: checkout.subscription).count == 1)
    }
  }

  @Test("A stop waits ten seconds at most for a silent destination and a client that sends no more (R9)")
  func boundedStop() throws {
    let app: JSONValue = ["delivery": ["timeout": "5m"]]
    try withRelay(app: app, top: ["limits": ["request_timeout": "5m"]]) { relay, destination in
      destination.answer(.silence)
      let checkout = Checkout("unanswered")
      try relay.buy(checkout)
      _ = try destination.waitFor(requests: 1)
      let half = try HalfRequest(relay.outside.api, Checkout("half").completed)
      let start = MonotonicInstant.now()
      #expect(try relay.stop() == 0)
      let took = MonotonicInstant.now().duration(since: start)
      #expect((Duration.seconds(9)...Duration.seconds(17)).contains(took), "\(took)")
      #expect(throws: WireError.self) { try half.finish() }
      try relay.start()
      #expect(try relay.reaches(.delivered, checkout.subscription).attempts == 1)
      #expect(Set(destination.ledger.map(\.body)).count == 1)
      #expect(destination.ledger.count == 2)
    }
  }

  @Test func `A second daemon on the same database ends with 75 and names the first one`() throws {
    try withRelay { relay, _ in
      let id = try #require(relay.process?.id)
      let second = try relay.runAgain()
      #expect(second.code == 75, "\(second.output)")
      #expect(second.output.contains("pid=\(id)"), "\(second.output)")
      try relay.passTime()
      // After the first has ended, in any way, the next one may start.
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      try relay.start()
      try relay.passTime()
    }
  }

  @Test("A database with a newer schema, or of another program, is refused and not touched (R10)")
  func foreignDatabase() throws {
    try withRelay { relay, _ in
      #expect(try relay.stop() == 0)
      func set(_ pragma: String) throws {
        let connection = try Connection(path: relay.databasePath, mode: .readWrite, busyTimeout: .seconds(1))
        try connection.execute("PRAGMA \(pragma)")
      }
      try set("user_version = 99")
      let newer = try relay.runAgain()
      #expect(newer.code == 69, "\(newer.output)")
      #expect(newer.output.contains("schema version 99"), "\(newer.output)")
      try set("application_id = 7")
      let foreign = try relay.runAgain()
      #expect(foreign.code == 69, "\(foreign.output)")
      #expect(foreign.output.contains("another program"), "\(foreign.output)")
      let connection = try Connection(path: relay.databasePath, mode: .readOnly, busyTimeout: .seconds(1))
      #expect(try connection.integer("PRAGMA user_version") == 99)
    }
  }

  @Test func `--check lists every fault with its key and exits 78; a good file is 0`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    try relay.writeConfiguration()
    let good = try relay.runAgain(["--check"])
    #expect(good.code == 0, "\(good.output)")
    #expect(good.output.contains("ok"), "\(good.output)")
    relay.configuration = relay.configuration.merging([
      "limits": ["queue": 0, "context_body": "big"], "lissten": [:],
      "apps": [
        "shop": [
          "purchaseley": [:], "purchasely": ["url": "http://example.com/receipts", "api_key": " padded "],
          "stripe": ["webhook_secrets": [""]], "delivery": ["timeout": "soon"],
        ], "Bad Name": [:],
      ],
    ])
    try relay.writeConfiguration()
    for arguments in [["--check"], []] {
      let bad = try relay.runAgain(arguments)
      #expect(bad.code == 78)
      for key in [
        "limits.queue", "limits.context_body", "lissten", "apps.shop.purchaseley", "apps.shop.purchasely.url",
        "apps.shop.purchasely.api_key", "apps.shop.stripe.webhook_secrets", "apps.shop.delivery.timeout",
        "Bad Name",
      ] {
        #expect(bad.output.contains(key), "\(key) in \(bad.output)")
      }
      #expect(!bad.output.contains("padded"))
    }
    #expect(try relay.runAgain(["--nonsense"]).code == 64)
    #expect(try relay.runAgain(["--version"]).code == 0)
  }

  @Test func `Requests to a stopped process wait and are answered when it continues (R1)`() throws {
    try withRelay { relay, _ in
      let checkout = Checkout("patient")
      try relay.post(checkout)
      try relay.suspend()
      let body = checkout.completed.serialized()
      let headers = ["Stripe-Signature": try Stripe.signature(of: body, secret: Secrets.webhook)]
      let wires = try (0..<20).map { _ in try Wire(relay.outside.api.port) }
      for wire in wires {
        try wire.send(Endpoint.bytes("POST", Stripe.eventsPath, body: body, headers: headers))
      }
      #expect(!wires[0].isReadable(within: .milliseconds(100)))
      relay.signal(SIGCONT)
      for wire in wires { #expect(try wire.reply().status == 200) }
      try relay.reaches(.delivered, checkout.subscription)
      #expect(try relay.events().count == 1)
    }
  }
}

/// A webhook of which the relay has read half of the body.
private struct HalfRequest {
  private let wire: Wire
  private let rest: [UInt8]

  init(_ api: Endpoint, _ event: JSONValue) throws {
    let body = event.serialized()
    let headers = [
      "Stripe-Signature": try Stripe.signature(of: body, secret: Secrets.webhook), "Expect": "100-continue",
    ]
    let head = Endpoint.bytes("POST", Stripe.eventsPath, body: body, headers: headers).dropLast(body.count)
    wire = try Wire(api.port)
    try wire.send(Array(head))
    // 100 (Continue) means that the header fields have been read (RFC 9110 §10.1.1).
    try #require(try wire.reply().status == 100)
    try wire.send(Array(body.prefix(body.count / 2)))
    rest = Array(body.dropFirst(body.count / 2))
  }

  func finish() throws -> Reply {
    try wire.send(rest)
    return try wire.reply()
  }
}
