// Tests that a reversal is reported once, to the destination that accepted the purchase, and that it never
// becomes the message that was accepted before (R3).

import Domain
import Store
import TestSupport
import Testing

@Suite("Reversals of delivered purchases", .everyEngine)
struct ReversalTests {
  /// The rules of an app whose destination has a form for reversals.
  private func reversible(_ destinations: Set<DestinationName> = ["shop"], _ isReversing: Bool = true)
    -> AppRules
  {
    AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, destinations: destinations,
      destination: { _ in destinations.first },
      compose: { _, name in destinations.contains(name) ? [1] : nil },
      composeReversal: { _, name in destinations.contains(name) && isReversing ? [2] : nil })
  }

  /// An app whose destination has a form for reversals, and one pending receipt.
  private func delivered(reversing: Bool = true) throws -> TestStore {
    let store = try TestStore(rules: ["ios": reversible(["shop"], reversing)])
    try store.ingest(Said.payment("1", user: "u1"))
    store.advance(hour)
    try store.endWaits()
    return store
  }

  /// - Parameter sent: the bytes that arrived; nil for those of the receipt.
  private func deliver(_ store: TestStore, sent: [UInt8]? = nil) throws {
    let report = AttemptReport(at: store.now, duration: .zero)
    let record = try store.receipts()[0]
    _ = try store.apply(
      RecordAttempt(
        of: record.receiptID, to: AppDestination("ios", "shop"), sent: sent ?? record.receipt?.body,
        report: report,
        decision: .delivered(importID: nil), breaker: Breaker()))
  }

  private func reverse(_ store: TestStore) throws {
    var report = Said.payment("1", user: "u1")
    report.observations = .reversed
    try store.ingest(report)
  }

  @Test(arguments: [false, true])
  func `A reversal is reported once, after the purchase was delivered`(isLate: Bool) throws {
    let store = try delivered()
    if !isLate { try reverse(store) }
    #expect(try store.receipt(0).body == [1], "no destination learns of it before the purchase")
    #expect(try store.receipt(0).state == .pending)
    try deliver(store)
    if isLate { try reverse(store) }
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(0).body == [2])
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).first?.isReversal == true)
    try deliver(store)
    try reverse(store)
    #expect(try store.receipt(0).state == .delivered, "only once")
  }

  @Test func `A destination without a form for reversals gets none`() throws {
    let store = try delivered(reversing: false)
    try deliver(store)
    try reverse(store)
    #expect(try store.receipt(0).state == .delivered)
    #expect(try store.receipt(0).body == [1])
  }

  @Test func `A reversal is not sent for a receipt that no destination has accepted`() throws {
    let store = try delivered()
    try reverse(store)
    #expect(try store.receipt(0).isReversal == false)
    _ = try store.apply(CancelReceipt(id: store.receipt(0).id, note: ""))
    try reverse(store)
    #expect(try store.receipt(0).state == .cancelled, "the destination does not know the purchase")
  }

  @Test(
    "A reversal waits for the destination that accepted the purchase, which gets only the reversal (R3)",
    arguments: [[], ["purchasely"]] as [Set<DestinationName>])
  func removedBeforeReversal(present: Set<DestinationName>) throws {
    let store = try delivered()
    try deliver(store)
    try reverse(store)
    try store.reload(["ios": reversible(present)])
    #expect(try store.receipt(0).state == .waiting)
    #expect(try store.receipt(0).reason == .destination)
    store.advance(90 * day)
    try store.endWaits()
    try reverse(store)
    #expect(try store.receipt(0).state == .waiting, "for as long as it is not there")
    let id = try store.receipt(0).id
    let replay = ReplayReceipt(id: id, force: true, dueAt: store.now)
    #expect(try store.apply(replay) == .lacks(.destination), "no other destination learns of it")
    let complete = CompleteReceipt(id: id, userID: nil, priceID: nil, contextID: nil)
    #expect(try store.apply(complete) == .notAllowed(.waiting))
    try store.reopen()
    try store.reload(["ios": reversible()])
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(0).body == [2])
    #expect(try store.receipt(0).isReversal)
    try deliver(store)
    #expect(try store.receipt(0).state == .delivered)
    #expect(try store.reader.contradictions().isEmpty)
  }

  @Test("A reversal that failed is replayed to its destination, also if receipts go elsewhere now")
  func replayed() throws {
    let store = try delivered()
    try deliver(store)
    try reverse(store)
    let id = try store.receipt(0).id
    _ = try store.apply(CancelReceipt(id: id, note: ""))
    let elsewhere = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, destinations: ["shop", "purchasely"],
      destination: { _ in "purchasely" }, compose: { _, _ in [1] }, composeReversal: { _, _ in [3] })
    store.writer.use(rules: ["ios": elsewhere])
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try store.receipt(0).destination == "shop")
    #expect(try store.receipt(0).body == [2])
  }

  @Test func `A reversal that arrived while its destination was removed is not sent again (R3)`() throws {
    let store = try delivered()
    try deliver(store)
    try reverse(store)
    let sent = try store.receipt(0).body
    try store.reload(["ios": reversible([])])
    try deliver(store, sent: sent)
    try store.reload(["ios": reversible()])
    try reverse(store)
    #expect(try store.receipt(0).state == .delivered)
    #expect(try store.receipt(0).body == [2])
  }
}
