// Success statuses that accept nothing, and those without an import id, with the real programs.

import Domain
import Formats
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonAcceptanceTests {
  @Test func `A login page pauses the app, which delivers once the page is gone (R4)`() throws {
    let app: JSONValue = ["delivery": ["breaker": ["open_for": "100ms"]]]
    try withRelay(app: app) { relay, destination in
      destination.answerAll(
        .status(200, headers: ["Content-Type": "text/html; charset=utf-8"], body: "<!doctype html><form>"))
      let checkout = Checkout("login")
      try relay.buy(checkout)
      try waitUntil("the app is paused") { try relay.breaker().state == .paused }
      #expect(try relay.breaker().cause == .htmlAnswer)
      let receipt = try #require(try relay.receipt(of: checkout.subscription))
      #expect(receipt.state == .pending, "no attempt is spent")
      #expect(receipt.attempts == 0, "no attempt is spent")
      // The log follows the commit.
      try waitUntil("the log says why") { relay.log.contains("the destination refuses this configuration") }
      destination.answerAll(.status(200, body: #"{"errors":["unknown api_key"]}"#))
      try waitUntil("the errors are seen") { try relay.breaker().cause == .errorAnswer }
      destination.answerAll(.taken)
      let delivered = try relay.reaches(.delivered, checkout.subscription)
      #expect(delivered.importID?.hasPrefix("imp-") == true)
      #expect(delivered.lastCause == nil)
    }
  }

  @Test func `A receipt without an import id is counted, logged as a warning and listed`() throws {
    try withRelay { relay, destination in
      destination.answer(.status(204, body: ""), .taken)
      let (silent, loud) = (Checkout("silent"), Checkout("loud"))
      for checkout in [silent, loud] {
        try relay.buy(checkout)
        try relay.reaches(.delivered, checkout.subscription)
      }
      #expect(try relay.metric(#"receiptd_deliveries_without_id_total{app="shop"}"#) == 1)
      try waitUntil("it is warned about") { relay.log.contains("the answer names no import id") }
      let list = try relay.operate(["receipts", "list", "--no-import-id", "--json"])
      #expect(try list.end() == 0)
      let said = TextFile.read(relay.directory.file("receiptctl.log"))
      #expect(said.contains(silent.subscription))
      #expect(!said.contains(loud.subscription))
      let page = try relay.admin.request("GET", "/receipts?no_import_id=yes").text
      #expect(page.contains(try #require(try relay.receipt(of: silent.subscription)).id.text))
      #expect(!page.contains(try #require(try relay.receipt(of: loud.subscription)).id.text))
    }
  }
}
