// Tests that an attempt's outcome changes log, state, budget and breaker in one transaction (R3, R9).

import Domain
import Formats
import Store
import TestSupport
import Testing

private func readyStore(_ count: Int = 1) throws -> TestStore {
  let store = try TestStore()
  for n in 0..<count {
    try store.post("blob \(n)", user: "u\(n)")
    try store.ingest(Said.completed("\(n)", user: "u\(n)", prices: ["price_1"]))
  }
  return store
}

private func attempt(
  _ store: TestStore, id: ReceiptID? = nil, _ decision: Delivery.Decision, status: Int64? = nil,
  error: String? = nil,
  response: [UInt8] = [], breaker: Breaker = Breaker(), startedAt: Timestamp? = nil
) throws -> ReceiptState? {
  try store.apply(
    RecordAttempt(
      of: try id ?? store.only().receiptID, app: "ios",
      report: AttemptReport(
        startedAt: startedAt ?? store.now, duration: .milliseconds(12), status: status, error: error,
        isAmbiguous: error != nil,
        response: response),
      decision: decision, breaker: breaker))?.state
}

@Suite("Attempts to deliver", .everyEngine)
struct AttemptTests {
  @Test func `A 2xx delivers: the import id is kept, nothing is due any more (R3)`() throws {
    let store = try readyStore()
    store.advance(5)
    #expect(try attempt(store, .delivered(importID: "imp-1"), status: 200) == .delivered)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.state == .delivered)
    #expect(receipt.importID == "imp-1")
    #expect(receipt.deliveredAt == store.now)
    #expect(receipt.attempts == 1)
    #expect(receipt.lastStatus == 200)
    #expect(receipt.nextAttemptAt == nil)
    #expect(try store.reader.due(app: "ios", now: store.after(900 * day), limit: 10).isEmpty)
    var filter = ReceiptFilter()
    filter.importID = "imp-1"
    #expect(try store.reader.receipts(filter, limit: 10).count == 1)
  }

