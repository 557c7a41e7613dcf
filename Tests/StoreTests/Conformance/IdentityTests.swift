// Tests whose purchase it is: the sources of the user, and sales outside of the app.

import Domain
import Formats
import Store
import TestSupport
import Testing

private func rules(
  _ processor: ProcessorRules = .stripe(reference: .knownUser), settleCustomer: Duration = .zero
) -> [AppSlug: AppRules] {
  let join = JoinPolicy(settle: .zero, settleCustomer: settleCustomer, waitForContext: .zero)
  return ["ios": AppRules(join: join, processors: ["stripe": processor], compose: TestStore.compose)]
}

/// A paid checkout that names these users in its metadata.
private func sold(
  _ n: String = "1", reference: String? = nil, names: [(UserID, Purchase.UserSource)] = [],
  customer: CustomerID? = nil, adding observations: Observations = []
) -> PurchaseReport {
  var said = Said.completed(n, user: reference, prices: ["price_1"])
  said.names = names.map { NamedUser(id: $0, source: $1, standing: .counts) }
  said.observations.formUnion(observations)
  if let customer { said.customerID = customer }
  return said
}

private func facts(
  _ users: [UserID], of customer: CustomerID = "cus_1", at: Timestamp = TestStore.start
) -> CustomerFacts {
  CustomerFacts(
    customerID: customer,
    names: users.map { NamedUser(id: $0, source: .customerMetadata, standing: .counts) },
    areOfCustomer: true, happenedAt: at)
}

extension TestStore {
  @discardableResult
  fileprivate func ingest(_ facts: CustomerFacts, id: EventID) throws -> IngestEvent.Outcome {
    try apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: id, type: "customer", body: Array("{}".utf8),
        content: .customer(facts)))
  }

  fileprivate func receipt(_ n: String) throws -> PurchaseRecord? {
    try receipts().first { $0.purchase.key.id == ObjectID("sub_\(n)") }
  }

  /// Records an attempt for everything that is due.
  fileprivate func deliver() throws {
    for receipt in try reader.due(app: "ios", now: now, limit: 100) {
      _ = try apply(
        RecordAttempt(
          of: receipt.id, app: "ios", sent: receipt.body, report: AttemptReport(at: now),
          decision: .delivered(importID: "imp")))
    }
  }

  /// Records the end of an attempt for the only receipt.
  fileprivate func end(attempt decision: Delivery.Decision, status: Int64, sent: [UInt8]?) throws {
    let id = try #require(try only().receipt?.id)
    let report = AttemptReport(at: now, status: status)
    _ = try apply(RecordAttempt(of: id, app: "ios", sent: sent, report: report, decision: decision))
  }

  fileprivate func outcomes() throws -> [String] {
    try reader.events(EventFilter(), limit: 100).map(\.outcome).sorted()
  }
}

