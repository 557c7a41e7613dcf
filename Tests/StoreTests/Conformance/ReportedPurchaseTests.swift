// Tests of purchases in app stores that a client reports: one receipt for each, for one user, without a join.

import Domain
import Store
import TestSupport
import Testing

@Suite("A reported purchase in an app store", .everyEngine)
struct ReportedPurchaseTests {
  private static func key(_ id: ObjectID, _ processor: ProcessorName = "app_store") -> PurchaseKey {
    PurchaseKey(processor: processor, type: "original_transaction", id: id)
  }

  private func command(
    _ id: ObjectID = "1000", user: UserID = "u1", product: PriceID = "premium", context: String? = nil,
    processor: ProcessorName = "app_store", app: AppSlug = "ios", at store: TestStore
  ) -> IngestStorePurchase {
    let report = PurchaseReport(
      key: Self.key(id, processor), observations: [.paid, .soldByStore],
      context: context.map { ContextBlob(text: $0, priceID: nil) }, prices: [product], startedBy: user,
      payment: PaymentFacts(details: #"{"original_transaction_id":"\#(id)"}"#), happenedAt: store.now)
    return IngestStorePurchase(app: app, userID: user, report: report)
  }

  private func deliver(_ store: TestStore, _ id: ReceiptID) throws {
    let report = AttemptReport(at: store.now, duration: .zero)
    _ = try store.apply(
      RecordAttempt(of: id, app: "ios", report: report, decision: .delivered(importID: "imp-1")))
  }

  @Test func `Its receipt is ready at once, also in an app that holds receipts without a context`() throws {
    for app: AppSlug in ["ios", "held"] {
      let store = try TestStore()
      let outcome = try store.apply(command(app: app, at: store))
      #expect(try store.status(app: app) == "pending: u1 original_transaction 1000 premium -")
      let record = try store.only()
      guard case .stored(let stored) = outcome else {
        Issue.record("\(outcome)")
        continue
      }
      #expect(stored.receiptID == record.receiptID)
      #expect(stored.state == .pending)
      #expect(stored.productID == "premium")
      #expect(stored.receivedAt == store.now)
      #expect(try store.reader.due(app: app, now: store.now, limit: 10).map(\.processor) == ["app_store"])
    }
  }

  @Test("The same user's repeat changes nothing and shows the state, also after a restart (R2, R9)")
  func repeats() throws {
    let store = try TestStore()
    guard case .stored(let stored) = try store.apply(command(at: store)) else {
      Issue.record("it was not stored")
      return
    }
    store.advance(minute)
    let before = try store.only()
    #expect(try store.apply(command(product: "other", at: store)) == .repeated(stored))
    #expect(try store.only() == before)
    try deliver(store, stored.receiptID)
    try store.reopen()
    var delivered = stored
    delivered.state = .delivered
    #expect(try store.apply(command(at: store)) == .repeated(delivered))
    #expect(try store.receipts().count == 1)
  }

  @Test func `Another user does not get it, whatever its state`() throws {
    let store = try TestStore()
    try store.apply(command(at: store))
    #expect(try store.apply(command(user: "u2", at: store)) == .otherUser)
    try deliver(store, try store.only().receiptID)
    let before = try store.only()
    #expect(try store.apply(command(user: "u2", at: store)) == .otherUser)
    #expect(try store.only() == before)
  }

  @Test func `The same id in another store, or in another app, is another purchase`() throws {
    let store = try TestStore()
    try store.apply(command(at: store))
    try store.apply(command(user: "u2", processor: "play_store", at: store))
    try store.apply(command(user: "u3", app: "web", at: store))
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", "u2", "u3"])
  }

  @Test("No context of the user is joined to it, neither before nor after, nor counted as missing")
  func contexts() throws {
    let store = try TestStore()
    let posted = try store.post("blob", user: "u1", price: "premium")
    try store.apply(command(at: store))
    try store.apply(command("2000", context: "blob", at: store))
    try store.post("later", user: "u1")
    store.advance(hour)
    try store.endWaits()
    #expect(
      try store.receipts().map(TestStore.status) == [
        "pending: u1 original_transaction 1000 premium -",
        "pending: u1 original_transaction 2000 premium blob",
      ])
    #expect(try !store.context(posted).isClaimed)
    let tally = try store.reader.joinTally(app: "ios", last: 24, now: store.now)
    #expect(tally.total == 0)
    #expect(tally.contexts == 2)
    #expect(tally.unclaimed == 2)
    try store.checkInvariants()
    // A web checkout of the user gets the context.
    try store.ingest(Said.completed("1", user: "u1", prices: ["premium"]))
    #expect(try store.receipts().last?.purchase.context != nil)
  }

  @Test func `After a correction it is the other user's`() throws {
    let store = try TestStore()
    try store.apply(command(at: store))
    let id = try store.only().receiptID
    try deliver(store, id)
    #expect(try store.apply(CorrectReceipt(id: id, userID: "u2", priceID: nil, contextID: nil)) == .done)
    #expect(try store.apply(command(at: store)) == .otherUser)
    guard case .repeated(let stored) = try store.apply(command(user: "u2", at: store)) else {
      Issue.record("the correction's user was refused")
      return
    }
    #expect(stored.receiptID != id)
    #expect(stored.state == .pending)
    let body = try #require(try store.receipts().last?.receipt?.body)
    #expect(String(decoding: body, as: UTF8.self) == "u2 original_transaction 1000 premium -")
  }

  @Test func `Nothing of an erased user's purchase is left, and it is not taken again`() throws {
    let store = try TestStore()
    let report = command("id-of-jane", user: "user-jane", product: "gold", context: "blob-of-jane", at: store)
    try store.apply(report)
    try deliver(store, try store.only().receiptID)
    let row = try store.only().rowID
    let outcome = try store.apply(ForgetPurchases(rows: [row], cancelsOpen: false))
    #expect(outcome.receipts == 1)
    let dump = try TestEngine.current.dump(store.folder)
    #expect(dump.contains("purchases: "))
    for text in ["id-of-jane", "user-jane", "blob-of-jane"] { #expect(!dump.contains(text), "\(text)") }
    #expect(try store.apply(report) == .gone)
    #expect(
      try store.apply(command("id-of-jane", user: "u2", at: store)) == .gone,
      "nobody else gets what was a user's")
    #expect(try store.receipts().count == 1)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `Without a destination it waits for one, and is sent when there is one`() throws {
    func rules(_ names: Set<DestinationName>) -> [AppSlug: AppRules] {
      [
        "ios": AppRules(
          join: JoinPolicy(settle: .zero), processors: .several, destinations: names,
          destination: { _ in names.first },
          compose: { content, _ in TestStore.compose(content) })
      ]
    }
    let store = try TestStore(rules: rules([]))
    try store.apply(command(at: store))
    #expect(try store.status() == "waiting/destination")
    #expect(try store.apply(command(user: "u2", at: store)) == .otherUser)
    try store.reload(rules(["purchasely"]))
    #expect(try store.status() == "pending: u1 original_transaction 1000 premium -")
  }
}
