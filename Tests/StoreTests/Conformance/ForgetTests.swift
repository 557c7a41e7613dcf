// Tests the erasure of a user: no personal data remains, and a repeated event is still recognized (R2).

import Domain
import Store
import TestSupport
import Testing

@Suite("A user who is forgotten", .everyEngine)
struct ForgetTests {
  /// All personal data of the user below.
  static let personal = [
    "user-jane", "blob-of-jane", "cus_jane", "sub_jane", "cs_jane", "evt_jane", "answer-jane", "imp-jane",
    "note-jane",
  ]

  /// A user with a delivered purchase, its context, events and answer, and an unused context.
  static func store() throws -> (store: TestStore, row: PurchaseRowID, context: ContextID) {
    let store = try TestStore()
    let context = try store.post("blob-of-jane", user: "user-jane", price: "price_1")
    try store.ingest(Said.completed("jane", user: "user-jane", prices: ["price_1"]), id: "evt_jane1")
    try store.ingest(Said.created("jane", user: "user-jane"), id: "evt_jane2")
    let record = try store.only()
    let report = AttemptReport(
      startedAt: store.now, duration: .milliseconds(5), status: 200, error: nil, isAmbiguous: false,
      response: Array("answer-jane".utf8))
    _ = try store.apply(
      RecordAttempt(
        of: record.receiptID, app: "ios", report: report, decision: .delivered(importID: "imp-jane")))
    try store.post("another blob-of-jane", user: "user-jane")
    return (store, record.rowID, context)
  }

