// Tests what an order to capture a payment means.

import Testing

@testable import Domain

@Suite("Orders to capture a payment")
struct CaptureOrderTests {
  private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)

  @Test func `All orders for a payment share a capture until it ends without effect`() {
    #expect(StoredCapture.admit(nil) == .begin(isRepeat: false))
    #expect(StoredCapture.admit(StoredCapture(orderedAt: now)) == .join)
    for kind in CaptureOutcome.Kind.allCases {
      let outcome = CaptureOutcome(kind: kind, status: 200, body: [])
      let stored = StoredCapture(orderedAt: now, outcome: outcome)
      #expect(
        StoredCapture.admit(stored) == (kind == .unconfirmed ? .begin(isRepeat: true) : .ended(outcome))
      )
    }
  }

  @Test func `After a restart nothing is sent for a capture that the processor refused`() throws {
    var capture = Capture(resuming: now, failures: 0, retryAt: now, isGivenUp: true)
    #expect(capture.contradiction == nil)
    #expect(capture.isGivenUp)
    try capture.apply(.lookedUp(.unclear), now: now)
    #expect(capture.phase == .confirming)
    try capture.apply(.lookedUp(.nothingCaptured), now: now)
    #expect(capture.outcome?.kind == .abandoned)
  }
}
