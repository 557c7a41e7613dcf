// Tests requests whose app is removed from the configuration while they are read.

import Domain
import Store
import Testing

@Suite("Requests of an app that leaves the configuration", .everyEngine)
struct ConfiguredAppTests {
  @Test("An event that cannot be decided is not stored, and makes a receipt when it is sent again (R4)")
  func eventOfARemovedApp() throws {
    let store = try TestStore()
    let event = IngestEvent(
      app: "ios", processor: "stripe", eventID: "evt_1", type: "checkout.session.completed", body: [],
      content: .report(.said(prices: ["price_1"]), keep: true))
    store.writer.use(rules: [:])
    #expect(try store.apply(WhileConfigured("ios", event)) == nil)
    #expect(try store.integer("SELECT count(*) FROM events") == 0)
    #expect(try store.integer("SELECT count(*) FROM purchases") == 0)

    store.writer.use(rules: TestStore.rules)
    #expect(try store.apply(WhileConfigured("ios", event)) == .stored(.receipt))
    #expect(try store.status() == "waiting/context")
  }

  @Test func `A context of such an app is not stored either`() throws {
    let store = try TestStore()
    store.writer.use(rules: [:])
    let posted = try store.apply(WhileConfigured("ios", store.contextCommand("blob", user: "u1")))
    #expect(posted == nil)
    #expect(try store.integer("SELECT count(*) FROM contexts") == 0)
  }

  @Test func `An unknown app is not found`() throws {
    let store = try TestStore()
    #expect(try store.apply(ReplayReceipt(id: "rcp_none", force: true, dueAt: store.now)) == .notFound)
    #expect(try store.apply(CancelReceipt(id: "rcp_none", note: "")) == .notFound)
    #expect(
      try store.apply(CompleteReceipt(id: "rcp_none", userID: "u", priceID: "p", contextID: nil)) == .notFound
    )
  }
}
