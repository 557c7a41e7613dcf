// Tests which context a purchase gets: one named by id, by reference or as a blob, or the user's newest;
// never another user's (R5).

import Domain
import Store
import Testing

@Suite("Contexts of purchases", .everyEngine)
struct ContextJoinTests {
  @Test func `A context before the event and one after it make the same receipt (R2)`() throws {
    let expected = "pending: u1 subscription sub_1 price_1 blob"
    let before = try TestStore()
    try before.post()
    try before.ingest(.said(prices: ["price_1"]))
    #expect(try before.status() == expected)

    let after = try TestStore()
    try after.ingest(.said(prices: ["price_1"]))
    #expect(try after.status() == "waiting/context")
    after.advance(minute)
    let id = try after.post()
    #expect(try after.status() == expected)
    #expect(try after.context(id).state == .paid)
    #expect(try after.context(id).receiptID == after.only().receipt?.id)
  }

  @Test(arguments: [true, false])
  func `A context named by its id precedes a newer one, and names the user`(byReference: Bool) throws {
    let store = try TestStore()
    let id = try store.post("named", user: "u7", price: "price_9")
    store.advance(1)
    try store.post("newer", user: "u7", price: "price_1")
    let said = Said.completed(
      user: byReference ? id.text : "u1", metadataUser: "u2", contextID: byReference ? nil : id,
      prices: ["price_1"])
    try store.ingest(said)
    #expect(try store.status() == "pending: u7 subscription sub_1 price_1 named")
    #expect(try store.only().receipt?.priceMismatch == true)
    #expect(try store.only().purchase.userSource == .context)
  }

  @Test func `A blob in the event precedes all contexts, and uses up its own post`() throws {
    let store = try TestStore()
    let posted = try store.post("inside", price: "price_1")
    store.advance(1)
    let newer = try store.post("newer", price: "price_1")
    try store.ingest(.said(blob: ContextBlob(text: "inside", priceID: "price_1"), prices: ["price_1"]))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 inside")
    #expect(try store.context(posted).state == .paid)
    #expect(try store.context(newer).state == .open)
  }

  @Test func `A blob in the event needs no post`() throws {
    let store = try TestStore()
    let other = try store.post("other")
    try store.ingest(.said(contextID: other, blob: ContextBlob(text: "inside", priceID: "price_7")))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_7 inside")
    #expect(try store.context(other).state == .open)
  }

  @Test func `A context that a later event names replaces one that was guessed`() throws {
    let store = try TestStore()
    let found = try store.post("found")
    let named = try store.post("named")
    try store.ingest(Said.completed(unpaid: true))
    #expect(try store.only().purchase.context?.text == "named", "the newer of two")
    try store.ingest(Said.created(active: false, contextID: found))
    #expect(try store.only().purchase.contextID == found)
    #expect(try store.context(named).state == .open)
    try store.ingest(Said.completed(unpaid: true, blob: ContextBlob(text: "inside", priceID: nil)))
    try store.ingest(Said.session("1", .paid))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 inside")
    #expect(try store.integer("SELECT count(*) FROM contexts WHERE purchase_row IS NOT NULL") == 0)
  }

  @Test func `Another user's context is never taken (R5)`() throws {
    let store = try TestStore()
    for user: UserID in ["u2", "U1", "u1 ", "u"] { try store.post("of \(user)", user: user) }
    try store.ingest(.said(prices: ["price_1"]))
    #expect(try store.status() == "waiting/context")
    try store.post("of u3", user: "u3")
    #expect(try store.status() == "waiting/context")
    store.advance(2 * minute)
    try store.endWaits()
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
  }

  @Test func `Another app's context is never taken, not even when it is named (R5)`() throws {
    let store = try TestStore()
    let foreign = try store.post("foreign", app: "web")
    try store.ingest(.said(prices: ["price_1"]))
    try store.ingest(Said.completed("2", user: foreign.text, prices: ["price_1"]))
    try store.ingest(Said.completed("3", contextID: foreign, prices: ["price_1"]))
    let states = try store.receipts(app: "ios").map(TestStore.status)
    #expect(states == ["waiting/context", "waiting/user", "waiting/context"])
    #expect(try store.context(foreign).state == .open)
    try store.ingest(.said(prices: ["price_1"]), app: "web")
    #expect(try store.status(app: "web") == "pending: u1 subscription sub_1 price_1 foreign")
  }

  @Test("The same purchase in two apps makes a receipt in each, each with its own context (R11)")
  func twoApps() throws {
    let store = try TestStore()
    let apps: [AppSlug] = ["ios", "web"]
    for app in apps { try store.post("of \(app)", app: app) }
    for app in apps { try store.ingest(.said(prices: ["price_1"]), app: app, id: "evt_same") }
    for app in apps {
      #expect(try store.status(app: app) == "pending: u1 subscription sub_1 price_1 of \(app)")
    }
  }

