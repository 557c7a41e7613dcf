// Tests captures in the store: one obligation for all orders of a payment, one outcome, and what erasure,
// retention, a merge and the clock do to them.

import Domain
import Store
import TestSupport
import Testing

private let place = AppProcessor("ios", "pay")
private let charged = CaptureOutcome(kind: .captured, status: 201, body: Array(#"{"id":"c1"}"#.utf8))
private let notYet = CaptureOutcome(kind: .unconfirmed, status: 412, body: Array("{}".utf8))

@Suite("Captures in the store", .everyEngine)
struct CaptureTests {
  private let store: TestStore

  init() throws {
    store = try TestStore()
    var said = Said.pay(.started, by: "u1")
    said.payment = PaymentFacts(amount: "59.99", currency: "USD", details: "x")
    _ = try store.apply(StorePayment(app: "ios", said))
  }

  private func order(_ n: String = "1", by user: UserID = "u1") throws -> OrderCapture.Outcome {
    try store.apply(OrderCapture(app: "ios", CaptureOrder(key: Said.payKey(n), user: user, grantID: "GRG_1")))
  }

  private func begun() throws -> OpenCapture {
    guard case .begun(let open, _) = try order() else { throw Unexpected() }
    return open
  }

  private struct Unexpected: Error {}

  private func newest() throws -> StoredCapture? {
    let record = try #require(try store.reader.startedPayment(Said.payKey(), app: "ios", user: "u1"))
    return try store.reader.capture(ofPurchase: record.rowID)
  }

  private func end(_ open: OpenCapture, _ outcome: CaptureOutcome) throws -> Bool {
    let report = outcome.kind == .captured ? Said.pay(.paid) : nil
    return try store.apply(EndCapture(app: "ios", open.reference, outcome, report: report))
  }

  @Test("An order is stored with its grant and its payment's facts, and a restart keeps it (R9)")
  func ordered() throws {
    store.advance(minute)
    let open = try begun()
    #expect(open.key == Said.payKey())
    #expect(open.facts.amount == "59.99")
    #expect(open.startedAt == TestStore.start)
    #expect(open.orderedAt == store.now)
    #expect(open.retryAt == store.now)
    try store.reopen()
    #expect(try store.reader.openCaptures(of: place) == [open])
    #expect(try store.reader.openCaptures(of: AppProcessor("web", "pay")).isEmpty)
    #expect(try store.reader.openCaptures(of: AppProcessor("ios", "other")).isEmpty)
    #expect(try store.integer("SELECT count(*) FROM captures WHERE grant_id = 'GRG_1'") == 1)
    #expect(try newest() == StoredCapture(orderedAt: store.now))
  }

  @Test func `All orders share an open capture, and after its end they get its outcome`() throws {
    let open = try begun()
    #expect(try order() == .joined(open))
    #expect(try end(open, charged))
    #expect(try order() == .ended(charged))
    #expect(try newest()?.outcome == charged)
    #expect(try store.reader.openCaptures(of: place).isEmpty)
    #expect(try store.integer("SELECT count(*) FROM captures") == 1)
  }

  @Test("The outcome is stored with the purchase, which gets its receipt; a second end changes nothing")
  func ended() throws {
    try store.post()
    let open = try begun()
    #expect(try end(open, charged))
    #expect(try store.status() == "pending: u1 payment pay_1 price_1 blob")
    #expect(try !end(open, CaptureOutcome(kind: .declined, status: 402, body: [])))
    #expect(try newest()?.outcome == charged)
    #expect(try store.receipts().count == 1)
  }

  @Test func `After a capture without effect another may be ordered; it is a repeat`() throws {
    let first = try begun()
    #expect(try end(first, notYet))
    store.advance(minute)
    guard case .begun(let second, let isRepeat) = try order() else { throw Unexpected() }
    #expect(isRepeat)
    #expect(second.row != first.row)
    #expect(second.orderedAt == store.now)
    #expect(try newest()?.outcome == nil)
  }

  @Test func `A payment of another user, and one that did not start at the relay, is not captured`() throws {
    #expect(try order(by: "u2") == .unknownPayment)
    #expect(try order("2") == .unknownPayment)
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.paid, "3")))
    #expect(try order("3", by: "u1") == .unknownPayment)
    #expect(try store.integer("SELECT count(*) FROM captures") == 0)
  }

  @Test func `Failures are stored while it is open`() throws {
    let open = try begun()
    let later = store.after(minute)
    try store.apply(SaveCapture(open.reference, failures: 2, retryAt: later, trouble: "timeout"))
    try store.apply(SaveCapture(open.reference, failures: 2, retryAt: later, isGivenUp: true))
    try store.apply(SaveCapture(open.reference, failures: 3, retryAt: later))
    let saved = try #require(try store.reader.openCaptures(of: place).first)
    #expect(saved.failures == 3)
    #expect(saved.retryAt == later)
    #expect(saved.isGivenUp, "once stored, it stays")
    #expect(try store.integer("SELECT count(*) FROM captures WHERE last_trouble = 'timeout'") == 1)
    #expect(try end(open, charged))
    try store.apply(SaveCapture(open.reference, failures: 9, retryAt: later))
    #expect(try store.integer("SELECT failures FROM captures") == 3)
  }

  @Test func `A user's erasure leaves an open capture, and empties one that has ended`() throws {
    let open = try begun()
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    let first = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    #expect(first.capturing == rows)
    #expect(try store.reader.openCaptures(of: place) == [open])
    #expect(try end(open, CaptureOutcome(kind: .declined, status: 402, body: Array("because-of-u1".utf8))))
    #expect(try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true)).capturing.isEmpty)
    let dump = try TestEngine.current.dump(store.folder)
    for text in ["GRG_1", "because-of-u1", "pay_1"] { #expect(!dump.contains(text), "\(text)") }
    #expect(try order() == .unknownPayment)
  }

  @Test("A corrected receipt with an open capture holds its correction, so that both are found when it ends")
  func heldCorrection() throws {
    let open = try begun()
    try store.post()
    try store.ingest(Said.pay(.paid))
    func deliver(_ id: ReceiptID) throws {
      let report = AttemptReport(at: store.now)
      _ = try store.apply(
        RecordAttempt(of: id, app: "ios", report: report, decision: .delivered(importID: nil)))
    }
    let id = try store.only().receiptID
    try deliver(id)
    let command = CorrectReceipt(id: id, userID: "right", priceID: nil, contextID: nil)
    #expect(try store.apply(command) == .done)
    try deliver(try store.receipts()[1].receiptID)
    let rows = try store.receipts().map(\.rowID)
    func found() throws -> [PurchaseRowID] {
      let own = try store.reader.purchases(ofUser: "right", limit: 9)
      return try (store.reader.purchases(behind: own) + own).map(\.row)
    }
    #expect(try found() == rows)
    let first = try store.apply(ForgetPurchases(rows: rows.reversed(), cancelsOpen: true))
    #expect(first.capturing == [rows[0]])
    #expect(first.held == [rows[1]])
    _ = try store.apply(ForgetUserRows(.names, app: "ios", userID: "right"))
    #expect(try found() == rows)
    #expect(try end(open, charged))
    let second = try store.apply(ForgetPurchases(rows: rows.reversed(), cancelsOpen: true))
    #expect(second.receipts == 2)
    #expect(second.held.isEmpty)
    #expect(try found().isEmpty)
  }

  @Test("Retention keeps a payment with an open capture, and deletes its captures with it later")
  func retention() throws {
    let open = try begun()
    store.advance(hour)
    #expect(try store.apply(RetainNoted(cutoff: store.now)).deleted == 0)
    #expect(try end(open, notYet))
    #expect(try store.apply(RetainNoted(cutoff: store.now)).deleted == 1)
    #expect(try store.integer("SELECT count(*) FROM captures") == 0)
  }

  @Test func `A delivered receipt stays while its payment has an open capture`() throws {
    let open = try begun()
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.paid)))
    try store.execute("UPDATE purchases SET state = 'delivered', reason = NULL, next_attempt_at = NULL")
    let retain = Retain(table: .receipts, cutoff: store.after(day), afterRow: 0, deletes: false)
    #expect(try store.writer.apply(retain, now: store.now).deleted == 0)
    _ = try store.writer.apply(EndCapture(app: "ios", open.reference, charged, report: nil), now: store.now)
    #expect(try store.writer.apply(retain, now: store.now).deleted == 1)
  }

  @Test(
    "An authorised payment is captured once without an order, if the rules say so", arguments: [true, false])
  func authorised(capturesItself: Bool) throws {
    let rules = AppRules(
      join: JoinPolicy(), processors: ["pay": ProcessorRules(capturesItself: capturesItself)],
      compose: { _ in [] })
    let store = try TestStore(rules: ["ios": rules])
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.started, by: "u1")))
    func say(_ seen: Observations, isCaptured: Bool?) throws -> Int64? {
      var said = Said.pay(seen)
      said.payment = PaymentFacts(isCaptured: isCaptured)
      _ = try store.apply(StorePayment(app: "ios", said))
      return try store.integer("SELECT count(*) FROM captures")
    }
    #expect(try say(.started, isCaptured: false) == 0, "it is not paid")
    #expect(try say(.paid, isCaptured: false) == (capturesItself ? 1 : 0))
    #expect(try say(.paid, isCaptured: false) == (capturesItself ? 1 : 0))
    let record = try #require(try store.reader.startedPayment(Said.payKey(), app: "ios", user: "u1"))
    let open = try store.reader.openCapture(ofPurchase: record.rowID)
    #expect((open != nil) == capturesItself)
    guard let open else { return }
    _ = try store.apply(EndCapture(app: "ios", open.reference, charged, report: nil))
    #expect(try say(.paid, isCaptured: false) == 1, "an end is an end")
    #expect(try say(.paid, isCaptured: true) == 1)
  }

  @Test func `A clock that ran ahead delays the next call for the longest pause at most`() throws {
    let rules = [
      "ios": AppRules(join: JoinPolicy(), processors: ["pay": ProcessorRules()], compose: { _ in [] })
    ]
    let store = try TestStore(rules: rules.reduce(into: [:]) { $0[AppSlug($1.key)] = $1.value })
    _ = try store.apply(StorePayment(app: "ios", Said.pay(.started, by: "u1")))
    let order = OrderCapture(app: "ios", CaptureOrder(key: Said.payKey(), user: "u1"))
    guard case .begun(let open, _) = try store.apply(order) else { throw Unexpected() }
    try store.apply(SaveCapture(open.reference, failures: 1, retryAt: store.after(30 * day)))
    _ = try store.apply(FollowClock(step: .seconds(-30)))
    let retryAt = try store.reader.openCaptures(of: place).first?.retryAt
    #expect(retryAt == store.now + Capture.longestPause)
  }
}