@Suite("The sources of the user", .everyEngine)
struct UserSourceTests {
  @Test("An order's number is no user: the receipt waits, and a context of that user releases it")
  func unknownReference() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold(reference: "jdo-1"))
    #expect(try store.status() == "waiting/user")
    #expect(
      try store.only().purchase.otherNames == [NamedUser(id: "jdo-1", source: .reference, standing: .unknown)]
    )
    try store.post("blob", user: "jdo-2")
    #expect(try store.status() == "waiting/user")
    try store.post("blob", user: "jdo-1")
    #expect(try store.status() == "pending: jdo-1 subscription sub_1 price_1 blob")
  }

  @Test func `A reference whose user posts after the wait stays failed`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold(reference: "jdo-1"))
    store.advance(day)
    try store.endWaits()
    try store.post("blob", user: "jdo-1")
    #expect(try store.status() == "failed/user")
  }

  @Test func `A user with a receipt is known, and so is one with a context`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold("1", names: [("u1", .ownKey)]))
    try store.ingest(sold("2", reference: "u1"))
    #expect(try store.receipt("2")?.purchase.userID == "u1")
    try store.post("blob", user: "u3")
    try store.ingest(sold("3", reference: "u3"))
    #expect(try store.receipt("3")?.purchase.userSource == .reference)
  }

  @Test func `A reference is never a user if it may only be a context's id`() throws {
    let store = try TestStore(rules: rules(.stripe(reference: .context)))
    try store.post("blob", user: "jdo-1")
    try store.ingest(sold(reference: "jdo-1"))
    try store.post("other", user: "jdo-1")
    #expect(try store.status() == "waiting/user")
  }

  @Test(
    "The relay's own key beats a reference; two users who count are a conflict, an order's number is none")
  func ownKey() throws {
    let store = try TestStore(rules: rules())
    try store.post("blob", user: "known")
    try store.ingest(sold("1", reference: "known", names: [("jdo-2", .ownKey)]))
    try store.ingest(sold("2", reference: "order_4711", names: [("jdo-2", .ownKey)]))
    let (first, second) = (try #require(try store.receipt("1")), try #require(try store.receipt("2")))
    #expect(first.purchase.userID == "jdo-2")
    #expect(first.purchase.userConflict)
    #expect(second.purchase.userID == "jdo-2")
    #expect(!second.purchase.userConflict)
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE user_conflict = 1") == 1)
  }

  @Test func `A receipt that went to a wrong user and was corrected makes nobody known`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold("1", names: [("order_4711", .ownKey)]))
    try store.deliver()
    let id = try #require(try store.only().receipt?.id)
    let right = CorrectReceipt(id: id, userID: "jdo-1", priceID: nil, contextID: nil)
    #expect(try store.apply(right) == .done)
    try store.ingest(sold("2", reference: "order_4711"))
    try store.ingest(sold("3", reference: "jdo-1"))
    #expect(try store.receipt("2").map(TestStore.status) == "waiting/user")
    #expect(try store.receipt("3")?.purchase.userID == "jdo-1")
  }

  @Test func `A spoilt id of a context is repaired, and names its user and the context`() throws {
    for spoil: (String) -> String in [{ $0.lowercased() }, { " \($0)\n" }, { "CTX_" + $0.dropFirst(4) }] {
      let store = try TestStore(rules: rules(.stripe()))
      let id = try store.post("blob", user: "jdo-1")
      try store.ingest(sold(reference: spoil(id.text)))
      #expect(try store.status() == "pending: jdo-1 subscription sub_1 price_1 blob", "\(spoil(id.text))")
    }
  }

  @Test func `A receipt is found by each of its names, and loses one that is erased`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold(reference: "order 4711%", names: [("jdo-1", .ownKey), ("anon", .metadata)]))
    for name: UserID in ["jdo-1", "anon", "order 4711%"] {
      var filter = ReceiptFilter()
      filter.userID = name
      #expect(try store.reader.receipts(filter, limit: 10).count == 1, "\(name)")
    }
    #expect(try store.reader.purchases(naming: "anon", limit: 10).count == 1)
    #expect(try store.reader.purchases(naming: "jdo-1", limit: 10).isEmpty)
    #expect(try store.apply(ForgetUserRows(.names, app: "ios", userID: "anon")) == 1)
    #expect(try store.apply(ForgetUserRows(.names, app: "ios", userID: "anon")) == 0)
    #expect(try store.reader.purchases(naming: "anon", limit: 10).isEmpty)
    #expect(try store.only().purchase.otherNames.map(\.id) == ["order 4711%"])
    #expect(try !TestEngine.current.dump(store.folder).contains("anon"))
  }

  @Test("An erased name leaves the events of another user's purchase, which keep everything else")
  func eventsOfOthers() throws {
    let store = try TestStore(rules: rules())
    let context = try store.post("c", user: "anon-7")
    func body(_ user: String, _ context: String) -> String {
      let metadata = #"{"user_id":"\#(user)","ply_user_id":"jdo-1","from":"\#(context.lowercased())"}"#
      let rest = #""payment_intent":"pi_1","filler":"\#(String(repeating: "ab c", count: 99))","n":1"#
      return #"{"data":{"object":{"id":"cs_1","metadata":\#(metadata),\#(rest)}}}"#
    }
    let said = sold(names: [("jdo-1", .ownKey), ("anon-7", .metadata)])
    _ = try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_1", type: "t",
        body: Array(body(" anon-7 ", context.text).utf8), content: .report(said, keep: true)))
    for table in ForgetUserRows.Table.allCases {
      _ = try store.apply(ForgetUserRows(table, app: "ios", userID: "anon-7"))
    }
    let row = EventRowID(try #require(try store.integer("SELECT row_id FROM events")))
    let kept = try #require(try store.reader.body(ofEvent: row))
    // Written again, its members are in the order of their names.
    let expected = try JSONValue(parsing: Array(body("", "").utf8))
    #expect(String(decoding: kept, as: UTF8.self) == expected.text)
    #expect(try store.only().purchase.allNames.map(\.id) == ["jdo-1"])
    #expect(try !TestEngine.current.dump(store.folder).contains("anon-7"))
  }

  @Test("A stronger name before the receipt was sent replaces the user, and the context follows")
  func strongerBefore() throws {
    let store = try TestStore(rules: rules())
    let (weak, strong) = (try store.post("weak", user: "anon"), try store.post("strong", user: "jdo-1"))
    try store.ingest(sold(names: [("anon", .metadata)]))
    #expect(try store.status() == "pending: anon subscription sub_1 price_1 weak")
    try store.ingest(sold(names: [("jdo-1", .ownKey)]))
    #expect(try store.status() == "pending: jdo-1 subscription sub_1 price_1 strong")
    #expect(try store.only().purchase.userConflict)
    #expect(try store.context(weak).receiptID == nil)
    #expect(try store.context(strong).receiptID != nil)
  }

  @Test("A stronger name after the receipt was sent changes nothing but shows, also if it is a context's")
  func strongerAfter() throws {
    for isContext in [false, true] {
      let store = try TestStore(rules: rules())
      let strong = try store.post("strong", user: "jdo-1")
      try store.ingest(sold(names: [("anon", .metadata)]))
      try store.deliver()
      let sent = try store.status()
      try store.ingest(isContext ? sold(reference: strong.text) : sold(names: [("jdo-1", .ownKey)]))
      #expect(try store.status() == sent)
      #expect(try store.only().purchase.userID == "anon")
      #expect(try store.only().purchase.userConflict)
      #expect(try store.only().purchase.otherNames.map(\.id) == ["jdo-1"])
    }
  }
}

