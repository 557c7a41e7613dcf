// Tests the merge of a checkout's row and a subscription's row that are one purchase (R2).

import Domain
import Store
import TestSupport
import Testing

@Suite("Merging two rows of one purchase", .everyEngine)
struct MergeTests {
  @Test func `The receipt of the checkout continues under the subscription's key`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(named: false, customer: false))
    let waiting = try store.only()
    #expect(TestStore.status(waiting) == "waiting/subscription")
    try store.ingest(Said.created())
    store.advance(hour)
    try store.ingest(Said.completed())
    let merged = try store.only()
    #expect(merged.receipt?.id == waiting.receipt?.id)
    #expect(merged.purchase.key.id == "sub_1")
    #expect(
      TestStore.status(merged) == "pending: u1 subscription sub_1 price_1 -",
      "its wait began with the checkout")
    #expect(try store.integer("SELECT count(*) FROM purchases") == 1)
  }

  @Test func `The subscription's own receipt stays, with the checkout's facts`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed(user: "u2", named: false))
    try store.ingest(Said.created(user: "u1"))
    let own = try store.receipts().last
    try store.ingest(Said.completed(user: "u2"))
    let merged = try store.only()
    #expect(merged.receipt?.id == own?.receipt?.id)
    #expect(merged.rowID == own?.rowID)
    #expect(merged.purchase.userID == "u2", "the reference goes before the metadata")
    try store.post(user: "u2")
    #expect(try store.status() == "pending: u2 subscription sub_1 price_1 blob")
  }

  @Test func `A sent receipt does not change, and the checkout's context is free again (R3, R5)`() throws {
    let store = try TestStore()
    let one = try store.post("one")
    store.advance(1)
    let two = try store.post("two")
    try store.ingest(Said.completed(unpaid: true, named: false))
    #expect(try store.context(two).receiptID != nil)
    #expect(try store.context(one).receiptID == nil)
    try store.ingest(Said.created(user: "u1"))
    let sent = try store.receipts().last?.receipt
    try store.ingest(Said.completed())
    #expect(try store.only().receipt == sent)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 two")
    #expect(try store.context(one).receiptID == nil)
    #expect(try store.context(one).state == .open)
  }

  @Test func `A late context has the state of its own user's checkout, and of no other's (R5)`() throws {
    for user: UserID in ["u1", "u2"] {
      let store = try TestStore()
      try store.ingest(Said.created(user: "u1"))
      store.advance(2 * minute)
      try store.endWaits()
      try store.send(try store.only().receiptID)
      let sent = try store.only().receipt
      try store.ingest(
        Said.completed(user: user.text, unpaid: true, named: false, customer: false, at: store.now))
      let late = try store.post(user: user)
      #expect(try store.context(late).receiptID == store.receipts().last?.receipt?.id)
      try store.ingest(Said.completed(user: user.text))
      #expect(try store.only().receipt == sent)
      #expect(try store.only().purchase.contextID == nil)
      #expect(try store.context(late).receiptID == (user == "u1" ? sent?.id : nil))
      #expect(try store.context(late).state == (user == "u1" ? .paid : .open))
    }
  }

  @Test(
    "Of two contexts that one purchase claimed under two names, the better stays, the other is free (R5)"
  )
  func twoContexts() throws {
    for hasPrice in [false, true] {
      let store = try TestStore()
      let old = try store.post("old", price: hasPrice ? "price_1" : nil)
      store.advance(1)
      let new = try store.post("new")
      try store.ingest(Said.completed(unpaid: true, named: false))
      try store.ingest(Said.completed("1", unpaid: true, prices: ["price_1"]).withoutSession)
      #expect(try store.receipts().map(\.purchase.contextID) == [new, old])
      try store.ingest(Said.completed(unpaid: true))
      #expect(try store.only().purchase.contextID == (hasPrice ? old : new))
      #expect(try store.integer("SELECT count(*) FROM contexts WHERE purchase_row IS NOT NULL") == 1)
      try store.ingest(Said.session("1", .paid))
      #expect(try store.status() == "pending: u1 subscription sub_1 price_1 \(hasPrice ? "old" : "new")")
    }
  }

  @Test func `A context of the less certain user is released (R5)`() throws {
    let store = try TestStore()
    let wrong = try store.post("of u9", user: "u9")
    try store.ingest(Said.completed(unpaid: true, named: false, customer: false))
    var unpaid = Said.created(user: "u9")
    unpaid.observations = .promised
    try store.ingest(unpaid)
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", "u9"])
    #expect(try store.context(wrong).receiptID != nil)
    try store.ingest(Said.completed(prices: ["price_1"]))
    #expect(try store.status() == "waiting/context")
    #expect(try store.only().purchase.userID == "u1")
    #expect(try store.context(wrong).receiptID == nil)
  }

  @Test("A user that only the merged purchase knows is shared with the customer's other purchases")
  func shared() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", user: "u1", named: false, customer: false))
    try store.ingest(Said.created("1", customer: "cus_x"))
    var lacking = Said.completed("2", user: nil)
    lacking.customerID = "cus_x"
    try store.ingest(lacking)
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", nil])
    var both = Said.completed("1", user: nil)
    both.customerID = "cus_x"
    try store.ingest(both)
    #expect(try store.receipts().map(\.purchase.userID) == ["u1", "u1"])
  }
}

extension PurchaseReport {
  /// The report without its session, so that it cannot be matched with another row.
  fileprivate var withoutSession: PurchaseReport {
    var report = self
    report.sessionID = nil
    return report
  }
}
