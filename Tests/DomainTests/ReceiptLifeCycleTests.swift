// Tests the whole life cycle of receipts: every event in every state, the properties afterwards, and the
// diagram in ARCHITECTURE.

import FoundationEssentials
import Testing

@testable import Domain

private let now = Timestamp(unixMilliseconds: 1_800_000_000_000)
private let later = now.advanced(by: .seconds(60))
private let moment = ReceiptMoment(now: now, pausedTime: .seconds(7))
private let payload = ReceiptPayload(
  destination: "purchasely", priceID: "price_1", priceMismatch: false, body: [1])
private let other = ReceiptPayload(destination: "webhook", priceID: nil, priceMismatch: true, body: [2])

/// A receipt for each column of the table. A receipt that failed or was cancelled by the join is open to
/// later events; one that ended otherwise is not. A reversal follows a delivery.
private func sample(_ column: String) -> Receipt {
  func receipt(_ state: ReceiptState, _ reason: Reason?) -> Receipt {
    var receipt = Receipt(
      id: "rcp_1", createdAt: now, state: state, reason: reason, attempts: 3, spentAttempts: 2)
    if state == .waiting { receipt.waitUntil = later }
    if state == .pending || state == .delivered || column.hasSuffix("sent") {
      receipt.destination = "purchasely"
      receipt.body = [9]
      receipt.readyAt = now - .seconds(5)
      receipt.retrySince = now - .seconds(5)
    }
    if state == .pending { receipt.nextAttemptAt = later }
    if state == .delivered { receipt.deliveredAt = now }
    if column.hasSuffix("reversal") {
      receipt = Receipt(
        id: "rcp_1", createdAt: now, state: state, reason: reason, waitUntil: receipt.waitUntil,
        destination: "purchasely", isReversal: true, body: [9], attempts: 3, spentAttempts: 2,
        readyAt: now - .seconds(5), retrySince: now - .seconds(5), nextAttemptAt: receipt.nextAttemptAt,
        deliveredAt: now)
    }
    return receipt
  }
  return switch column {
  case "waiting": receipt(.waiting, .price)
  case "pending": receipt(.pending, nil)
  case "delivered": receipt(.delivered, nil)
  case "failed/join": receipt(.failed, .price)
  case "failed/sent": receipt(.failed, .gaveUp)
  case "cancelled/join": receipt(.cancelled, .sessionExpired)
  case "cancelled/sent": receipt(.cancelled, .byOperator)
  case "waiting/reversal": receipt(.waiting, .destination)
  case "pending/reversal": receipt(.pending, nil)
  case "delivered/reversal": receipt(.delivered, nil)
  case "failed/reversal": receipt(.failed, .gaveUp)
  default: fatalError("no such column: \(column)")
  }
}

private func attempt(_ decision: Delivery.Decision, status: Int64 = 500) -> ReceiptEvent {
  .attempted(ReceiptAttempt(status: status, cause: .status(Int(status)), decision: decision))
}

private let events: [ReceiptEvent] = [
  .resolved(.waiting(.user, until: later)), .resolved(.ready(payload)), .resolved(.failed(.user)),
  .resolved(.cancelled(.paymentFailed)), .postponed(until: later), .withdrawn(.context, until: later),
  .redirected(other), .recomposed(other), .foundSent(SentReceipt(to: "purchasely", body: [5], content: nil)),
  .contextDisputed,
  .reversed(other), attempt(.delivered(importID: "imp_1"), status: 200),
  attempt(.retry(at: later, spent: true)),
  attempt(.failed(.status(422)), status: 422), .gaveUp, .replayed(dueAt: now, force: false, payload: payload),
  .replayed(dueAt: now, force: true, payload: payload),
  .replayed(dueAt: now, force: true, payload: nil), .cancelled(note: "why"),
  .excepted, .completed(payload, changesContext: true), .corrected(by: "rcp_2"),
  .copied(ReceiptCopy(receipt: "rcp_2", destination: "webhook")), .followed(.ready(other)),
  .erased(cancelsOpen: true),
  .erased(cancelsOpen: false),
]

/// The name of an event's row. The switch is exhaustive, so a new event does not compile without a name.
private func name(_ event: ReceiptEvent) -> String {
  switch event {
  case .resolved(.waiting): "resolved waiting"
  case .resolved(.ready): "resolved ready"
  case .resolved(.failed): "resolved failed"
  case .resolved(.cancelled): "resolved cancelled"
  case .postponed: "postponed"
  case .withdrawn: "withdrawn"
  case .redirected: "redirected"
  case .recomposed: "recomposed"
  case .foundSent: "found sent"
  case .contextDisputed: "context disputed"
  case .attempted(let attempt):
    switch attempt.decision {
    case .delivered: "attempted, delivered"
    case .retry: "attempted, retry"
    case .failed: "attempted, failed"
    }
  case .gaveUp: "gave up"
  case .reversed: "reversed"
  case .replayed(_, let force, let payload):
    payload == nil ? "replayed as it was" : force ? "replayed with force" : "replayed"
  case .cancelled: "cancelled"
  case .excepted: "excepted"
  case .completed: "completed"
  case .corrected: "corrected"
  case .copied: "copied"
  case .followed: "followed"
  case .erased(let cancelsOpen): cancelsOpen ? "erased" : "erased, not open ones"
  }
}

