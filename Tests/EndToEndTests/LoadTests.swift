// receipt-sandbox's load generator, against its own relay.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct LoadTests {
  @Test("receipt-sandbox load sends whole checkouts at its rate, and each is delivered with its context")
  func load() throws {
    try withRelay { relay, destination in
      let url = "http://127.0.0.1:\(relay.outside.api.port)"
      let words = ["load", "--rate", "40/s", "--duration", "1s", "--url", url, "--json"]
      #expect(try relay.operate(words, program: Program.sandbox).end() == 0)
      try waitUntil("forty receipts are delivered") {
        try relay.receipts { $0.state = .delivered }.count == 40
      }
      #expect(Set(destination.ledger.compactMap { $0["ply_context"] }).count == 40)
      let text = TextFile.read(relay.directory.file("receiptctl.log"))
      let said = text.split(separator: "\n").compactMap { try? JSONValue(parsing: Array($0.utf8)) }.last
      #expect(said?["checkouts"] == 40, "\(text)")
      #expect(said?["refused"] == 0, "\(text)")
      #expect(said?["unanswered"] == 0, "\(text)")
    }
  }
}
