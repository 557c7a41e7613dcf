// Tests of contexts whose ids their clients made: an app that cannot reach the relay opens the checkout page
// with its own id, and posts the context later.

import Domain
import Store
import Testing

@Suite("Contexts with the client's id", .everyEngine)
struct ChosenContextIDTests {
  private let rules = TestStore.rules(settle: .seconds(5))

  private func post(
    _ store: TestStore, _ id: ContextID, _ text: String = "blob", user: UserID = "u1", app: AppSlug = "ios"
  ) throws -> IngestContext.Outcome {
    try store.apply(store.contextCommand(text, user: user, app: app, id: id))
  }

  @Test("The id is used as it is, and the same post has the same answer, also after the context is used")
  func repeats() throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    let first = try #require(try post(store, id).stored)
    #expect(first.id == id)
    #expect(!first.isRepeat)
    store.advance(minute)
    var again = first
    again.isRepeat = true
    #expect(try post(store, id) == .stored(again))
    try store.ingest(Said.completed("1", user: id.text, prices: ["price_1"]))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try post(store, id) == .stored(again))
    store.advance(2 * day)
    #expect(try post(store, id) == .stored(again))
    #expect(try store.integer("SELECT count(*) FROM contexts") == 1)
  }

  @Test("An id that is in use is refused with another blob, user or app, and nothing changes (R5)")
  func taken() throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    _ = try post(store, id)
    let relays = try store.post("made by the relay", user: "u3")
    for (other, text, user, app) in [
      (id, "other", "u1", "ios"), (id, "blob", "u2", "ios"), (id, "blob", "u1", "web"),
      (relays, "blob", "u1", "ios"),
    ] as [(ContextID, String, UserID, AppSlug)] {
      #expect(try post(store, other, text, user: user, app: app) == .taken, "\(text) \(user) \(app)")
    }
    #expect(try store.integer("SELECT count(*) FROM contexts") == 2)
    try store.ingest(Said.completed("1", user: id.text, prices: ["price_1"]))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
  }

  @Test("Each tap is a context, even with equal blobs: a name gets any of them, a guess the newest")
  func taps() throws {
    for isLateFirst in [false, true] {
      let store = try TestStore(rules: rules)
      let older = store.makeContextID()
      store.advance(minute)
      let newer = store.makeContextID()
      for id in isLateFirst ? [newer, older] : [older, newer] {
        #expect(try post(store, id).stored?.isRepeat == false)
      }
      try store.ingest(Said.completed("1", user: "u1", prices: ["price_1"], at: store.now))
      let guessed = try store.only()
      #expect(guessed.purchase.contextID == newer, "late first: \(isLateFirst)")
      try store.ingest(Said.completed("2", user: older.text, prices: ["price_1"], at: store.now))
      let named = try #require(try store.receipts().last)
      #expect(named.purchase.contextID == older)
      #expect(try store.only(named: newer) == guessed.purchase.key.id)
      // Without an id, the post is another use of the newest unused one, or a new context.
      #expect(try store.post("blob") != older)
    }
  }

  @Test(
    "A purchase that names a context before it is posted waits for it, and gets it",
    arguments: [false, true], [false, true])
  func eventFirst(isMetadata: Bool, isMerged: Bool) throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    let event = Said.completed(
      "1", user: isMetadata ? nil : id.text, named: !isMerged, contextID: isMetadata ? id : nil,
      prices: ["price_1"])
    try store.ingest(event)
    if isMerged { try store.ingest(Said.completed("1", user: nil)) }
    #expect(try store.status() == "waiting/user")
    store.advance(hour)
    try store.endWaits()
    #expect(try post(store, id).stored?.isRepeat == false)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    #expect(try store.only().purchase.contextSource == (isMetadata ? .metadata : .reference))
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 0)
  }

  @Test func `A name that comes late beats the guess of a receipt that is not sent yet`() throws {
    let store = try TestStore(rules: rules)
    let guessed = try store.post("guessed", user: "u1")
    let id = store.makeContextID()
    try store.ingest(Said.completed("1", user: id.text, metadataUser: "u1", prices: ["price_1"]))
    #expect(try store.only().purchase.contextID == guessed)
    _ = try post(store, id, "named")
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 named")
    #expect(try store.context(guessed).state == .open)
  }

  @Test("Only the app of the purchase can give it the context, and only the first of two purchases gets it")
  func others() throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    for n in ["1", "2"] { try store.ingest(Said.completed(n, user: id.text, prices: ["price_1"])) }
    _ = try post(store, id, app: "web")
    #expect(try store.receipts().allSatisfy { TestStore.status($0) == "waiting/user" })
    #expect(try post(store, id) == .taken)

    let second = store.makeContextID()
    for n in ["3", "4"] { try store.ingest(Said.completed(n, user: second.text, prices: ["price_1"])) }
    _ = try post(store, second)
    let owners = try store.receipts().filter { $0.purchase.contextID == second }
    #expect(owners.map(\.purchase.key.id) == ["sub_3"])
  }

  @Test func `Nobody gets the id of a context whose user was erased, and its purchase stays erased`() throws {
    let store = try TestStore(rules: rules)
    let (used, unused) = (store.makeContextID(), store.makeContextID())
    _ = try post(store, used)
    _ = try post(store, unused, "unused")
    try store.ingest(Said.completed("1", user: used.text, prices: ["price_1"]), id: "evt_1")
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    _ = try store.apply(ForgetUserRows(.contexts, app: "ios", userID: "u1"))
    for id in [used, unused] {
      for user in ["u1", "u2"] as [UserID] { #expect(try post(store, id, user: user) == .taken) }
    }
    #expect(try store.ingest(Said.completed("1", user: used.text), id: "evt_2") == .stored(.erased))
    #expect(try store.integer("SELECT count(*) FROM contexts WHERE user_id <> ''") == 0)
  }

  @Test func `An erased purchase forgets what it named, and a later post finds no purchase`() throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    try store.ingest(Said.completed("1", user: id.text, metadataUser: "u1", prices: ["price_1"]))
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 1)
    let rows = try store.reader.purchases(ofUser: "u1", limit: 10).map(\.row)
    _ = try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 0)
    _ = try post(store, id, user: "u2")
    #expect(try store.context(id).state == .open)
  }

  @Test func `What cannot be posted any more is not awaited`() throws {
    let store = try TestStore(rules: rules)
    let id = store.makeContextID()
    store.advance(7 * day - hour)
    try store.ingest(Said.completed("1", user: id.text, prices: ["price_1"], at: store.now))
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 1)
    _ = try store.apply(RetentionSlice.past)
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 1)
    store.advance(2 * hour)
    _ = try store.apply(RetentionSlice.past)
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 0)
    try store.ingest(Said.completed("2", user: id.text, prices: ["price_1"], at: store.now))
    #expect(try store.integer("SELECT count(*) FROM awaited_contexts") == 0)
  }
}

extension TestStore {
  /// The object of the only purchase that has a context.
  fileprivate func only(named id: ContextID) throws -> ObjectID? {
    let owners = try receipts().filter { $0.purchase.contextID == id }
    return owners.count == 1 ? owners[0].purchase.key.id : nil
  }
}