@Suite("The users of customers", .everyEngine)
struct CustomerUserTests {
  @Test func `The customer's metadata name the user, whichever event comes first`() throws {
    for isFirst in [true, false] {
      let store = try TestStore(rules: rules())
      if isFirst { try store.ingest(facts(["u20"]), id: "evt_c") }
      try store.ingest(sold())
      if !isFirst { try store.ingest(facts(["u20"]), id: "evt_c") }
      #expect(try store.status() == "pending: u20 subscription sub_1 price_1 -")
      #expect(try store.only().purchase.userSource == .customerMetadata)
    }
  }

  @Test func `Newer metadata of a customer replace older ones, in any order`() throws {
    for isReversed in [false, true] {
      let store = try TestStore(rules: rules())
      let events = [facts(["old"]), facts(["new"], at: TestStore.start + .seconds(1))]
      for (n, event) in (isReversed ? events.reversed() : events).enumerated() {
        try store.ingest(event, id: EventID("evt_c\(n)"))
      }
      try store.ingest(sold())
      #expect(try store.only().purchase.userID == "new")
    }
  }

  @Test("Of a customer with the shop's number and our own key in the metadata, our own key names the user")
  func keyOrder() throws {
    for isFirst in [true, false] {
      let store = try TestStore(rules: rules())
      var said = facts(["jdo-1"])
      said.names.append(NamedUser(id: "4711", source: .customerMetadataOfLaterKey, standing: .counts))
      if isFirst { try store.ingest(said, id: "evt_c1") }
      try store.ingest(sold())
      if !isFirst { try store.ingest(said, id: "evt_c1") }
      #expect(try store.only().purchase.userID == "jdo-1")
      #expect(try store.only().purchase.userConflict)
      try store.ingest(facts([], at: TestStore.start + .seconds(1)), id: "evt_c2")
      #expect(try store.integer("SELECT count(*) FROM customer_users") == 0)
    }
  }