private func outcome(of event: ReceiptEvent, on receipt: Receipt) -> Receipt? {
  var changed = receipt
  do throws(ReceiptRefusal) {
    try changed.apply(event, at: moment)
    return changed
  } catch {
    return nil
  }
}

@Suite("The life cycle of receipts")
struct ReceiptLifeCycleTests {
  @Test func `The table names every event and every state`() {
    #expect(ReceiptTable.rows.map(\.event).sorted() == events.map(name).sorted())
    #expect(ReceiptTable.rows.allSatisfy { $0.cells.count == 11 })
    let states = Set(ReceiptTable.rows[0].cells.map { sample($0.column).state })
    #expect(states == Set(ReceiptState.allCases))
  }

  @Test(arguments: ReceiptTable.rows.flatMap(\.cells))
  func `Each event leads each state to the table's next state`(cell: ReceiptTable.Cell) throws {
    let event = try #require(events.first { name($0) == cell.event })
    let before = sample(cell.column)
    #expect(outcome(of: event, on: before)?.state.rawValue ?? "-" == cell.state)
  }

  @Test(arguments: ReceiptTable.rows.flatMap(\.cells))
  func `No event leaves a receipt that contradicts its state`(cell: ReceiptTable.Cell) throws {
    let event = try #require(events.first { name($0) == cell.event })
    let before = sample(cell.column)
    #expect(before.contradiction == nil)
    #expect(outcome(of: event, on: before)?.contradiction == nil)
  }

  @Test(
    arguments: ReceiptTable.rows.flatMap(\.cells).filter { cell in
      cell.column.hasSuffix("reversal") && cell.state != "-" && cell.event != "found sent"
    })
  func `A reversal never becomes the message that was accepted before (R3)`(cell: ReceiptTable.Cell) throws {
    let event = try #require(events.first { name($0) == cell.event })
    let receipt = try #require(outcome(of: event, on: sample(cell.column)))
    #expect(receipt.isReversal)
    #expect(cell.event == "reversed" || receipt.body == [9])
    #expect(receipt.destination == "purchasely" || cell.event == "reversed")
  }

