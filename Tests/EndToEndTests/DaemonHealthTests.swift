// What receiptctl and the dashboard show about the relay's health while receiptd runs.

import Formats
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.withDaemonLog) struct DaemonHealthTests {
  /// Runs receiptctl to its end.
  private func operate(_ relay: Relay, _ arguments: String...) throws -> String {
    let output = relay.directory.file("receiptctl.log")
    let start = TextFile.size(output)
    try #require(try relay.operate(arguments).end() == 0)
    return TextFile.read(output, from: start)
  }

  private func service(_ relay: Relay) throws -> JSONValue {
    let line = try #require(try operate(relay, "stats", "--json").split(separator: "\n").first)
    return try #require(try JSONValue(parsing: Array(line.utf8))["service"])
  }

  @Test("stats begins with the health of the relay: ready, refused reload, refused webhooks, not running")
  func stats() throws {
    try withRelay { relay, _ in
      try waitUntil("it reports that it is ready") { try service(relay)["ready"] == true }
      let first = try service(relay)
      #expect(first["running"] == true)
      #expect(first["configuration"]?["generation"] == 1)
      if case .integer(let bytes)? = first["disk_free_bytes"] {
        #expect(bytes > 0)
      } else {
        Issue.record("no disk")
      }
      let good = relay.configuration
      relay.configuration = good.merging(["apps": ["shop": ["stripe": ["webhook_secret": []]]]])
      try relay.writeConfiguration()
      #expect(try relay.operate(["reload"]).end() == 78)
      relay.configuration = good
      try relay.writeConfiguration()
      try waitUntil("the refused reload is reported") {
        try operate(relay, "stats").contains("The last reload was refused")
      }
      #expect(try relay.admin.request("GET", "/").text.contains("The last reload was refused"))
      #expect(try relay.operate(["reload"]).end() == 0)
      let body = Checkout("refused").completed.serialized()
      let signature = try Stripe.signature(of: body, secret: "whsec_another")
      #expect(try relay.outside.send(bytes: body, signature: signature).status == 400)
      try waitUntil("the refused webhook is reported") {
        try service(relay)["refused_webhooks_last_hour"]?["shop"]?["mismatch"] == 1
      }
      let shown = try operate(relay, "stats")
      #expect(shown.contains("1 webhook of shop refused for the signature in the last hour (mismatch 1)"))
      #expect(!shown.contains("The last reload was refused"))
      #expect(try operate(relay, "alerts", "list").contains("receiptd is ready"))
      #expect(try relay.stop() == 0)
      #expect(try operate(relay, "stats").hasPrefix("receiptd is NOT RUNNING"))
      #expect(try service(relay)["running"] == false)
    }
  }

  @Test("While receiptd has lost its database file, stats says so instead of asking to start receiptd")
  func lostFile() throws {
    try withRelay { relay, _ in
      let path = relay.directory.file("receiptd.db")
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      let output = relay.directory.file("receiptctl.log")
      for words in [["stats"], ["reload"]] {
        let start = TextFile.size(output)
        #expect(try relay.operate(words).end() == 69)
        let said = TextFile.read(output, from: start)
        #expect(said.contains("was moved or removed while receiptd (process"), "\(said)")
      }
      try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
      #expect(try relay.operate(["stats"]).end() == 0)
    }
  }
}
