// SIGHUP: a valid configuration replaces the old one as a whole, an invalid one changes nothing.

import Domain
import Formats
import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonReloadTests {
  /// Accepts only receipts with the right key.
  private static func acceptOnly(_ key: String, _ destination: Destination) {
    destination.answerAll { $0.head.header("X-API-KEY") == key ? .taken : .status(403) }
  }

  @Test func `A corrected key is used after SIGHUP, and paused receipts are sent at once (R4)`() throws {
    let app: JSONValue = [
      "purchasely": ["api_key": "the-wrong-key"], "delivery": ["breaker": ["open_for": "1h"]],
    ]
    try withRelay(app: app) { relay, destination in
      Self.acceptOnly(Secrets.apiKey, destination)
      let checkouts = (0..<3).map { Checkout("key-\($0)") }
      for checkout in checkouts {
        try relay.buy(checkout)
      }
      try waitUntil("the app is paused and nothing is under way") {
        try relay.breaker().state == .paused && relay.count("attempts") == destination.ledger.count
      }
      relay.configuration = relay.configuration.merging(
        ["apps": ["shop": ["purchasely": ["api_key": .string(Secrets.apiKey)]]]])
      try relay.writeAndReload()
      for checkout in checkouts { try relay.reaches(.delivered, checkout.subscription) }
      #expect(try relay.breaker().state == .closed)
    }
  }

  @Test func `SIGHUP with a broken file keeps the whole previous configuration and logs the reason`() throws {
    try withRelay { relay, destination in
      let good = relay.configuration
      let changes: JSONValue = [
        "shop": ["purchasely": ["api_key": "half-taken"], "stripe": ["webhook_secret": []]]
      ]
      let bad = [
        "{ apps: ", "", good.merging(["apps": changes]).prettyText,
        good.merging(["apps": ["shop": ["purchasely": ["api_key": "env:RECEIPT_RELAY_NOT_SET"]]]]).prettyText,
      ]
      for (index, text) in bad.enumerated() {
        try relay.directory.write(text, to: "receiptd.json5")
        relay.signal(SIGHUP)
        try waitUntil("refusal \(index) is logged") {
          relay.log.ranges(of: "keeping the previous configuration").count == index + 1
        }
        let checkout = Checkout("steady-\(index)")
        try relay.buy(checkout)
        try relay.reaches(.delivered, checkout.subscription)
      }
      #expect(relay.log.contains("apps.shop.stripe.webhook_secret"))
      #expect(destination.ledger.allSatisfy { $0.head.header("X-API-KEY") == Secrets.apiKey })
      #expect(relay.process?.exitCode == nil)
    }
  }

  @Test func `SIGHUP adds and removes apps; the receipts of one that returns continue at once (R4)`() throws {
    let app: JSONValue = ["join": ["wait_for_context": "1h"]]
    try withRelay(app: app) { relay, destination in
      let checkout = Checkout("without-app")
      try relay.ingest(checkout.completed)
      let before = relay.configuration
      guard case .object(let members) = before else { throw NeverHappened(what: "a configuration") }
      relay.configuration = .object(
        members.filter { $0.name != "apps" } + [.init(name: "apps", value: ["other": Relay.app(destination)])]
      )
      try relay.writeAndReload()
      try waitUntil("the log says which app is gone, and with how many receipts") {
        relay.log.contains("configuration: apps.shop: is not configured: its 1 waiting receipt is kept")
      }
      #expect(try relay.outside.send(Checkout("x").completed, app: "other").status == 200)
      // As with a wrong signature: the answer does not tell which apps exist.
      #expect(try relay.outside.send(Checkout("y").completed).status == 400)
      for command in [["stats"], ["config", "check"], ["reload"]] {
        #expect(try relay.operate(command).end() == 0)
        let said = TextFile.read(relay.directory.file("receiptctl.log"))
        #expect(said.contains("is not configured: its 1 waiting receipt is kept"), "\(command)")
      }
      #expect(try relay.runAgain(["--check"]).output.contains("apps.shop: is not configured: its 1 waiting"))
      #expect(try relay.admin.request("GET", "/").text.contains("its 1 waiting receipt is kept"))
      #expect(try relay.receipt(of: checkout.subscription)?.state == .waiting)
      // It has waited for longer than that.
      relay.configuration = before.merging(["apps": ["shop": ["join": ["wait_for_context": "1ms"]]]])
      try relay.writeAndReload()
      try relay.reaches(.delivered, checkout.subscription)
    }
  }

  @Test func `A FIFO as secret file is a fault, and blocks neither --check nor SIGHUP nor requests`() throws {
    try withRelay { relay, _ in
      let fifo = relay.directory.file("secret")
      #expect(unsafe mkfifo(fifo, 0o600) == 0)
      relay.configuration = relay.configuration.merging(
        ["apps": ["shop": ["purchasely": ["api_key": .string("file:" + fifo)]]]])
      try relay.writeConfiguration()
      let check = try relay.runAgain(["--check"])
      #expect(check.code == 78, "\(check.output)")
      #expect(check.output.contains("apps.shop.purchasely.api_key: cannot read \(fifo) (Not a regular file)"))
      relay.signal(SIGHUP)
      try waitUntil("the refusal is logged") {
        relay.log.contains("apps.shop.purchasely.api_key: cannot read")
      }
      let checkout = Checkout("after")
      try relay.buy(checkout)
      try relay.reaches(.delivered, checkout.subscription)
      #expect(try relay.stop() == 0)
    }
  }

  @Test func `A FIFO as configuration is refused at once`() throws {
    let destination = try Destination()
    defer { destination.stop() }
    let relay = try Relay(destination)
    #expect(unsafe mkfifo(relay.configurationPath, 0o600) == 0)
    let check = try relay.runAgain(["--check"])
    #expect(check.code == 78, "\(check.output)")
    #expect(check.output.contains("(Not a regular file)"), "\(check.output)")
    #expect(try relay.operate(["config", "show"]).end() == 78)
  }
}