  @Test func `A user who is erased is no customer's user any more`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(facts(["u20"]), id: "evt_c")
    #expect(try store.reader.learnedCustomers(ofUser: "u20", limit: 10).map(\.id) == ["cus_1"])
    _ = try store.apply(ForgetUserRows(.customers, app: "ios", userID: "u20"))
    #expect(try store.reader.learnedCustomers(ofUser: "u20", limit: 10).isEmpty)
    try store.ingest(sold())
    #expect(try store.status() == "waiting/user")
  }

  @Test func `A setup checkout makes no purchase, and says whose customer it is`() throws {
    let store = try TestStore(rules: rules())
    let context = try store.post("blob", user: "u7")
    let setup = CustomerFacts(
      customerID: "cus_1", clientReference: context.text, areOfCustomer: false, happenedAt: store.now)
    #expect(try store.ingest(setup, id: "evt_s") == .stored(.noted))
    #expect(try store.receipts().isEmpty)
    try store.ingest(sold())
    #expect(try store.only().purchase.userID == "u7")
    #expect(try store.only().purchase.userSource == .customer)
  }

  @Test("A customer of two users names nobody, also if the second one comes while the purchase settles")
  func ambiguous() throws {
    let store = try TestStore(rules: rules(settleCustomer: .seconds(30)))
    try store.ingest(sold("1", names: [("anna", .ownKey)], customer: "cus_F"))
    try store.ingest(Said.created("3", customer: "cus_F"))
    #expect(try store.receipt("3")?.purchase.userID == "anna")
    try store.ingest(sold("2", names: [("ben", .ownKey)], customer: "cus_F"))
    store.advance(31 * second)
    try store.endWaits()
    #expect(try store.receipt("3").map(TestStore.status) == "waiting/user")
    try store.ingest(sold("4", customer: "cus_F"))
    #expect(try store.receipt("4").map(TestStore.status) == "waiting/user")
  }

  @Test("The context that an offline phone's checkout names decides, and not the family's card")
  func offlinePhone() throws {
    let store = try TestStore(rules: rules(settleCustomer: .seconds(30)))
    try store.ingest(sold("1", names: [("anna", .ownKey)], customer: "cus_F"))
    for (n, user) in [("2", "anna"), ("3", "ben")] {
      let id = store.makeContextID()
      if n == "3" { try store.ingest(Said.created(n, customer: "cus_F")) }
      try store.ingest(sold(n, reference: id.text, customer: "cus_F"))
      store.advance(hour)
      try store.endWaits()
      #expect(try store.receipt(n).map(TestStore.status) == "waiting/user")
      let receipt = try #require(try store.receipt(n)?.receipt?.id)
      #expect(try store.reader.detail(receipt: receipt)?.awaitedContexts == [id])
      _ = try store.apply(store.contextCommand("late \(n)", user: UserID(user), id: id))
      let status = "pending: \(user) subscription sub_\(n) price_1 late \(n)"
      #expect(try store.receipt(n).map(TestStore.status) == status)
      #expect(try store.receipt(n)?.purchase.userSource == .context)
    }
  }

  @Test("A reference that may be a user who is not known yet is not passed over for the customer's user")
  func unknownReferenceOfFamily() throws {
    for (policy, status) in [
      (ReferencePolicy.knownUser, "waiting/user"),
      (.context, "pending: anna subscription sub_2 price_1 -"),
      (.user, "pending: ben subscription sub_2 price_1 -"),
    ] {
      let store = try TestStore(rules: rules(.stripe(reference: policy)))
      try store.ingest(sold("1", names: [("anna", .ownKey)], customer: "cus_F"))
      try store.ingest(sold("2", reference: "ben", customer: "cus_F"))
      #expect(try store.receipt("2").map(TestStore.status) == status, "\(policy)")
    }
  }

  @Test("A session that names somebody else while the receipt waits to be sent ends an inferred user")
  func lateSessionOfFamily() throws {
    for isContext in [false, true] {
      let store = try TestStore(rules: rules(settleCustomer: .seconds(30)))
      try store.ingest(sold("1", names: [("anna", .ownKey)], customer: "cus_F"))
      try store.ingest(Said.created("2", customer: "cus_F"))
      store.advance(minute)
      try store.endWaits()
      #expect(try store.receipt("2")?.purchase.userID == "anna")
      let name = isContext ? store.makeContextID().text : "ben"
      try store.ingest(sold("2", reference: name, customer: "cus_F"))
      #expect(try store.receipt("2").map(TestStore.status) == "waiting/user", "\(isContext)")
    }
  }

  @Test("A customer of whom a user was erased names nobody: who remains is not the only one ever seen")
  func erasedFamily() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold("1", names: [("anna", .ownKey)], customer: "cus_F"))
    try store.ingest(sold("2", names: [("ben", .ownKey)], customer: "cus_F"))
    let rows = try store.reader.purchases(ofUser: "anna", limit: 10).map(\.row)
    #expect(try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true)).receipts == 1)
    try store.ingest(sold("3", customer: "cus_F"))
    #expect(try store.receipt("3").map(TestStore.status) == "waiting/user")
  }

  @Test func `A purchase that was only noted is not brought back by its customer's other purchases`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(Said.created("news", customer: "cus_42"))
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE unmatched = 1") == 1)
    try store.ingest(sold("app", names: [("u42", .ownKey)], customer: "cus_42"))
    var renewal = Said.invoice("news")
    renewal.customerID = "cus_42"
    try store.ingest(renewal, keep: false)
    #expect(try store.receipts().map(\.purchase.key.id) == ["sub_app"])
  }

  @Test func `An inferred user waits for the checkout session, which may name another`() throws {
    let store = try TestStore(rules: rules(settleCustomer: .seconds(30)))
    try store.post("first", user: "anon-1")
    try store.ingest(sold("1", reference: "anon-1", customer: "cus_A"))
    let context = try store.post("second", user: "jdo-1")
    try store.ingest(Said.created("2", customer: "cus_A"))
    #expect(try store.receipt("2").map(TestStore.status) == "waiting/checkout")
    store.advance(7 * second)
    try store.ingest(sold("2", reference: context.text, customer: "cus_A"))
    #expect(
      try store.receipt("2").map(TestStore.status) == "pending: jdo-1 subscription sub_2 price_1 second")
    #expect(try store.receipt("2")?.purchase.userConflict == false)
  }
}