  @Test("A failure that counts spends an attempt, one that does not spends none; both are recorded")
  func retry() throws {
    let store = try readyStore()
    #expect(try attempt(store, .retry(at: store.after(2000), spent: true), status: 500) == .pending)
    #expect(try attempt(store, .retry(at: store.after(9000), spent: false), error: "timeout") == .pending)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.attempts == 1)
    #expect(receipt.spentAttempts == 1)
    #expect(receipt.nextAttemptAt == store.after(9000))
    #expect(receipt.lastStatus == 500, "an attempt without an answer leaves the last one's")
    #expect(
      try store.reader.nextDue(AppDestination("ios", "purchasely"), isReplay: false, after: store.now)
        == store.after(9000)
    )
    let log = try #require(try store.reader.detail(receipt: receipt.id)?.attempts)
    #expect(log.map(\.number) == [1, 2])
    #expect(log.map(\.report.status) == [500, nil])
    #expect(log.map(\.report.error) == [nil, "timeout"])
    #expect(log.map(\.report.isAmbiguous) == [false, true])
    #expect(log.map(\.report.duration.milliseconds) == [12, 12])
  }

  @Test("A refusal fails with its status, and the answer's first 4 KiB are kept for the operator")
  func refused() throws {
    let store = try readyStore()
    let answer = [UInt8](repeating: 7, count: 10_000)
    #expect(try attempt(store, .failed(.status(422)), status: 422, response: answer) == .failed)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.reason == .status(422))
    #expect(receipt.attempts == 1)
    #expect(receipt.nextAttemptAt == nil)
    let kept = try store.reader.detail(receipt: receipt.id)?.attempts.first?.report.response
    #expect(kept == [UInt8](repeating: 7, count: 4096))
  }

  @Test func `A receipt that was cancelled while under way is delivered if it was accepted (R3)`() throws {
    for (decision, state) in [
      (Delivery.Decision.delivered(importID: "imp"), ReceiptState.delivered),
      (.retry(at: TestStore.start.advanced(by: .seconds(2)), spent: true), .cancelled),
      (.failed(.status(422)), .cancelled),
    ] {
      let store = try readyStore()
      let id = try #require(try store.only().receipt?.id)
      #expect(try store.apply(CancelReceipt(id: id, note: "stop")) == .done)
      #expect(try attempt(store, decision, status: 200) == state)
      let receipt = try #require(try store.only().receipt)
      #expect(receipt.state == state)
      #expect(receipt.attempts == 1)
      #expect(receipt.reason == (state == .cancelled ? .byOperator : nil))
      #expect(try store.reader.due(app: "ios", now: store.after(day), limit: 10).isEmpty)
    }
  }

  @Test("A receipt that was replayed while under way has its retry time before it, and is not given up")
  func replayedMeanwhile() throws {
    let store = try readyStore()
    let id = try store.only().receiptID
    let (began, dueAt) = (store.now, store.after(minute))
    store.advance(second)
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: dueAt)) == .done)
    #expect(try attempt(store, .failed(.gaveUp), status: 503, startedAt: began) == .pending)
    let receipt = try #require(try store.only().receipt)
    #expect(receipt.nextAttemptAt == dueAt)
    #expect(receipt.retrySince == dueAt)
    #expect(receipt.spentAttempts == 0)
    #expect(receipt.isReplay)
    #expect(receipt.lastStatus == 503)
    #expect(try store.reader.detail(receipt: id)?.attempts.count == 1)
    #expect(try attempt(store, .failed(.gaveUp), status: 503, startedAt: dueAt) == .failed)
  }

  @Test("A receipt that was deleted meanwhile is not an error, and the breaker is still stored")
  func gone() throws {
    let store = try readyStore()
    let broken = Breaker(state: .open, failures: 10, cause: .status(500))
    #expect(try attempt(store, id: "rcp_0", .delivered(importID: nil), status: 200, breaker: broken) == nil)
    #expect(try store.reader.breakers() == [AppDestination("ios", "purchasely"): broken])
  }

  @Test func `The whole breaker is restored after a restart (R9)`() throws {
    let store = try readyStore()
    let breakers = [
      Breaker(
        state: .paused, failures: 3, probeAt: store.after(1), restUntil: store.after(2),
        since: store.after(-3),
        cause: .status(403), pausedTime: .milliseconds(4)),
      Breaker(
        state: .open, failures: 10, probeAt: store.after(5), since: store.now, cause: Reason("timeout")),
      Breaker(pausedTime: .milliseconds(77)),
    ]
    for breaker in breakers {
      _ = try attempt(store, .retry(at: store.now, spent: false), breaker: breaker)
      try store.reopen()
      #expect(try store.reader.breakers()["ios"] == breaker)
      try store.apply(SaveBreaker(app: "web", breaker: breaker))
      #expect(try store.reader.breakers()["web"] == breaker)
    }
  }

  @Test func `A receipt that becomes ready during a pause does not count the time before it`() throws {
    let store = try TestStore()
    try store.apply(
      SaveBreaker(app: "ios", breaker: Breaker(state: .paused, since: store.now, pausedTime: .seconds(5))))
    store.advance(1000)
    try store.post()
    try store.ingest(.said(prices: ["price_1"]))
    #expect(try store.only().receipt?.pausedBase == .seconds(6))
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).first?.pausedBase == .seconds(6))
    try store.post(app: "web")
    try store.ingest(.said(prices: ["price_1"]), app: "web")
    #expect(
      try store.only(app: "web").receipt?.pausedBase == .zero,
      "another app's pause is not its own (R11)")
  }

  @Test func `Due receipts are read longest overdue first, per app, up to the limit`() throws {
    let store = try readyStore(5)
    let rows = try store.receipts().map(\.receiptID)
    for (offset, row) in zip([40, 10, 30, 50, 20] as [Int64], rows) {
      _ = try attempt(store, id: row, .retry(at: store.after(offset), spent: true), status: 500)
    }
    func due(_ offset: Int64, limit: Int = 10, app: AppSlug = "ios") throws -> [ReceiptID] {
      try store.reader.due(app: app, now: store.after(offset), limit: limit).map(\.id)
    }
    #expect(try due(9).isEmpty)
    #expect(try due(30) == [rows[1], rows[4], rows[2]])
    #expect(try due(30, limit: 2) == [rows[1], rows[4]])
    #expect(try due(99, app: "web").isEmpty)
    #expect(
      try store.reader.nextDue(AppDestination("ios", "purchasely"), isReplay: false, after: store.after(30))
        == store.after(40))
    #expect(
      try store.reader.nextDue(AppDestination("ios", "purchasely"), isReplay: false, after: store.after(50))
        == nil)
    #expect(try store.reader.oldestPending(app: "ios") == TestStore.start)
    #expect(try store.reader.oldestPending(app: "web") == nil)
  }

  @Test("The oldest pending receipt is found also when an attempt that did not count rescheduled it")
  func oldest() throws {
    let store = try readyStore()
    let first = try store.only().receiptID
    store.advance(hour)
    try store.post("another blob", user: "u2")
    try store.ingest(Said.completed("2", user: "u2", prices: ["price_1"], at: store.now), app: "ios")
    _ = try attempt(store, id: first, .retry(at: store.after(day), spent: false), status: 401)
    let second = try #require(try store.receipts().last)
    #expect(second.receiptID != first)
    #expect(second.receipt?.state == .pending)
    #expect(try store.reader.oldestPending(app: "ios") == TestStore.start)
    _ = try attempt(store, id: first, .delivered(importID: nil), status: 200)
    #expect(try store.reader.oldestPending(app: "ios") == second.receipt?.readyAt)
  }

  @Test func `An overdue receipt is given up only after an attempt`() throws {
    let store = try readyStore(3)
    let ids = try store.receipts().map(\.receiptID)
    _ = try attempt(store, id: ids[0], .retry(at: store.after(10), spent: true), status: 500)
    _ = try attempt(store, id: ids[1], .retry(at: store.after(90 * day), spent: true), status: 500)
    func overdue(cutoff: Int64) throws -> [ReceiptID] {
      try store.reader.overdue(
        AppDestination("ios", "purchasely"), now: store.after(8 * day), cutoff: store.after(cutoff),
        limit: 10
      )
      .map(\.id)
    }
    #expect(try overdue(cutoff: 0) == [ids[0]])
    #expect(try overdue(cutoff: -1).isEmpty)
    let cutoff = store.after(1)
    #expect(try store.apply(ReplayReceipt(id: ids[0], force: false, dueAt: store.after(2))) == .done)
    #expect(try store.apply(GiveUp(app: "ios", receipts: [ids[0]], cutoff: cutoff)) == nil, "a replay")
    #expect(try store.apply(ReplayReceipt(id: ids[0], force: false, dueAt: cutoff)) == .done)
    let gaveUp = try store.apply(GiveUp(app: "ios", receipts: [ids[0], "rcp_0"], cutoff: cutoff))
    #expect(gaveUp?.count == 1)
    #expect(try store.apply(GiveUp(app: "ios", receipts: [ids[0]], cutoff: cutoff)) == nil, "once")
    let states = try store.receipts().map(\.receipt?.state)
    #expect(states == [.failed, .pending, .pending])
    #expect(try store.receipts().first?.receipt?.reason == .gaveUp)
  }
}
