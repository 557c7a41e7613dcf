// R8: memory is bounded for any input.

import Formats
import TestSupport
import Testing

@Suite(.withDaemonLog) struct MemoryTests {
  private static let clients = 50
  private static let bodyBytes = 1 << 19

  @Test(
    "Large bodies of fifty clients at once take twice their size at most, and one byte over 4 MiB is 413 (R8)"
  )
  func largeBodies() throws {
    try withRelay(top: ["limits": ["request_timeout": "5m"]]) { relay, _ in
      let port = relay.outside.api.port
      let tooMuch = try Wire(port)
      let length = ["Content-Length": "\((4 << 20) + 1)"]
      try tooMuch.send(Endpoint.bytes("POST", Stripe.eventsPath, body: nil, headers: length))
      #expect(try tooMuch.reply().status == 413)
      let process = try #require(relay.process)
      let before = try #require(process.peakKibibytes)
      let body = [UInt8](repeating: UInt8(ascii: "x"), count: Self.bodyBytes)
      let head = Endpoint.bytes(
        "POST", Stripe.eventsPath, body: nil,
        headers: [
          "Content-Length": "\(body.count)",
          "Stripe-Signature": try Stripe.signature(of: body, secret: Secrets.webhook),
        ])
      // All of them are received, except their last byte, before one is complete.
      let wires = try (0..<Self.clients).map { _ in try Wire(port) }
      for wire in wires { try wire.send(head + body.dropLast()) }
      for wire in wires { try wire.send([UInt8(ascii: "x")]) }
      for wire in wires { #expect(try wire.reply().status == 200) }
      #expect(try relay.count("events") == 1)
      let peak = try #require(process.peakKibibytes)
      let bound = Sanitizer.memory(2 * Self.clients * Self.bodyBytes / 1024)
      #expect(peak - before < bound, "\(before) to \(peak) KiB")
      try relay.passTime()
    }
  }
}