  private func forget(_ store: TestStore, cancelsOpen: Bool = false) throws -> ForgetPurchases.Outcome {
    let rows = try store.reader.purchases(ofUser: "user-jane", limit: 100).map(\.row)
    let outcome = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: cancelsOpen))
    _ = try store.apply(ForgetUserRows(.contexts, app: "ios", userID: "user-jane"))
    return outcome
  }

  @Test func `No data of the user is left in the tables, and the counts stay`() throws {
    let (store, _, context) = try Self.store()
    let tables = ["contexts", "purchases", "events", "attempts", "receipt_counts", "delivery_counts"]
    let before = try tables.map { try store.integer("SELECT count(*) FROM \($0)") }
    let outcome = try forget(store)
    #expect(outcome.receipts == 1)
    #expect(outcome.events == 2)
    #expect(outcome.open.isEmpty)
    #expect(outcome.cancelled == 0)
    #expect(try tables.map { try store.integer("SELECT count(*) FROM \($0)") } == before)
    #expect(try store.only().receipt?.state == .delivered)
    let dump = try TestEngine.current.dump(store.folder)
    #expect(dump.contains("purchases: "))
    for text in Self.personal + [context.text] { #expect(!dump.contains(text), "\(text)") }
    #expect(try store.reader.purchases(ofUser: "user-jane", limit: 1).isEmpty)
    #expect(try store.reader.appsWithContexts(ofUser: "user-jane").isEmpty)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `A repeated event is recognised, makes no second receipt and stores nothing (R2)`() throws {
    let (store, _, context) = try Self.store()
    _ = try forget(store)
    try store.reopen()
    #expect(try store.ingest(Said.completed("jane", user: "user-jane"), id: "evt_jane1") == .repeated)
    // For the subscription, for its session only, and for both.
    let later = [
      Said.invoice("jane", user: "user-jane"),
      Said.session("jane", .paid, named: false),
      Said.completed("jane", user: "user-jane", contextID: context),
    ]
    for (number, said) in later.enumerated() {
      #expect(try store.ingest(said, id: "evt_jane_later\(number)") == .stored(.erased))
      #expect(try store.ingest(said, id: "evt_jane_later\(number)") == .repeated)
    }
    #expect(try store.receipts().count == 1)
    #expect(try store.integer("SELECT count(*) FROM events WHERE length(body) > 0") == 0)
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE user_id IS NOT NULL") == 0)
    // A returning user is a new user, whose purchases count.
    try store.post("new", user: "user-jane")
    #expect(try store.ingest(Said.completed("again", user: "user-jane", prices: ["p"])) == .stored(.receipt))
    #expect(try store.receipts().count == 2)
  }

  @Test func `Pending receipts stay, or are cancelled on request`() throws {
    let (store, _, _) = try Self.store()
    try store.ingest(Said.completed("2", user: "user-jane", prices: ["price_1"]))
    let open = try #require(try store.receipts().last?.receipt)
    #expect(open.state == .waiting || open.state == .pending)
    #expect(try forget(store).open == [open.id])
    #expect(try store.reader.receipt(id: open.id)?.purchase.userID == "user-jane")
    let outcome = try forget(store, cancelsOpen: true)
    #expect(outcome.cancelled == 1)
    #expect(outcome.receipts == 1)
    let record = try #require(try store.reader.receipt(id: open.id))
    #expect(TestStore.status(record) == "cancelled/erased")
    #expect(try store.apply(ReplayReceipt(id: open.id, force: true, dueAt: store.now)) == .erased)
    let complete = CompleteReceipt(id: open.id, userID: "user-jane", priceID: "p", contextID: nil)
    #expect(try store.apply(complete) == .erased)
    let delivered = try #require(try store.receipts().first?.receipt?.id)
    #expect(try store.apply(ReplayReceipt(id: delivered, force: true, dueAt: store.now)) == .erased)
    #expect(try store.reader.integrityFaults() == [])
  }

  @Test func `An answer after the erasure is counted, and not stored`() throws {
    let (store, _, _) = try Self.store()
    _ = try store.apply(
      ReplayReceipt(id: try #require(try store.only().receipt?.id), force: true, dueAt: store.now))
    _ = try forget(store, cancelsOpen: true)
    let report = AttemptReport(
      startedAt: store.now, duration: .milliseconds(5), status: 200, error: nil, isAmbiguous: false,
      response: Array("answer-jane".utf8))
    _ = try store.apply(
      RecordAttempt(
        of: try store.only().receiptID, app: "ios", report: report,
        decision: .delivered(importID: "imp-jane")))
    let record = try store.only()
    #expect(record.receipt?.state == .delivered)
    #expect(record.receipt?.importID == nil)
    #expect(try store.integer("SELECT count(*) FROM attempts WHERE length(response) > 0") == 0)
  }

  /// A purchase of a customer without a user, which was only noted, and one of each of these users.
  private func customer(of users: [String]) throws -> TestStore {
    let store = try TestStore()
    try store.ingest(Said.created("0", customer: "cus_1"))
    for (number, user) in users.enumerated() {
      var said = Said.completed("\(number + 1)", user: user, prices: ["price_1"])
      said.customerID = "cus_1"
      try store.ingest(said)
    }
    return store
  }

  private func found(_ user: UserID, _ store: TestStore) throws -> [ObjectID: UserPurchase] {
    let all = try store.reader.purchases(ofUser: user, limit: 9)
    return Dictionary(uniqueKeysWithValues: all.map { ($0.objectID, $0) })
  }

  @Test("A purchase without a user goes with the customer's only user, whose purchase waits for it")
  func ofOnlyUser() throws {
    let store = try customer(of: ["user-jane"])
    let found = try found("user-jane", store)
    let (own, noted) = (try #require(found["sub_1"]), try #require(found["sub_0"]))
    #expect(own.leads == [noted.row])
    #expect(noted.leads.isEmpty)
    let leads = [own.row: own.leads]
    let first = try store.apply(ForgetPurchases(rows: [own.row], cancelsOpen: true, leads: leads))
    #expect(first.held == [own.row])
    let rows = [own.row, noted.row]
    let second = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true, leads: leads))
    #expect(second.receipts == 1)
    #expect(second.others == 1)
    #expect(second.held.isEmpty)
  }

  @Test("A purchase without a user of a customer whom two users share goes with the last of them")
  func ofTwoUsers() throws {
    let store = try customer(of: ["user-jane", "user-jack"])
    #expect(try Set(found("user-jane", store).keys) == ["sub_1"])
    #expect(try Set(found("user-jack", store).keys) == ["sub_2"])
    _ = try forget(store, cancelsOpen: true)
    let left = try found("user-jack", store)
    #expect(Set(left.keys) == ["sub_2", "sub_0"])
    let noted = try #require(left["sub_0"])
    #expect(left["sub_2"]?.leads == [noted.row])
  }

  @Test func `An erasure that is rolled back leaves no unused hash key`() throws {
    struct Fails: StoreCommand {
      let inner: ForgetPurchases
      func apply(to store: StoreSession) throws(StoreFault) {
        _ = try inner.apply(to: store)
        throw StoreFault(.full, operation: "test", reason: "test")
      }
    }
    let (store, row, _) = try Self.store()
    #expect(throws: StoreFault.self) {
      try store.apply(Fails(inner: ForgetPurchases(rows: [row], cancelsOpen: false)))
    }
    #expect(try store.integer("SELECT count(*) FROM erasure_key") == 0)
    _ = try forget(store)
    try store.reopen()
    #expect(try store.ingest(Said.created("jane"), id: "evt_jane2") == .repeated)
  }
}
