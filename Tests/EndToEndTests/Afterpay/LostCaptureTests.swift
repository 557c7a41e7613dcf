// Captures whose answer is lost, by the network or by the death of the relay: each charges once, and its
// receipt is delivered.

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
    "CA15: After a lost answer to a capture that charged, the payment is looked up, and not captured again",
    arguments: [SandboxFault.cut, .truncated, .malformed, .errorAfter, .lie])
  func charged(fault: SandboxFault) throws {
    try AfterpayRelay.run { shop in
      _ = try shop.start(user: "another")
      let token = try shop.startApproved()
      shop.afterpay.faults = SandboxFaults(fault, remaining: 1, operations: ["capture"])
      let reply = try shop.capture(token)
      #expect(reply.status == 200)
      #expect(reply["state"] == "captured")
      try shop.relay.reaches(.delivered, token)
      #expect(Self.calls(shop) == [Self.capture, Self.lookup(token)])
      #expect(shop.charges(of: token) == 1)
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }

  @Test(
    "CA15: After a failed capture that charged nothing, the payment is looked up, and captured again",
    arguments: [SandboxFault.error, .page, .redirect])
  func notCharged(fault: SandboxFault) throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      shop.afterpay.faults = SandboxFaults(fault, status: 503, remaining: 1, operations: ["capture"])
      let reply = try shop.capture(token)
      #expect(reply.status == 200)
      try shop.relay.reaches(.delivered, token)
      #expect(Self.calls(shop).first == Self.capture)
      #expect(Self.calls(shop).dropFirst().first == Self.lookup(token))
      #expect(shop.captureCalls == 2)
      #expect(shop.charges(of: token) == 1)
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }

  @Test("CA15: An app that has waited long enough gets no false answer, and the relay goes on")
  func slow() throws {
    try AfterpayRelay.run(["timeout": "1s", "capture_timeout": "1s"]) { shop in
      let token = try shop.startApproved()
      // Neither captures nor lookups are answered.
      shop.afterpay.faults = SandboxFaults(.silent, operations: ["capture", "get"])
      let reply = try shop.capture(token)
      #expect(reply.status == 504)
      #expect(reply["type"] == "urn:receiptd:problem:capture-outcome-unknown")
      #expect(try shop.state(of: token) == "capture_pending")
      shop.afterpay.faults = SandboxFaults()
      try shop.relay.reaches(.delivered, token)
      #expect(try shop.state(of: token) == "captured")
      #expect(shop.charges(of: token) == 1)
    }
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

  @Test("A relay that is stopped during a capture charges once, and delivers after its start")
  func stopped() throws {
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
