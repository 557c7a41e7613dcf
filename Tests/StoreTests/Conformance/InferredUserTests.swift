// Tests of the user who is inferred because a customer has only one: until the receipt is sent, whatever says
// more certainly whose purchase it is counts.

import Domain
import Formats
import Store
import TestSupport
import Testing

@Suite("Inferred users", .everyEngine)
struct InferredUserTests {
  private let store: TestStore

  /// `other` is the only user of the customer, by a checkout that sold nothing.
  init() throws {
    store = try TestStore(rules: Self.rules(.knownUser))
    try learn("other", .ownKey)
  }

  private static func rules(_ reference: ReferencePolicy) -> [AppSlug: AppRules] {
    let join = JoinPolicy(settle: .zero, settleCustomer: .zero, waitForContext: .zero)
    let processors: [ProcessorName: ProcessorRules] = ["stripe": .stripe(reference: reference)]
    return ["ios": AppRules(join: join, processors: processors, compose: TestStore.compose)]
  }

  private func learn(_ user: UserID, _ source: Purchase.UserSource) throws {
    let facts = CustomerFacts(
      customerID: "cus_1", names: [NamedUser(id: user, source: source, standing: .counts)],
      areOfCustomer: source.isOfCustomersMetadata, happenedAt: TestStore.start)
    let command = IngestEvent(
      app: "ios", processor: "stripe", eventID: EventID("evt_\(user)"), type: "customer",
      body: Array("{}".utf8), content: .customer(facts))
    #expect(try store.apply(command) == .stored(.noted))
  }

  @Test("The customer's metadata replace an inferred user until the receipt is sent, and its context follows")
  func metadata() throws {
    let context = try store.post("blob", user: "other")
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    #expect(try store.status() == "pending: other subscription sub_1 price_1 blob")
    try learn("one", .customerMetadata)
    #expect(try store.status() == "pending: one subscription sub_1 price_1 -")
    #expect(try store.context(context).state == .open)
  }

  @Test func `Metadata that come after the receipt was sent change nothing`() throws {
    try store.ingest(Said.completed(user: nil, prices: ["price_1"]))
    try store.send(try store.only().receiptID)
    try learn("one", .customerMetadata)
    #expect(try store.status() == "pending: other subscription sub_1 price_1 -")
  }

  @Test(
    "A purchase whose reference named a user who was erased is never given to the customer's other user",
    arguments: [ReferencePolicy.knownUser, .user, .context])
  func erasedReference(later: ReferencePolicy) throws {
    try store.ingest(Said.completed(user: "one", prices: ["price_1"]))
    #expect(try store.apply(ForgetUserRows(.names, app: "ios", userID: "one")) == 1)
    #expect(try store.apply(ForgetUserRows(.names, app: "ios", userID: "one")) == 0)
    try store.reload(Self.rules(later))
    #expect(try store.status() == "waiting/user")
    try store.post("blob", user: "one")
    store.advance(day)
    try store.endWaits()
    #expect(try store.status() == "failed/user")
    #expect(try store.only().purchase.otherNames.allSatisfy { Purchase.isErased($0.id) })
  }
}
