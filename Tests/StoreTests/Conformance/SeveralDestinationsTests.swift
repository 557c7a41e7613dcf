// Tests that the receipts of one app may go to different destinations, each with its own breaker.

import Domain
import Store
import TestSupport
import Testing

@Suite("Receipts of one app for several destinations", .everyEngine)
struct SeveralDestinationsTests {
  private static let first = AppDestination("ios", "purchasely")
  private static let second = AppDestination("ios", "shop")

  private func store() throws -> TestStore {
    let rules = AppRules(
      join: JoinPolicy(settle: .zero), processors: .stripe,
      destination: { $0 == "other" ? "shop" : "purchasely" }, compose: TestStore.compose)
    return try TestStore(rules: ["ios": rules])
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

  @Test("The breaker of one destination is not that of the other")
  func breakers() throws {
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

  @Test("What is due is found by processor, and an app's by all of them")
  func due() throws {
    let store = try store()
    #expect(try store.reader.pendingProcessors(of: "ios").isEmpty)
    try sell(store)
    let rows = try store.receipts().map(\.rowID)
    func due(_ processors: [ProcessorName]) throws -> [PurchaseRowID] {
      try store.reader.dueRows(app: "ios", processors, isReplay: false, now: store.now, limit: 10)
    }
    #expect(try store.reader.pendingProcessors(of: "ios") == ["other", "stripe"])
    #expect(try due(["stripe"]) == [rows[0]])
    #expect(try due(["other"]) == [rows[1]])
    #expect(try Set(due(["other", "stripe"])) == Set(rows))
    #expect(try store.reader.dueRows(app: "ios", now: store.now, limit: 10).count == 2)
    #expect(try store.reader.hasDue(app: "ios", now: store.now))
    #expect(try store.reader.oldestPending(app: "ios") != nil)
    let id = try #require(try store.receipts()[1].receipt?.id)
    _ = try store.apply(ReplayReceipt(id: id, force: false, dueAt: store.after(hour)))
    let next = { (processors: [ProcessorName]) in
      try store.reader.nextDue(app: "ios", processors, isReplay: true, after: store.now)
    }
    #expect(try next(["other"]) == store.after(hour))
    #expect(try next(["stripe"]) == nil)
    #expect(try next(["stripe", "other"]) == store.after(hour))
    #expect(try store.reader.replaysDue(app: "ios", now: store.after(hour), limit: 5) == 1)
  }

  @Test("A pause counts for the receipts of its own destination only")
  func pause() throws {
    let store = try store()
    try store.apply(SaveBreaker(Self.second, Breaker(pausedTime: .seconds(5))))
    try sell(store)
    let bases = try store.reader.due(app: "ios", now: store.now, limit: 10).sorted { $0.row < $1.row }
    #expect(bases.map(\.pausedBase) == [.zero, .seconds(5)])
  }

  @Test("After a reload only the receipts of the destination that was stopped are due at once")
  func expedite() throws {
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
