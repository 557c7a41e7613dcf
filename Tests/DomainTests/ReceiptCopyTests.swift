// Tests the copy of a receipt for a second destination: what it does after each decision about the purchase's
// own receipt, and which destination each of the two may have.

import Testing

@testable import Domain

private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let later = now.advanced(by: .seconds(60))
private let moment = ReceiptMoment(now: now, pausedTime: .zero)
private let payload = ReceiptPayload(
  destination: "webhook", priceID: "price_1", priceMismatch: false, body: [1])
private let other = ReceiptPayload(
  destination: "webhook", priceID: "price_2", priceMismatch: false, body: [2])

private func own(_ state: ReceiptState, _ reason: Reason? = nil) -> Receipt {
  Receipt(
    id: "rcp_1", createdAt: now, state: state, reason: reason, waitUntil: state == .waiting ? later : nil,
    destination: "purchasely", body: [9], copy: ReceiptCopy(receipt: "rcp_2", destination: "webhook"))
}

private func copy() -> Receipt { .copy(id: "rcp_2", of: "rcp_1", payload, at: moment) }

private func copy(after events: ReceiptEvent...) throws -> Receipt {
  var receipt = copy()
  for event in events { try receipt.apply(event, at: moment) }
  return receipt
}

private func step(
  after own: Receipt?, isFixed: Bool = false, _ receipt: Receipt = copy()
) -> CopyStep { CopyStep(after: own, isFixed: isFixed, receipt) }

@Suite("The copy of a receipt for a second destination")
struct ReceiptCopyTests {
  @Test func `It is due at once, among the new receipts, and closed to the join`() {
    let receipt = copy()
    #expect(receipt.state == .pending)
    #expect(receipt.nextAttemptAt == now)
    #expect(!receipt.isReplay)
    #expect(receipt.copyOf == ReceiptCopy(receipt: "rcp_1", destination: "webhook"))
    #expect(receipt.twin == "rcp_1")
    #expect(receipt.contradiction == nil)
    #expect(!receipt.isOpenToJoin)
    #expect(own(.pending).twin == "rcp_2")
  }

  @Test func `A receipt has one copy, and a copy has none`() throws {
    let link = ReceiptCopy(receipt: "rcp_3", destination: "webhook")
    var first = Receipt.begin(
      id: "rcp_1",
      .ready(ReceiptPayload(destination: "purchasely", priceID: nil, priceMismatch: false, body: [9])),
      at: moment)
    try first.apply(.copied(link), at: moment)
    #expect(first.copy == link)
    #expect(first.contradiction == nil)
    #expect(throws: ReceiptRefusal.notAllowed(.pending)) { try first.apply(.copied(link), at: moment) }
    var second = copy()
    #expect(throws: ReceiptRefusal.notAllowed(.pending)) { try second.apply(.copied(link), at: moment) }
  }

  @Test func `Content that is decided again is followed until the copy may have been sent`() {
    let wait = ReceiptResolution.waiting(.context, until: later)
    #expect(step(after: own(.waiting, .context)) == .follow(wait))
    #expect(step(after: own(.waiting, .context), isFixed: true) == .nothing)
    #expect(step(after: own(.failed, .user)) == .follow(.failed(.user)))
    #expect(step(after: own(.failed, .user), isFixed: true) == .nothing)
    #expect(step(after: own(.cancelled, .paymentFailed)) == .follow(.cancelled(.paymentFailed)))
    #expect(step(after: own(.cancelled, .paymentFailed), isFixed: true) == .nothing)
  }

  @Test func `What becomes of the first at its destination says nothing about the second`() {
    for first in [
      own(.pending), own(.delivered), own(.failed, .status(422)), own(.failed, .gaveUp),
      own(.waiting, .destination),
    ] {
      #expect(step(after: first) == .send)
    }
    #expect(step(after: own(.cancelled, .byOperator)) == .nothing)
    #expect(step(after: own(.cancelled, .erased)) == .nothing)
  }

