// Notices of the real program to a real receiver.

import Domain
import Formats
import HTTPServer
import Platform
import TestSupport
import Testing

@Suite(.withDaemonLog) struct AlertTests {
  /// Runs `body` with a relay that notifies a receiver.
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

  @Test func `A notice is sent when a breaker opens, and another when it closes`() throws {
    try withAlerts(["breaker_open"]) { relay, destination, receiver in
      destination.answerAll(.status(500))
      try relay.ingest(Checkout("alerted").completed)
      let notice = try waitForNotice(receiver, "breaker_open", "firing")
      #expect(notice["app"] == "shop")
      #expect(notice["text"]?.hasPrefix("[FIRING] receiptd on ") == true)
      #expect(notice.head.method == "POST")
      #expect(notice.head.header("Content-Type") == "application/json")
      #expect(!notice.text.contains("alerted"), "a notice names no user and no object (R7)")
      destination.answerAll(.taken)
      _ = try waitForNotice(receiver, "breaker_open", "resolved")
      try relay.reaches(.delivered, Checkout("alerted").subscription)
      #expect(try relay.stop() == 0)
      #expect(!relay.log.contains("hidden-path"), "an address may be a secret (R7)")
    }
  }

  @Test func `The alert's command, as pasted, replays exactly the alert's receipts`() throws {
    try withAlerts(["receipt_failed"]) { relay, destination, receiver in
      // The earlier failures, which were not reported, are older than the alert's window.
      let start = SystemClock().wallMilliseconds - 15 * 86_400_000
      try relay.stop()
      try LargeDatabase.fill(
        path: relay.databasePath, .init(receipts: 100, failed: 50), app: "shop", start: start)
      try relay.start()
      destination.answerAll(.status(422))
      try relay.ingest(Checkout("refused").completed)
      let notice = try waitForNotice(receiver, "receipt_failed", "firing")
      guard case .array(let commands) = notice.json["commands"] else { throw NeverHappened(what: "commands") }
      let command = try #require(commands.first?.stringValue)
      destination.answerAll(.taken)
      var words = command.split(separator: " ").map(String.init)
      #expect(words.removeFirst() == "receiptctl")
      #expect(["--app", "--state", "--reason", "--since", "--rate"].allSatisfy(words.contains))
      #expect(try relay.operate(words + ["--wait", "--yes"]).end() == 0)
      #expect(try relay.receipt(of: Checkout("refused").subscription)?.state == .delivered)
      #expect(destination.ledger.allSatisfy { $0.objectID == Checkout("refused").subscription })
    }
  }

  @Test func `A missing backup and a refused reload are reported until the operator has acted`() throws {
    try withAlerts(["backup_old>1h", "reload_refused"]) { relay, _, receiver in
      let missing = try waitForNotice(receiver, "backup_old>1h", "firing")
      #expect(missing["summary"] == "no backup of the database was recorded")
      #expect(try relay.operate(["db", "backup", relay.directory.file("copy.db")]).end() == 0)
      _ = try waitForNotice(receiver, "backup_old>1h", "resolved")
      let good = relay.configuration
      relay.configuration = good.merging(["apps": ["shop": ["stripe": ["tolerance": "soon"]]]])
      try relay.writeAndReload()
      let refused = try waitForNotice(receiver, "reload_refused", "firing")
      #expect(refused["summary"]?.contains("apps.shop.stripe.tolerance: must be a duration") == true)
      relay.configuration = good
      try relay.writeAndReload()
      _ = try waitForNotice(receiver, "reload_refused", "resolved")
    }
  }

  @Test func `Heartbeats are sent while the relay is ready, and again after a restart`() throws {
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
}
