// Tests that the receipts of one app may go to different destinations, each with its own breaker.

import Domain
import Store
import TestSupport
import Testing

@Suite("Receipts of one app for several destinations", .everyEngine)
struct SeveralDestinationsTests {
  private static let first = AppDestination("ios", "purchasely")
  private static let second = AppDestination("ios", "shop")

  /// The purchases of `other` go to `shop`, those of other processors to `purchasely`, if the app has them.
  private func rules(_ destinations: Set<DestinationName>) -> [AppSlug: AppRules] {
    [
      "ios": AppRules(
        join: JoinPolicy(settle: .zero), processors: .several, destinations: destinations,
        destination: { processor in
          let name: DestinationName = processor == "other" ? "shop" : "purchasely"
          return destinations.contains(name) ? name : nil
        },
        compose: { content, name in
          destinations.contains(name) ? Array("\(name) ".utf8) + TestStore.compose(content) : nil
        })
    ]
  }

  private func store(_ destinations: Set<DestinationName> = ["purchasely", "shop"]) throws -> TestStore {
    try TestStore(rules: rules(destinations))
  }

  /// Stores one pending receipt of each processor.
  private func sell(_ store: TestStore) throws {
    try store.ingest(Said.payment("1", user: "u1"))
    var other = Said.payment("1", user: "u2")
    other.key.processor = "other"
    try store.ingest(other)
    store.advance(hour)
    try store.endWaits()
    #expect(try store.receipts().map(\.receipt?.state) == [.pending, .pending])
  }

  @Test func `The breaker of one destination is not that of the other`() throws {
    let store = try store()
    let open = Breaker(state: .open, failures: 3, cause: .status(503))
    let paused = Breaker(state: .paused, cause: .status(403))
    try store.apply(SaveBreaker(Self.second, open))
    #expect(try store.reader.breakers() == [Self.second: open])
    try store.apply(SaveBreaker(Self.first, Breaker()))
    #expect(try store.reader.breakers() == [Self.second: open, Self.first: Breaker()])
    #expect(try store.reader.breakers().worst(of: "ios", now: store.now)?.destination == "shop")
    try store.apply(SaveBreaker(Self.first, paused))
    #expect(try store.reader.breakers().worst(of: "ios", now: store.now)?.breaker == paused)
    #expect(try store.reader.breakers().worst(of: "web", now: store.now) == nil)
  }

