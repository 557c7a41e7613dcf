// `receiptctl ready` and `receipt-sandbox checkout`, which installations are checked with.

import Formats
import TestSupport
import Testing

@Suite(.withDaemonLog) struct ReadyCommandTests {
  /// What a command printed, and its exit code.
  private func run(
    _ words: [String], _ relay: Relay, program: String = Program.receiptctl
  ) throws -> (code: Int32, text: String) {
    let path = relay.directory.file("receiptctl.log")
    let begin = TextFile.size(path)
    let code = try relay.operate(words, program: program).end()
    return (code, TextFile.read(path, from: begin))
  }

  @Test func `The exit code says whether receiptd is ready`() throws {
    let reserved = try ReservedPort()
    let admin: JSONValue = ["address": "127.0.0.1", "port": .integer(Int64(reserved.number))]
    try withRelay(top: ["admin": admin, "limits": ["connections": 8, "webhook_connections": 0]]) { relay, _ in
      let ready = try run(["ready"], relay)
      #expect(ready.code == 0)
      #expect(ready.text.hasSuffix("ready\n"))
      // All connections are taken, so nobody else can be served.
      let wires = try (0..<8).map { _ in try Wire(relay.outside.api.port) }
      for wire in wires { try wire.send("GET / HTTP/1.1\r\n") }
      let busy = try waitFor("a relay without free connections") { () throws -> String? in
        let busy = try run(["ready"], relay)
        return busy.code == 75 ? busy.text : nil
      }
      #expect(busy.contains("receiptd is not ready: "), "\(busy)")
      withExtendedLifetime(wires) {}
      #expect(try relay.stop() == 0)
      let ended = try run(["ready"], relay)
      #expect(ended.code == 69)
    }
  }

  @Test func `Without a fixed port nobody can be asked`() throws {
    try withRelay { relay, _ in
      let ran = try run(["ready"], relay)
      #expect(ran.code == 77)
    }
  }

  @Test("A sandbox checkout is delivered to its own stand-in, and refused if receipts go elsewhere (R2)")
  func checkout() throws {
    let port = try ReservedPort()
    let here: JSONValue = ["purchasely": ["url": .string("http://127.0.0.1:\(port.number)/receipts")]]
    try withRelay(app: here) { relay, destination in
      let url = "http://127.0.0.1:\(relay.outside.api.port)"
      let words = ["--json", "checkout", "--user", "jdo-1", "--url", url]
      let ran = try run(words, relay, program: Program.sandbox)
      #expect(ran.code == 0, "\(ran.text)")
      #expect(ran.text.contains(#""state":"delivered""#), "\(ran.text)")
      #expect(destination.ledger.isEmpty)
      let ended = try run(["checkout", "--url", "http://127.0.0.1:1"], relay, program: Program.sandbox)
      #expect(ended.code == 69)
    }
    let elsewhere: JSONValue = ["purchasely": ["url": "https://example.com/receipts"]]
    try withRelay(app: elsewhere) { relay, _ in
      let ran = try run(["checkout"], relay, program: Program.sandbox)
      #expect(ran.code == 77, "\(ran.text)")
      #expect(ran.text.contains("this purchase did not happen"), "\(ran.text)")
    }
    try withRelay(app: ["stripe": ["livemode": "live"]]) { relay, _ in
      let ran = try run(["checkout"], relay, program: Program.sandbox)
      #expect(ran.code == 77, "\(ran.text)")
      #expect(ran.text.contains("takes live payments only"), "\(ran.text)")
    }
  }
}
