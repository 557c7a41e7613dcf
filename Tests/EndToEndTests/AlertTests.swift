// Notices that really arrive, from the real program, at a real receiver.

import Domain
import Glibc
import HTTPServer
import JSON
import Platform
import Testing

@Suite(.withDaemonLog) struct AlertTests {
  /// Runs `body` with a relay that tells a receiver of troubles.
  private func withAlerts(
    _ on: JSONValue, _ body: (Relay, _ destination: Destination, _ receiver: Destination) throws -> Void
  ) throws {
    let receiver = try Destination()
    defer { receiver.stop() }
    let top: JSONValue = [
      "log": ["format": "json", "level": "debug"],
      "alerts": [["to": .string(receiver.url + "/hidden-path"), "on": on, "every": "1s"]],
      "heartbeat": ["to": .string(receiver.url + "/beat"), "every": "1s"],
    ]
    try withRelay(app: ["delivery": ["breaker": ["failures": 2]]], top: top) { relay, destination in
      try body(relay, destination, receiver)
    }
  }

  private func waitForNotice(
    _ receiver: Destination, _ alert: String, _ state: String
  ) throws -> Destination.Entry {
    try waitFor("a notice that \(alert) is \(state)") {
      receiver.ledger.first { $0["alert"] == alert && $0["state"] == state }
    }
  }

  @Test("A breaker that opens is told of, and told of again when it closes")
  func breaker() throws {
    try withAlerts(["breaker_open"]) { relay, destination, receiver in
      destination.answerAll(.status(500))
      try relay.take(Checkout("alerted").completed)
      let notice = try waitForNotice(receiver, "breaker_open", "firing")
      #expect(notice["app"] == "shop" && notice["text"]?.hasPrefix("[FIRING] receiptd on ") == true)
      #expect(notice.head.method == "POST" && notice.head.header("Content-Type") == "application/json")
      #expect(!notice.text.contains("alerted"), "a notice names no user and no object (R7)")
      destination.answerAll(.taken)
      _ = try waitForNotice(receiver, "breaker_open", "resolved")
      try relay.reaches(.delivered, Checkout("alerted").subscription)
      #expect(try relay.stop() == 0)
      #expect(!relay.log.contains("hidden-path"), "an address may be a secret (R7)")
    }
  }

  @Test("A trouble outlives a restart without being told as new, and its end is told although nobody saw it")
  func restart() throws {
    try withAlerts(["breaker_open"]) { relay, destination, receiver in
      destination.answerAll(.status(403))
      try relay.take(Checkout("alerted").completed)
      let first = try waitForNotice(receiver, "breaker_open", "firing")
      try waitUntil("it is kept that this was told") { try relay.count("alerts") == 1 }
      #expect(try relay.stop(SIGKILL) != 0)
      destination.answerAll(.taken)
      try relay.start()
      let over = try waitForNotice(receiver, "breaker_open", "resolved")
      #expect(over["since"] == first["since"])
    }
  }

  @Test("Signs of life come while the relay is ready, and again after a restart")
  func heartbeat() throws {
    try withAlerts(["disk_low<1MiB"]) { relay, _, receiver in
      let beats = { receiver.ledger.filter { $0.head.path.hasSuffix("/beat") } }
      try waitUntil("two signs of life") { beats().count >= 2 }
      #expect(beats().allSatisfy { $0.head.method == "GET" })
      #expect(try relay.stop() == 0)
      let last = beats().count
      try relay.start()
      try waitUntil("signs of life again") { beats().count > last }
    }
  }

  @Test("A test notice reaches every address, and the exit code says whether")
  func test() throws {
    try withAlerts(["breaker_open"]) { relay, _, receiver in
      #expect(try relay.operate(["alerts", "test"]).end() == 0)
      let notice = try waitForNotice(receiver, "test", "test")
      #expect(notice["summary"]?.contains("nothing is wrong") == true)
      receiver.answerAll(.status(410))
      #expect(try relay.operate(["alerts", "test"]).end() == 69)
      let said = TextFile.read(relay.directory.file("receiptctl.log"))
      #expect(said.contains("not taken (410)") && !said.contains("hidden-path"))
    }
  }
}