  @Test func `A refusal changes nothing and gives its reason`() throws {
    var delivered = sample("delivered")
    #expect(throws: ReceiptRefusal.notAllowed(.delivered)) {
      try delivered.apply(.cancelled(note: "x"), at: moment)
    }
    #expect(delivered == sample("delivered"))
    var waiting = sample("waiting")
    #expect(throws: ReceiptRefusal.hasNoBody) {
      try waiting.apply(.replayed(dueAt: now, force: true, payload: nil), at: moment)
    }
    #expect(waiting == sample("waiting"))
  }

  @Test func `A receipt that becomes due for any cause has its whole retry budget`() throws {
    let due: [(String, ReceiptEvent)] = [
      ("waiting", .resolved(.ready(payload))), ("waiting", .completed(payload, changesContext: false)),
      ("failed/sent", .replayed(dueAt: now, force: false, payload: nil)),
      ("delivered", .replayed(dueAt: now, force: true, payload: nil)),
      ("waiting", .foundSent(SentReceipt(to: "purchasely", body: [5], content: nil))),
    ]
    for (column, event) in due {
      let receipt = try #require(outcome(of: event, on: sample(column)))
      #expect(receipt.spentAttempts == 0)
      #expect(receipt.retrySince == now)
      #expect(receipt.pausedBase == .seconds(7))
      #expect(receipt.nextAttemptAt == now)
      #expect(receipt.attempts == 3, "the history is kept")
    }
  }

  @Test func `A replay is due at the time that it names, and its budget begins then`() throws {
    let event = ReceiptEvent.replayed(dueAt: later, force: false, payload: nil)
    let receipt = try #require(outcome(of: event, on: sample("failed/sent")))
    #expect(receipt.nextAttemptAt == later)
    #expect(receipt.retrySince == later)
    #expect(receipt.isReplay)
    let past = ReceiptEvent.replayed(dueAt: now - .milliseconds(1), force: false, payload: nil)
    #expect(outcome(of: past, on: sample("failed/sent"))?.nextAttemptAt == now)
  }

  @Test func `A replay sends the same bytes as before, even if new data is known`() {
    let event = ReceiptEvent.replayed(dueAt: now, force: false, payload: payload)
    #expect(outcome(of: event, on: sample("failed/sent"))?.body == [9])
    let elsewhere = ReceiptEvent.replayed(dueAt: now, force: false, payload: other)
    #expect(outcome(of: elsewhere, on: sample("failed/sent"))?.body == [2], "another destination's bytes")
    #expect(outcome(of: elsewhere, on: sample("failed/sent"))?.destination == "webhook")
    #expect(outcome(of: elsewhere, on: sample("failed/join"))?.body == [2])
  }

  @Test func `An attempt that says nothing about the destination keeps the cause of the one before`() throws {
    var receipt = sample("pending")
    try receipt.apply(attempt(.retry(at: later, spent: true)), at: moment)
    let silent = ReceiptAttempt(status: nil, cause: nil, decision: .retry(at: later, spent: false))
    try receipt.apply(.attempted(silent), at: moment)
    #expect(receipt.lastCause == .status(500))
    #expect(receipt.lastStatus == 500)
    #expect(receipt.spentAttempts == 3)
    #expect(receipt.attempts == 4)
  }

  @Test("An attempt that fails after an operator cancelled the receipt counts and changes no state")
  func cancelledMeanwhile() throws {
    let receipt = try #require(outcome(of: attempt(.failed(.status(422))), on: sample("cancelled/sent")))
    #expect(receipt.reason == .byOperator)
    #expect(receipt.attempts == 4)
  }

  @Test func `Only an operator's choice of another context ends a dispute`() throws {
    let disputed = try #require(outcome(of: .contextDisputed, on: sample("cancelled/sent")))
    #expect(disputed.contextDisputed)
    for changesContext in [false, true] {
      let completed = ReceiptEvent.completed(payload, changesContext: changesContext)
      #expect(outcome(of: completed, on: disputed)?.contextDisputed == !changesContext)
    }
  }

  @Test func `A corrected receipt is never sent again, and is corrected once`() throws {
    let corrected = try #require(outcome(of: .corrected(by: "rcp_2"), on: sample("delivered")))
    #expect(corrected.correctedBy == "rcp_2")
    let events: [ReceiptEvent] = [
      .corrected(by: "rcp_3"), .replayed(dueAt: now, force: true, payload: nil), .reversed(other),
    ]
    for event in events {
      var receipt = corrected
      #expect(throws: ReceiptRefusal.isCorrected) { try receipt.apply(event, at: moment) }
      #expect(receipt == corrected)
    }
  }

  @Test func `A correction is due now, after new receipts, and closed to the join`() throws {
    var receipt = Receipt.correction(id: "rcp_2", of: sample("delivered"), payload, at: moment)
    #expect(receipt.state == .pending)
    #expect(receipt.corrects == "rcp_1")
    #expect(receipt.isReplay)
    #expect(receipt.nextAttemptAt == now)
    #expect(receipt.contradiction == nil)
    #expect(!receipt.isOpenToJoin)
    try receipt.apply(.withdrawn(.destination, until: later), at: moment)
    #expect(receipt.isOpenToJoin, "it waits for its destination")
  }

  @Test func `A new receipt has the join's decision`() {
    let waiting = Receipt.begin(id: "rcp_2", .waiting(.user, until: later), at: moment)
    #expect(waiting.reason == .user)
    #expect(waiting.waitUntil == later)
    let ready = Receipt.begin(id: "rcp_2", .ready(payload), at: moment)
    #expect(ready.state == .pending)
    #expect(ready.reason == nil)
    #expect(ready.body == [1])
    #expect(ready.readyAt == now)
    #expect(Receipt.begin(id: "rcp_2", .failed(.user), at: moment).contradiction == nil)
  }

  /// Every state change that the function makes, as edges of the diagram.
  static var edges: Set<String> {
    var edges: Set<String> = []
    for cell in ReceiptTable.rows.flatMap(\.cells) where cell.state != "-" {
      let from = sample(cell.column).state.rawValue
      if from != cell.state { edges.insert("\(from) --> \(cell.state)") }
    }
    let resolutions: [ReceiptResolution] = [
      .waiting(.user, until: later), .ready(payload), .failed(.user), .cancelled(.sessionExpired),
    ]
    for resolution in resolutions {
      edges.insert("[*] --> \(Receipt.begin(id: "rcp_2", resolution, at: moment).state.rawValue)")
    }
    return edges
  }

  @Test func `The diagram in ARCHITECTURE equals the life cycle`() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try #require(FileManager.default.contents(atPath: "\(root.path)/ARCHITECTURE.md"))
    let text = try #require(String(validating: page, as: UTF8.self))
    let drawing = text.split(separator: "\n").drop { $0 != "stateDiagram-v2" }.dropFirst()
    let drawn = drawing.prefix { $0 != "```" }.map { line in
      line.prefix { $0 != ":" }.split(separator: " ").joined(separator: " ")
    }
    #expect(Set(drawn).symmetricDifference(Self.edges).sorted() == [])
    #expect(drawn.count == Set(drawn).count, "each edge is drawn once")
  }
}