@Suite("Sales outside of the app", .everyEngine)
struct ForeignSaleTests {
  @Test("A foreign sale makes no receipt, takes no context and says nothing about its customer")
  func foreign() throws {
    for bit: Observations in [.excepted, .notOurs] {
      let store = try TestStore(rules: rules())
      let context = try store.post("blob", user: "u1")
      try store.ingest(sold("1", names: [("u1", .ownKey)], customer: "cus_1", adding: bit))
      #expect(try store.receipts().isEmpty)
      #expect(try store.outcomes() == ["foreign"])
      #expect(try store.context(context).receiptID == nil)
      try store.ingest(sold("2", customer: "cus_1"))
      #expect(try store.receipt("2").map(TestStore.status) == "waiting/user")
      #expect(try store.integer("SELECT count(*) FROM purchases WHERE unmatched = 1") == 0)
    }
  }

  @Test func `A sale waits for the facts that decide, and then is foreign, the app's, or failed`() throws {
    func store() throws -> TestStore {
      let store = try TestStore(rules: rules(.stripe(reference: .knownUser, selects: true)))
      try store.post("blob", user: "u1")
      try store.ingest(sold(names: [("u1", .ownKey)]))
      #expect(try store.status() == "waiting/price")
      return store
    }
    let foreign = try store()
    try foreign.ingest(sold(adding: .notOurs))
    #expect(try foreign.receipts().isEmpty)
    #expect(try foreign.outcomes() == ["foreign", "foreign"])
    try foreign.ingest(sold(adding: .ours))
    #expect(try foreign.outcomes() == ["receipt", "receipt", "receipt"])
    let own = try store()
    try own.ingest(sold(adding: .ours))
    #expect(try own.status() == "pending: u1 subscription sub_1 price_1 blob")
    let failed = try store()
    failed.advance(day)
    try failed.endWaits()
    #expect(try failed.status() == "failed/price")
  }

