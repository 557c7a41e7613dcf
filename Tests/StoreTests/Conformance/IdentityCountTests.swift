// Tests what is counted of whose the purchases are, and the lists behind the counts.

import Domain
import Store
import TestSupport
import Testing

@Suite("Whose the purchases are, in numbers", .everyEngine)
struct IdentityCountTests {
  private func counts(_ store: TestStore) throws -> IdentityCounts {
    try #require(try store.reader.identity(apps: ["ios"], now: store.now).first).counts
  }

  private func store(_ reference: ReferencePolicy) throws -> TestStore {
    let rules = AppRules(
      join: JoinPolicy(settle: .zero), processors: ["stripe": .stripe(reference: reference)],
      compose: TestStore.compose)
    return try TestStore(rules: ["ios": rules])
  }

  @Test func `Receipts whose sources disagree are counted and listed until they are corrected`() throws {
    let store = try store(.user)
    try store.ingest(Said.completed("1", user: "u1", metadataUser: "u2", prices: ["price_1"]))
    try store.ingest(Said.completed("2", user: "u3", metadataUser: "u3", prices: ["price_1"]))
    store.advance(hour)
    try store.endWaits()
    #expect(try counts(store).conflicts == 1)
    var filter = ReceiptFilter()
    filter.isInConflict = true
    let found = try store.reader.receipts(filter, limit: 10)
    #expect(found.map(\.purchase.key.id) == ["sub_1"])
    let id = try #require(found.first?.receipt?.id)
    let report = AttemptReport(at: store.now, duration: .zero)
    _ = try store.apply(
      RecordAttempt(of: id, app: "ios", report: report, decision: .delivered(importID: nil)))
    #expect(try store.apply(CorrectReceipt(id: id, userID: "u2", priceID: nil, contextID: nil)) == .done)
    #expect(try counts(store).conflicts == 0)
    store.advance(8 * day)
    #expect(try counts(store) == IdentityCounts(), "older ones do not count")
  }

  @Test("Paid purchases that name nobody are counted, and their events are listed, until a user is named")
  func unmatched() throws {
    let store = try store(.user)
    try store.ingest(Said.created("1"))
    try store.ingest(Said.created("2", active: false))
    #expect(try counts(store).unmatched == 1)
    var filter = EventFilter()
    (filter.outcome, filter.isUnmatched) = (.noted, true)
    #expect(try store.reader.events(filter, limit: 10).count == 1)
    filter.outcome = .receipt
    #expect(try store.reader.events(filter, limit: 10).isEmpty)
    try store.ingest(Said.created("1", user: "u1"))
    #expect(try counts(store).unmatched == 0)
    #expect(try counts(store).hasReceipts)
  }

  @Test func `Receipts whose reference is no known user are counted while they lack a user`() throws {
    let store = try store(.knownUser)
    try store.ingest(Said.completed("1", user: "order_4711", prices: ["price_1"], customer: false))
    try store.ingest(Said.completed("2", user: nil, prices: ["price_1"], customer: false))
    #expect(try counts(store).unknownReferences == 1)
    #expect(try counts(store).waitingForUser == 0, "its user may still become known")
    store.advance(11 * minute)
    #expect(try counts(store).waitingForUser == 1)
    #expect(try counts(store).unknownReferences == 1)
    store.advance(2 * day)
    try store.endWaits()
    #expect(try store.receipts().allSatisfy { $0.receipt?.state == .failed })
    #expect(try counts(store).unknownReferences == 1, "it failed for that, too")
    #expect(try counts(store).waitingForUser == 0, "it failed, which is reported")
    let id = try store.receipts()[0].receiptID
    let complete = CompleteReceipt(id: id, userID: "jdo-1", priceID: nil, contextID: nil)
    #expect(try store.apply(complete) == .done)
    #expect(try counts(store).unknownReferences == 0)
  }

  @Test func `Events about other sales are counted`() throws {
    let store = try store(.user)
    var said = Said.completed("1", prices: ["price_1"])
    said.observations.insert(.excepted)
    try store.ingest(said)
    #expect(try counts(store).foreignEvents == 1)
    #expect(try !counts(store).hasReceipts)
  }

  @Test func `Events of the mode that is left out are counted until they are read again`() throws {
    let store = try store(.user)
    _ = try store.apply(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: "evt_1", type: "", body: Array("{}".utf8),
        content: .nothing(.otherMode)))
    #expect(try counts(store).otherModeEvents == 1)
  }
}