  @Test func `A sale that is not the app's ends both, even if an attempt was made`() {
    #expect(step(after: own(.cancelled, .foreign)) == .except)
    #expect(step(after: own(.cancelled, .foreign), isFixed: true) == .except)
  }

  @Test("A copy that waits for its purchase ends with it, and one that waits for its destination does not")
  func waiting() throws {
    let waits = try copy(after: .followed(.waiting(.context, until: later)))
    let cancelled = CopyStep.follow(.cancelled(.byOperator))
    #expect(step(after: own(.cancelled, .byOperator), waits) == cancelled)
    let removed = try copy(after: .withdrawn(.destination, until: later))
    #expect(step(after: own(.cancelled, .byOperator), removed) == .nothing)
    #expect(step(after: nil, removed) == .send)
  }

  @Test func `A delivered copy and a reversal follow nothing`() throws {
    let accepted = ReceiptAttempt(status: 200, cause: nil, decision: .delivered(importID: nil))
    let delivered = try copy(after: .attempted(accepted))
    #expect(step(after: own(.cancelled, .foreign), delivered) == .nothing)
    let reversal = try copy(after: .attempted(accepted), .reversed(payload))
    #expect(step(after: own(.cancelled, .foreign), reversal) == .nothing)
    var changed = reversal
    #expect(throws: ReceiptRefusal.notAllowed(.pending)) {
      try changed.apply(.followed(.ready(other)), at: moment)
    }
  }

  @Test func `A copy that waits again has no bytes, and gets those of the next decision`() throws {
    var receipt = try copy(after: .followed(.waiting(.context, until: later)))
    #expect(receipt.state == .waiting)
    #expect(receipt.body == nil)
    #expect(receipt.contradiction == nil)
    try receipt.apply(.followed(.ready(other)), at: moment)
    #expect(receipt.state == .pending)
    #expect(receipt.body == [2])
    #expect(receipt.contradiction == nil)
  }

  @Test func `A copy that an operator cancelled, or whose destination refused it, keeps its end`() throws {
    let refused = ReceiptAttempt(status: 422, cause: .status(422), decision: .failed(.status(422)))
    for event in [ReceiptEvent.cancelled(note: "x"), .attempted(refused)] {
      var receipt = try copy(after: event)
      let state = receipt.state
      #expect(throws: ReceiptRefusal.notAllowed(state)) {
        try receipt.apply(.followed(.ready(other)), at: moment)
      }
    }
  }

  @Test("No destination gets both: a copy has its own, and a receipt with a copy never has the copy's (R2)")
  func destinations() {
    let both = PurchaseDestinations(all: ["purchasely", "webhook"], present: "purchasely", second: "webhook")
    #expect(both.of(nil).present == "purchasely")
    #expect(both.of(own(.pending)).present == "purchasely")
    #expect(both.of(copy()).present == "webhook")
    let swapped = PurchaseDestinations(
      all: ["purchasely", "webhook"], present: "webhook", second: "purchasely")
    #expect(swapped.of(own(.pending)).present == "purchasely")
    #expect(swapped.of(copy()).present == "webhook")
    let webhookOnly = PurchaseDestinations(all: ["webhook"], present: "webhook")
    #expect(webhookOnly.of(own(.pending)).present == nil)
    #expect(webhookOnly.of(copy()).present == "webhook")
    let firstOnly = PurchaseDestinations(all: ["purchasely"], present: "purchasely")
    #expect(firstOnly.of(own(.pending)).present == "purchasely")
    #expect(firstOnly.of(copy()).present == nil)
  }

  @Test func `A correction of either of the two stays with its destination`() {
    let first = Receipt.correction(id: "rcp_3", of: own(.delivered), payload, at: moment)
    #expect(first.copy == own(.delivered).copy)
    let second = Receipt.correction(id: "rcp_4", of: copy(), payload, at: moment)
    #expect(second.copyOf == copy().copyOf)
    #expect(second.corrects == "rcp_2")
  }
}
