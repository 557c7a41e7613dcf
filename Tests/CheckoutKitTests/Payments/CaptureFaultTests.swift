// A capture over a network that loses, delays and repeats: what it reports is true.

import CheckoutKit
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A relay and the network before it. A seed determines every fault. A request that times out may still be on
/// its way, and arrive at any later time.
private final class FaultyRelay: Transport {
  enum Customer: CaseIterable {
    case approves, declines, hasNotConfirmed, isTooLate
  }

  private struct State {
    var random: SeededGenerator
    var state = "started"
    /// Whether Afterpay has charged the customer.
    var isCharged = false
    /// Captures that time out at the client and arrive later.
    var late = 0
  }

  private let customer: Customer
  private let state: Guarded<State>

  init(_ customer: Customer, seed: UInt64) {
    self.customer = customer
    state = Guarded(State(random: SeededGenerator(seed)))
  }

  /// Whether the customer is charged after everything has arrived.
  func isChargedInTheEnd() -> Bool {
    state.withLock { state in
      for _ in 0..<state.late { Self.end(&state, self.customer) }
      if state.state == "capture_pending" { Self.end(&state, self.customer) }
      return state.isCharged
    }
  }

  func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    let isCapture = request.httpMethod == "POST"
    let (status, body) = try state.withLock { state in
      if state.late > 0, state.random.isLikely(0.3) {
        state.late -= 1
        Self.begin(&state, customer)
      }
      if state.state == "capture_pending", state.random.isLikely(0.5) { Self.end(&state, customer) }
      if state.random.isLikely(0.1) { return (503, "busy") }
      if state.random.isLikely(0.05) { return (401, "no") }
      if state.random.isLikely(0.05) { return (429, "busy") }
      if state.random.isLikely(0.2) {
        // It is lost, or late.
        if isCapture, state.random.isLikely(0.5) { state.late += 1 }
        throw URLError(.timedOut)
      }
      let answer = isCapture ? Self.capture(&state, customer) : (200, PaymentExample.state(state.state))
      if state.random.isLikely(0.2) { throw URLError(.networkConnectionLost) }
      return answer
    }
    let response = HTTPURLResponse(
      url: try #require(request.url), statusCode: status, httpVersion: nil, headerFields: nil)
    return (Data(body.utf8), try #require(response))
  }

  private static func capture(_ state: inout State, _ customer: Customer) -> (Int, String) {
    begin(&state, customer)
    if state.state == "capture_pending", state.random.isLikely(0.4) {
      return (504, PaymentExample.problem("capture-outcome-unknown", 504))
    }
    end(&state, customer)
    switch state.state {
    case "captured": return (201, PaymentExample.approved)
    case "declined": return (402, PaymentExample.declined)
    case "expired": return (410, PaymentExample.problem("expired", 410))
    default: return (412, PaymentExample.problem("not-confirmed", 412))
    }
  }

  private static func begin(_ state: inout State, _ customer: Customer) {
    if state.state == "started" { state.state = "capture_pending" }
  }

  private static func end(_ state: inout State, _ customer: Customer) {
    guard ["started", "capture_pending"].contains(state.state) else { return }
    switch customer {
    case .approves: (state.state, state.isCharged) = ("captured", true)
    case .declines: state.state = "declined"
    case .hasNotConfirmed: state.state = state.random.isLikely(0.5) ? "started" : "closed"
    case .isTooLate: state.state = "expired"
    }
  }
}

/// SplitMix64: the same numbers on every machine.
private struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  mutating func isLikely(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }
}

@Suite struct CaptureFaultTests {
  @Test(
    "Over a network with faults, no customer who is charged reads that nothing was charged",
    arguments: FaultyRelay.Customer.allCases)
  fileprivate func isTrue(_ customer: FaultyRelay.Customer) async throws {
    var ends: [String: Int] = [:]
    for seed in 0..<1500 as Range<UInt64> {
      let relay = FaultyRelay(customer, seed: seed)
      let afterpay = try PaymentExample.afterpay(relay)
      let outcome = await afterpay.capture(PaymentExample.token, grantID: "GRG_1", within: 40)
      let isCharged = relay.isChargedInTheEnd()
      switch outcome {
      case .captured:
        #expect(isCharged, "seed \(seed): captured, and not charged")
        ends["captured", default: 0] += 1
      case .notCharged:
        #expect(!isCharged, "seed \(seed): not charged, but charged")
        ends["notCharged", default: 0] += 1
      case .unknown: ends["unknown", default: 0] += 1
      }
    }
    // Most captures get an outcome, and some do not, so that the faults are known to matter.
    let known = customer == .approves ? "captured" : "notCharged"
    #expect(ends[known, default: 0] > 1000, "\(ends)")
    #expect(ends["unknown", default: 0] > 10, "\(ends)")
  }
}