  @Test func `What is due is found by destination`() throws {
    let store = try store()
    #expect(try store.reader.pendingDestinations(of: "ios").isEmpty)
    try sell(store)
    let rows = try store.receipts().map(\.rowID)
    func due(_ place: AppDestination) throws -> [PurchaseRowID] {
      try store.reader.dueRows(place, isReplay: false, now: store.now, limit: 10)
    }
    #expect(try store.reader.pendingDestinations(of: "ios") == ["purchasely", "shop"])
    #expect(try due(Self.first) == [rows[0]])
    #expect(try due(Self.second) == [rows[1]])
    #expect(try store.reader.hasDue(app: "ios", now: store.now))
    #expect(try store.reader.oldestPending(app: "ios") != nil)
    let id = try store.receipt(1).id
    _ = try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.after(hour)))
    let next = { (place: AppDestination) in
      try store.reader.nextDue(place, isReplay: true, after: store.now)
    }
    #expect(try next(Self.second) == store.after(hour))
    #expect(try next(Self.first) == nil)
    #expect(try store.reader.replaysDue(app: "ios", now: store.after(hour), limit: 5) == 1)
  }

  @Test("A receipt without a destination waits for one, and leaves with the reload that adds it")
  func waits() throws {
    let store = try store(["purchasely"])
    var other = Said.payment("1", user: "u2")
    other.key.processor = "other"
    try store.ingest(other)
    store.advance(hour)
    try store.endWaits()
    #expect(try store.receipt(0).state == .waiting)
    #expect(try store.receipt(0).reason == .destination)
    #expect(try store.receipt(0).body == nil)
    store.advance(90 * day)
    try store.endWaits()
    #expect(try store.receipt(0).reason == .destination, "for as long as there is none")
    let refused = try store.apply(ReplayReceipt(id: store.receipt(0).id, force: true, dueAt: store.now))
    #expect(refused == .lacks(.destination))
    try store.reload(rules(["purchasely", "shop"]))
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(0).destination == "shop")
    #expect(try store.receipt(0).body?.starts(with: "shop u2".utf8) == true)
  }

  @Test func `A pending receipt whose destination is removed waits for another, and gets its bytes`() throws {
    let store = try store()
    try sell(store)
    try store.reload(rules(["purchasely"]))
    #expect(try store.receipts().map(\.receipt?.state) == [.pending, .waiting])
    #expect(try store.receipt(1).reason == .destination)
    #expect(try store.receipt(1).body == nil)
    try store.reload(rules(["purchasely", "shop"]))
    #expect(try store.receipts().map(\.receipt?.state) == [.pending, .pending])
    #expect(try store.receipt(1).destination == "shop")
  }

  @Test func `A pending receipt goes to the present destination if its own is removed`() throws {
    let store = try store()
    try sell(store)
    let all = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, to: "shop", compose: { _ in [7] })
    try store.reload(["ios": all])
    #expect(try store.receipt(0).destination == "shop")
    #expect(try store.receipt(0).body == [7])
    #expect(try store.receipt(0).state == .pending)
    #expect(try store.receipt(1).body != [7], "its destination is still there, so its bytes stay (R4)")
  }

  @Test func `A replay sends the bytes of the present destination`() throws {
    let store = try store()
    try sell(store)
    let id = try store.receipt(0).id
    _ = try store.apply(CancelReceipt(id: id, note: ""))
    let all = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe, to: "shop", compose: { _ in [7] })
    try store.reload(["ios": all])
    #expect(try store.receipt(0).destination == "purchasely", "nothing that ended is redirected")
    #expect(try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.now)) == .done)
    #expect(try store.receipt(0).destination == "shop")
    #expect(try store.receipt(0).body == [7])
  }

  @Test(
    "An attempt that ends after its destination was removed decides nothing, unless it delivered",
    arguments: [false, true])
  func lateOutcome(isDelivered: Bool) throws {
    let store = try store()
    try sell(store)
    let record = try store.receipts()[1]
    let sent = try #require(record.receipt?.body)
    try store.reload(rules(["purchasely"]))
    let report = AttemptReport(at: store.now, status: isDelivered ? 200 : 500, duration: .zero)
    let decision: Delivery.Decision =
      isDelivered ? .delivered(importID: nil) : .retry(at: store.after(minute), spent: true)
    _ = try store.apply(
      RecordAttempt(
        of: record.receiptID, to: Self.second, sent: sent, report: report, decision: decision,
        breaker: Breaker()))
    #expect(try store.receipt(1).state == (isDelivered ? .delivered : .waiting))
    #expect(try store.receipt(1).body == (isDelivered ? sent : nil))
  }

  @Test func `A pause counts for the receipts of its own destination only`() throws {
    let store = try store()
    try store.apply(SaveBreaker(Self.second, Breaker(pausedTime: .seconds(5))))
    try sell(store)
    let bases = try store.reader.due(app: "ios", now: store.now, limit: 10).sorted { $0.row < $1.row }
    #expect(bases.map(\.pausedBase) == [.zero, .seconds(5)])
  }

  @Test func `After a reload only the receipts of the destination that was stopped are due at once`() throws {
    let store = try store()
    try sell(store)
    for receipt in try store.receipts().compactMap(\.receipt) {
      _ = try store.apply(ReplayReceipt(id: receipt.id, force: false, dueAt: store.after(hour)))
    }
    try store.apply(SaveBreaker(Self.second, Breaker(state: .open, since: store.now)))
    try store.apply(Expedite(app: "ios", pause: .milliseconds(hour)))
    #expect(try store.receipts().map(\.receipt?.nextAttemptAt) == [store.after(hour), store.now])
  }
}