  @Test("A context that was named while the sale seemed foreign counts once an entry names the sale")
  func contextOfForeign() throws {
    let store = try TestStore(rules: rules(.stripe(reference: .knownUser, selects: true)))
    let named = try store.post("named", user: "u1")
    try store.post("newer", user: "u1")
    try store.ingest(sold(reference: named.text, adding: .notOurs))
    #expect(try store.outcomes() == ["foreign"])
    #expect(try store.context(named).receiptID == nil)
    var subscription = Said.created()
    subscription.observations.insert(.ours)
    try store.ingest(subscription)
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 named")
    #expect(try store.only().purchase.contextSource == .reference)
    #expect(try store.outcomes() == ["receipt", "receipt"])
    try store.ingest(sold("2", reference: named.text, adding: [.notOurs, .excepted]))
    #expect(try store.integer("SELECT count(DISTINCT purchase_row) FROM awaited_contexts") == 1)
  }

  @Test("A sale that turns out to be excepted after its receipt was ready is not sent, and frees its context")
  func exceptedLate() throws {
    let store = try TestStore(rules: rules())
    let context = try store.post("blob", user: "u1")
    try store.ingest(sold(names: [("u1", .ownKey)]))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 blob")
    let sent = try store.only().receipt?.body
    try store.ingest(sold(adding: .excepted))
    #expect(try store.only().receipt?.state == .cancelled)
    #expect(try store.only().receipt?.reason == .foreign)
    #expect(try store.reader.due(app: "ios", now: store.now, limit: 1).isEmpty)
    #expect(try store.context(context).receiptID == nil)
    #expect(try store.outcomes() == ["foreign", "foreign"])
    try store.end(attempt: .retry(at: store.now, spent: true), status: 500, sent: sent)
    #expect(try store.only().receipt?.state == .cancelled, "an attempt that was under way is not repeated")
    #expect(try store.only().receipt?.attempts == 1)
    #expect(try store.only().receipt?.body == sent)
    try store.end(attempt: .delivered(importID: "imp"), status: 200, sent: sent)
    #expect(try store.only().receipt?.state == .delivered, "the destination accepted it")
  }

  @Test func `A receipt that was held back as foreign is sent once an entry names the sale`() throws {
    let store = try TestStore(rules: rules())
    try store.ingest(sold(names: [("u1", .ownKey)]))
    try store.ingest(sold(adding: .notOurs))
    #expect(try store.only().receipt?.reason == .foreign)
    try store.ingest(sold(adding: .ours))
    #expect(try store.status() == "pending: u1 subscription sub_1 price_1 -")
    #expect(try store.outcomes() == ["receipt", "receipt", "receipt"])
  }

  @Test func `A paid subscription of the app that names nobody waits for its user`() throws {
    let store = try TestStore(rules: rules(.stripe(reference: .knownUser, selects: true)))
    var said = Said.created()
    said.observations.insert(.ours)
    try store.ingest(said)
    #expect(try store.status() == "waiting/user")
    #expect(try store.integer("SELECT count(*) FROM purchases WHERE unmatched = 1") == 0)
  }
}
