// From a ready receipt to the destination's 2xx: attempts, pauses, ends.

import Domain
import Formats
import Glibc
import HTTPServer
import Platform
import Store
import Testing

@Suite(.withDaemonLog) struct DaemonDeliveryTests {
  /// Posts a context and its event.
  private static func buy(_ checkout: Checkout, _ relay: Relay, app: String = "shop") throws {
    try relay.post(checkout, app: app)
    try relay.ingest(checkout.completed, app: app)
  }

  @Test("A receipt is sent until it is accepted, with the same bytes, not before Retry-After (R3)")
  func retries() throws {
    try withRelay { relay, destination in
      destination.answer(
        .status(503), .status(500), .status(503, headers: ["Retry-After": "1"]), .status(408), .status(409),
        .status(425), .status(429, headers: ["Retry-After": "1"]))
      let checkout = Checkout("stubborn")
      try Self.buy(checkout, relay)
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

  @Test(
    "No connection, a reset and silence are retried; a request without an answer is ambiguous (R3)")
  func brokenConnections() throws {
    let resetter = try Resetter()
    let app: JSONValue = [
      "purchasely": ["url": .string("http://127.0.0.1:\(resetter.port)/receipts")],
      "delivery": ["timeout": "300ms", "breaker": ["failures": 1000]],
    ]
    let unused = try Destination()
    defer { unused.stop() }
    try withRelay(to: unused, app: app) { relay in
      let checkout = Checkout("unlucky")
      try Self.buy(checkout, relay)
      try waitUntil("a request is reset") { resetter.resetOne() }
      let port = resetter.close()
      try waitUntil("a connection is refused") {
        try relay.attempts(of: checkout.subscription).contains { $0.report.error == "connect_failed" }
      }
      let destination = try Destination(port: port)
      defer { destination.stop() }
      destination.answer(.silence)
      try relay.reaches(.delivered, checkout.subscription)
      let reports = try relay.attempts(of: checkout.subscription).map(\.report)
      #expect(reports.first { $0.error == "connection_lost" }?.isAmbiguous == true)
      #expect(reports.first { $0.error == "connect_failed" }?.isAmbiguous == false)
      #expect(reports.first { $0.error == "timeout" }?.isAmbiguous == true)
      #expect(Set(destination.ledger.map(\.body)).count == 1)
    }
  }

  @Test("Any other 4xx fails the receipt, keeps 4 KiB of the answer, and is not retried (R4)")
  func refused() throws {
    try withRelay { relay, destination in
      let answer = String(repeating: "x", count: 10_000)
      for status in [400, 404, 410, 422] {
        destination.answer(.status(status, body: answer))
        let checkout = Checkout("refused-\(status)")
        try Self.buy(checkout, relay)
        let receipt = try relay.reaches(.failed, checkout.subscription)
        #expect(receipt.reason == .status(status))
        #expect(receipt.attempts == 1)
        let attempt = try #require(try relay.attempts(of: checkout.subscription).first)
        #expect(attempt.report.response == Array(answer.utf8.prefix(4096)))
      }
      try relay.passTime()
      #expect(destination.ledger.count == 5)
      #expect(Set(destination.ledger.map(\.objectID)).count == 5)
      #expect(try relay.metric(#"receiptd_receipts{app="shop",state="failed"}"#) == 4)
    }
  }

  @Test(
    "Refused credentials pause the app, spend nothing, cause few probes, and end automatically (R4)")
  func pausesAndResumes() throws {
    try withRelay(app: ["delivery": ["breaker": ["open_for": "300ms"]]]) { relay, destination in
      destination.answerAll(.status(403, body: #"{"errors":["unknown api_key"]}"#))
      let checkouts = (0..<5).map { Checkout("paused-\($0)") }
      for checkout in checkouts { try Self.buy(checkout, relay) }
      let ledger = try destination.waitFor(requests: 21)
      // At first all five may be in flight; from then on each of them is tried once in every pause.
      for (earlier, later) in zip(ledger.dropFirst(5), ledger.dropFirst(10)) {
        #expect(later.at.duration(since: earlier.at) >= .milliseconds(250))
      }
      #expect(try relay.metric(#"receiptd_breaker_open{app="shop"}"#) == 1)
      #expect(try relay.breaker().state == .paused)
      #expect(try relay.breaker().cause == .status(403))
      for receipt in try relay.receipts().compactMap(\.receipt) {
        #expect(receipt.state == .pending)
        #expect(receipt.attempts == 0)
      }
      destination.answerAll(.taken)
      for checkout in checkouts {
        #expect(try relay.reaches(.delivered, checkout.subscription).attempts == 1)
      }
      #expect(try relay.metric(#"receiptd_breaker_open{app="shop"}"#) == 0)
    }
  }

  @Test(
    "A redirect is never followed: another server gets neither the receipt nor the key",
    arguments: [301, 302, 307, 308])
  func redirect(status: Int) throws {
    let other = try Destination()
    defer { other.stop() }
    try withRelay { relay, destination in
      destination.answer(.status(status, headers: ["Location": other.url]))
      let checkout = Checkout("moved")
      try Self.buy(checkout, relay)
      try relay.reaches(.delivered, checkout.subscription)
      let reports = try relay.attempts(of: checkout.subscription).map(\.report)
      #expect(reports.map(\.status) == [Int64(status), 200])
      #expect(destination.ledger.count == 2)
      #expect(other.ledger.isEmpty)
    }
  }

  @Test("A 429 without Retry-After lets the whole app rest for ten minutes, and no other app (R11)")
  func coolsDown() throws {
    let destination = try Destination()
    defer { destination.stop() }
    try withRelay(to: destination, top: ["apps": ["other": Relay.app(destination)]]) { relay in
      destination.answer(.status(429))
      let first = Checkout("hasty")
      try Self.buy(first, relay)
      try waitUntil("the app rests") { try relay.breaker().restUntil != nil }
      let second = Checkout("second")
      try Self.buy(second, relay)
      try relay.passTime(app: "other")
      try relay.passTime(app: "other")
      #expect(destination.ledger(of: first.subscription).count == 1)
      #expect(destination.ledger(of: second.subscription).isEmpty)
      let rest = try #require(try relay.breaker().restUntil)
      let tried = try #require(try relay.attempts(of: first.subscription).first).report.startedAt
      #expect((Duration.minutes(10)...Duration.seconds(630)).contains(rest.duration(since: tried)))
    }
  }

  @Test("A destination that is down opens the breaker, which survives a restart (R9)")
  func breakerSurvives() throws {
    let app: JSONValue = ["delivery": ["breaker": ["failures": 3, "open_for": "1h"]]]
    try withRelay(app: app) { relay, destination in
      destination.answerAll(.status(503))
      try Self.buy(Checkout("first"), relay)
      try waitUntil("the breaker opens") { try relay.breaker().state == .open }
      #expect(try relay.stop() == 0)
      let seen = destination.ledger.count
      #expect(seen == 3)
      destination.answerAll(.taken)
      try relay.start()
      try Self.buy(Checkout("second"), relay)
      #expect(try relay.metric(#"receiptd_breaker_open{app="shop"}"#) == 1)
      #expect(try relay.metric(#"receiptd_receipts{app="shop",state="pending"}"#) == 2)
      // A reload releases a probe, which finds that the destination is back.
      relay.signal(SIGHUP)
      try relay.reaches(.delivered, Checkout("first").subscription)
      try relay.reaches(.delivered, Checkout("second").subscription)
      #expect(destination.ledger.count == seen + 2)
    }
  }

  @Test("A receipt that is not accepted until give_up_after fails, also behind an open breaker (R4)")
  func givesUp() throws {
    let app: JSONValue = [
      "delivery": ["retry": ["give_up_after": "1s"], "breaker": ["failures": 3, "open_for": "100ms"]]
    ]
    try withRelay(app: app) { relay, destination in
      destination.answerAll(.status(500))
      let checkouts = (0..<4).map { Checkout("hopeless-\($0)") }
      for checkout in checkouts { try Self.buy(checkout, relay) }
      for checkout in checkouts {
        #expect(try relay.reaches(.failed, checkout.subscription).reason == .gaveUp)
      }
    }
  }
}
