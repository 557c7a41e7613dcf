// Tests of receipts that do not go to the destination of their processor because of what was sold.

import Domain
import Store
import TestSupport
import Testing

@Suite("Receipts that their processor's destination does not get", .everyEngine)
struct DestinationExclusionTests {
  /// Everything goes to `purchasely`, except checkout sessions if there is an exclusion.
  private func rules(
    _ exclusion: DestinationExclusion?, has destinations: Set<DestinationName> = ["purchasely", "shop"]
  ) -> [AppSlug: AppRules] {
    var rules = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, destinations: destinations,
      destination: { _ in "purchasely" },
      compose: { content, name in
        destinations.contains(name) ? Array("\(name) ".utf8) + TestStore.compose(content) : nil
      })
    rules.exclusions = [exclusion].compactMap(\.self)
    return ["ios": rules]
  }

  private func excluded(to other: DestinationName?) -> DestinationExclusion {
    DestinationExclusion(from: "purchasely", .checkoutSession, instead: other, key: "one_time")
  }

  /// Stores the receipts of a checkout session and of a subscription.
  private func sell(_ store: TestStore) throws {
    try store.ingest(Said.payment("1", user: "u1"))
    try store.ingest(Said.completed("2", user: "u2", prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
  }

  @Test("A held receipt waits, whatever an operator does, and leaves when the configuration releases it")
  func held() throws {
    let store = try TestStore(rules: rules(excluded(to: nil)))
    try sell(store)
    #expect(try store.receipts().map(\.receipt?.state) == [.waiting, .pending])
    #expect(try store.receipt(0).reason == .destination)
    #expect(try store.receipt(0).body == nil)
    store.advance(90 * day)
    try store.endWaits()
    #expect(try store.receipt(0).reason == .destination)
    let id = try store.receipt(0).id
    let refused = try store.apply(ReplayReceipt(id: id, force: true, dueAt: store.now))
    #expect(refused == .lacks(.destination))
    try store.reload(rules(nil))
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(0).destination == "purchasely")
  }

  @Test("Another destination gets the excluded receipts, in its own form, and nobody while it is missing")
  func instead() throws {
    let store = try TestStore(rules: rules(excluded(to: "shop"), has: ["purchasely"]))
    try sell(store)
    #expect(try store.receipt(0).reason == .destination)
    try store.reload(rules(excluded(to: "shop")))
    #expect(try store.receipts().map(\.receipt?.destination) == ["shop", "purchasely"])
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(0).body?.starts(with: "shop u1".utf8) == true)
  }

  @Test func `A reload withdraws or redirects what is pending, and leaves other receipts alone`() throws {
    let store = try TestStore(rules: rules(nil))
    try sell(store)
    let other = try store.receipt(1)
    #expect(try store.receipts().map(\.receipt?.destination) == ["purchasely", "purchasely"])
    try store.reload(rules(excluded(to: nil)))
    #expect(try store.receipt(0).reason == .destination)
    #expect(try store.receipt(0).body == nil)
    try store.reload(rules(nil))
    try store.reload(rules(excluded(to: "shop")))
    #expect(try store.receipt(0).destination == "shop")
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(1) == other)
  }

  @Test func `A refused receipt is replayed to the destination that gets it now`() throws {
    let store = try TestStore(rules: rules(nil))
    try sell(store)
    try end(store, .failed(.status(422)))
    let id = try store.receipt(0).id
    try store.reload(rules(excluded(to: nil)))
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .lacks(.destination))
    try store.reload(rules(excluded(to: "shop")))
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try store.receipt(0).destination == "shop")
  }

  @Test(
    "An attempt that ends after its receipt was withdrawn decides nothing, unless it delivered",
    arguments: [false, true])
  func lateOutcome(isDelivered: Bool) throws {
    let store = try TestStore(rules: rules(nil))
    try sell(store)
    let sent = try store.receipt(0).body
    store.writer.use(rules: rules(excluded(to: nil)))
    try end(store, isDelivered ? .delivered(importID: nil) : .failed(.status(422)), sent: sent)
    #expect(try store.receipt(0).state == (isDelivered ? .delivered : .pending))
    try store.reload(rules(excluded(to: nil)))
    #expect(try store.receipt(0).state == (isDelivered ? .delivered : .waiting))
  }

  /// Ends an attempt to deliver the first receipt.
  private func end(_ store: TestStore, _ decision: Delivery.Decision, sent: [UInt8]? = nil) throws {
    let isDelivered = if case .delivered = decision { true } else { false }
    let report = AttemptReport(at: store.now, status: isDelivered ? 200 : 422, duration: .zero)
    _ = try store.apply(
      RecordAttempt(
        of: store.receipt(0).id, to: AppDestination("ios", "purchasely"), sent: sent, report: report,
        decision: decision, breaker: Breaker()))
  }
}
