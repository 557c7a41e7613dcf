// Captures whose answer is lost because the relay ends: each charges once, and its receipt is delivered.

import Domain
import Formats
import Glibc
import Sandbox
import Testing

@Suite(.withDaemonLog) struct LostCaptureTests {
  private static let capture = "POST /v2/payments/capture"

  private static func lookup(_ token: String) -> String { "GET /v2/payments/token:\(token)" }

  /// The requests to Afterpay from the first capture on.
  private static func calls(_ shop: AfterpayRelay) -> [String] {
    Array(shop.sent.drop { $0 != capture })
  }

  @Test(
    "A relay that is killed between the order of a capture and its answer charges once, and delivers",
    arguments: [SandboxFault.silent, .lost])
  func killed(fault: SandboxFault) throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      shop.afterpay.faults = SandboxFaults(fault, operations: ["capture"])
      let wire = try shop.beginCapture(token)
      try waitUntil("Afterpay has got the capture") { shop.captureCalls == 1 }
      let isCharged = fault.takesEffect
      #expect(shop.charges(of: token) == (isCharged ? 1 : 0))
      try shop.relay.stop(SIGKILL)
      #expect(throws: WireError.self) { _ = try wire.reply() }
      shop.afterpay.faults = SandboxFaults()
      try shop.relay.start()
      try shop.relay.reaches(.delivered, token)
      #expect(shop.charges(of: token) == 1)
      // After a restart, nothing is sent before the state is known.
      #expect(Self.calls(shop).dropFirst().first == Self.lookup(token))
      #expect(shop.captureCalls == (isCharged ? 1 : 2))
      #expect(try shop.capture(token).status == 200)
      #expect(shop.charges(of: token) == 1)
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }

  @Test func `A relay that is stopped during a capture charges once, and delivers after its start`() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      shop.afterpay.faults = SandboxFaults(.silent, operations: ["capture"])
      let wire = try shop.beginCapture(token)
      try waitUntil("Afterpay has got the capture") { shop.captureCalls == 1 }
      shop.relay.signal(SIGTERM)
      // Answered that it stops, or that the outcome is unknown, or cut off: the app reads the state then.
      let reply = try? wire.reply()
      #expect([nil, 503, 504].contains(reply?.status))
      #expect(try shop.relay.process?.end() == 0)
      shop.afterpay.faults = SandboxFaults()
      try shop.relay.start()
      try shop.relay.reaches(.delivered, token)
      #expect(shop.charges(of: token) == 1)
      #expect(shop.captureCalls == 1)
    }
  }
}