  @Test("A context serves one receipt: of two purchases one gets it, even if both name it (R5)")
  func once() throws {
    let store = try TestStore()
    let id = try store.post()
    try store.ingest(Said.completed("1", contextID: id, prices: ["price_1"]))
    try store.ingest(Said.completed("2", contextID: id, prices: ["price_1"]))
    let states = try store.receipts().map(TestStore.status)
    #expect(states == ["pending: u1 subscription sub_1 price_1 blob", "waiting/context"])
    #expect(try store.receipts().map(\.purchase.contextID) == [id, nil])
  }

  @Test func `Two purchases and two contexts pair up, by price first`() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    try store.ingest(Said.completed("2", prices: ["price_2"]))
    try store.post("for 2", price: "price_2")
    try store.post("for 1", price: "price_1")
    let states = try store.receipts().map(TestStore.status)
    #expect(
      states == [
        "pending: u1 subscription sub_1 price_1 for 1", "pending: u1 subscription sub_2 price_2 for 2",
      ])
  }

  @Test("A context whose price cannot be compared goes to the purchase that has waited longest")
  func longest() throws {
    let store = try TestStore()
    try store.ingest(Said.completed("1", prices: ["price_1"]))
    try store.ingest(Said.completed("2", prices: ["price_2"]))
    try store.post("of a third", price: "price_3")
    #expect(try store.receipts().map(\.purchase.context?.text) == [nil, nil], "it names another price")
    try store.post("of something", price: "gold")
    #expect(try store.receipts().map(\.purchase.context?.text) == ["of something", nil])
    #expect(try store.receipts().map(\.receipt?.priceMismatch) == [true, false])
  }

  @Test func `An abandoned checkout uses no context up`() throws {
    let store = try TestStore()
    let id = try store.post()
    try store.ingest(Said.session("1", [.expired, .objectExpected], named: false))
    var expired = Said.session("2", [.expired, .objectExpected], named: false)
    expired.clientReference = id.text
    #expect(try store.ingest(expired) == .stored(.noted))
    #expect(try store.receipts().isEmpty)
    #expect(try store.context(id).state == .open)
    try store.ingest(Said.completed("3", user: id.text, prices: ["price_1"]))
    #expect(try store.status() == "pending: u1 subscription sub_3 price_1 blob")
  }

  @Test(arguments: [0, 1])
  func `The window's edges count, for contexts before the event and for late events`(tooEarly: Int64) throws {
    let store = try TestStore()
    try store.post("early")
    store.advance(day + tooEarly)
    try store.ingest(Said.completed(prices: ["price_1"], at: store.now))
    #expect(
      try store.status()
        == (tooEarly == 0 ? "pending: u1 subscription sub_1 price_1 early" : "waiting/context"))
    let late = try TestStore()
    try late.post("then")
    late.advance(5 * day)
    try late.ingest(
      Said.completed(prices: ["price_1"], at: TestStore.start.advanced(by: .milliseconds(day + tooEarly))))
    #expect(try late.only().purchase.context?.text == (tooEarly == 0 ? "then" : nil))
  }

  @Test func `A repeated post has the same id, and counts as a new one`() throws {
    let store = try TestStore()
    let first = try #require(try store.apply(store.contextCommand("blob", user: "u1")).stored)
    store.advance(30 * hour)
    try store.ingest(Said.completed(prices: ["price_1"], at: store.now))
    #expect(try store.status() == "waiting/context", "it is too old")
    store.advance(second)
    let again = try #require(try store.apply(store.contextCommand("blob", user: "u1")).stored)
    #expect(again.isRepeat)
    #expect(again.id == first.id)
    #expect(again.receivedAt == first.receivedAt)
    #expect(again.expiresAt == store.after(day))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob", "released at once")
    let third = try #require(try store.apply(store.contextCommand("blob", user: "u1")).stored)
    #expect(!third.isRepeat, "the first is used up")
    #expect(third.id != first.id, "the first is used up")
  }

  @Test func `The same blob of another user or app is another context (R5)`() throws {
    let store = try TestStore()
    let ids = try [("u1", "ios"), ("u2", "ios"), ("u1", "web")].map {
      try store.post("same", user: $0, app: $1)
    }
    #expect(Set(ids).count == 3)
  }

  @Test func `The status of a checkout from the post to the delivery`() throws {
    let store = try TestStore()
    func state(_ id: ContextID, app: AppSlug = "ios") throws -> CheckoutStatus.State? {
      try store.reader.status(app: app, contextID: id, now: store.now)?.state
    }
    let id = try store.post()
    #expect(try state(id) == .open)
    #expect(try state(id, app: "web") == nil)
    #expect(try state("ctx_none") == nil)
    try store.ingest(Said.completed(unpaid: true, prices: ["price_1"]))
    #expect(try state(id) == .open, "the money is under way")
    try store.ingest(Said.session("1", .paid))
    #expect(try state(id) == .paid)
    let unused = try store.post("unused", user: "u9")
    store.advance(day)
    #expect(try state(unused) == .expired)
    #expect(try state(id) == .paid)
  }
}

extension PurchaseReport {
  /// A completed and paid checkout of `u1`.
  static func said(contextID: ContextID? = nil, blob: ContextBlob? = nil, prices: [PriceID] = [])
    -> PurchaseReport
  {
    Said.completed(contextID: contextID, blob: blob, prices: prices)
  }
}
