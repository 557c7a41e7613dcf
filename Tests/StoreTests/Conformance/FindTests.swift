// Tests the search for ids of any kind, and for their beginnings.

import Domain
import TestSupport
import Testing

@testable import Store

@Suite("Find", .everyEngine)
struct FindTests {
  /// What a search found, as `MATCH ID`.
  private func find(
    _ text: String, _ store: TestStore, limit: Int = 50, _ change: (inout FindFilter) -> Void = { _ in }
  ) throws -> [String] {
    try findings(text, store, limit: limit, change).list.map { finding in
      switch finding.item {
      case .purchase(let purchase): "\(finding.match.rawValue) \(purchase.objectID)"
      case .context(let context): "\(finding.match.rawValue) \(context.blob.text)"
      case .event(let event): "\(finding.match.rawValue) \(event.id)"
      }
    }
  }

  private func findings(
    _ text: String, _ store: TestStore, limit: Int = 50, _ change: (inout FindFilter) -> Void = { _ in }
  ) throws -> Findings {
    var filter = FindFilter()
    change(&filter)
    return try store.reader.find(
      try #require(FindQuery(text, folders: ["/psp/"])), filter,
      mentions: { _, _ in Mentions() }, now: store.now, limit: limit)
  }

  /// Two purchases of ann's, one of them delivered, one of bob's in another app, and what came before them.
  private func populated() throws -> (store: TestStore, receipt: ReceiptID, context: ContextID) {
    let store = try TestStore()
    let context = try store.post("of-ann", user: "ann")
    store.advance(minute)
    try store.ingest(
      Said.completed("Alpha1", user: "ann", contextID: context, prices: ["price_1"]), id: "evt_Alpha1")
    let receipt = try #require(try store.only().receipt)
    try store.apply(
      RecordAttempt(
        of: store.only().receiptID, app: "ios",
        report: AttemptReport(at: store.now, duration: .zero),
        decision: .delivered(importID: "imp-Alpha1")))
    store.advance(minute)
    try store.ingest(
      Said.completed("Alpha2", user: "ann", prices: ["price_1"], at: store.now), id: "evt_Alpha2")
    store.advance(minute)
    try store.ingest(
      Said.completed("Beta11", user: "bob", prices: ["price_1"], at: store.now), app: "web", id: "evt_Alpha1")
    return (store, receipt.id, context)
  }

  @Test func `Whole ids of every kind are found, the newest first`() throws {
    let (store, receipt, context) = try populated()
    #expect(try find(receipt.text, store) == ["receipt sub_Alpha1"])
    #expect(try find(receipt.text.lowercased(), store) == ["receipt sub_Alpha1"])
    #expect(try find("sub_Alpha2", store) == ["purchase sub_Alpha2"])
    #expect(try find("cs_Alpha1", store) == ["checkout sub_Alpha1"])
    #expect(try find("cus_Beta11", store) == ["customer sub_Beta11"])
    #expect(try find("imp-Alpha1", store) == ["import id sub_Alpha1"])
    #expect(try find("ann", store) == ["user sub_Alpha2", "user sub_Alpha1", "user of-ann"])
    #expect(try find(context.text, store) == ["context of-ann"])
    #expect(try find("evt_Alpha1", store) == ["event evt_Alpha1", "event evt_Alpha1"])
    #expect(try find("https://dashboard.stripe.com/customers/cus_Alpha2", store) == ["customer sub_Alpha2"])
    for text in [
      "nobody", "sub_Alpha3", "evt_Alpha3", "cus_alpha1", "rcp_\(String(repeating: "0", count: 26))",
    ] {
      #expect(try find(text, store) == [], "\(text)")
    }
  }

  @Test("The beginnings of ids are found in the order of an index, only if nothing has the whole id")
  func beginnings() throws {
    let (store, receipt, context) = try populated()
    #expect(try find("sub_Alpha", store) == [], "five characters are not enough")
    try store.ingest(Said.completed("Alpha11", user: "cat", prices: ["price_1"], at: store.now), id: "evt_x")
    #expect(try find("sub_Alpha1", store) == ["purchase sub_Alpha1"], "the whole id of one")
    #expect(try findings("sub_Alpha1", store).isPart == false)
    try store.ingest(
      Said.completed("Gamma-22", user: "dan", prices: ["price_1"], at: store.now), id: "evt_Gamma-22")
    #expect(try find("sub_Gamma-2", store) == ["purchase sub_Gamma-22"])
    #expect(try findings("sub_Gamma-2", store).isPart)
    #expect(try find("evt_Gamma-2", store) == ["event evt_Gamma-22"])
    #expect(try find("imp-Alpha", store) == ["import id sub_Alpha1"])
    for length in [10, 13, 18, 25] {
      let id = receipt.text.prefix(4 + length).description
      #expect(try find(id, store) == ["receipt sub_Alpha1"], "\(id)")
    }
    #expect(try find(context.text.prefix(14).description, store) == ["context of-ann"])
    #expect(try find(receipt.text.suffix(16).description.lowercased(), store) == ["receipt sub_Alpha1"])
    #expect(try find("sub_Delta-2", store) == [])
    #expect(try find("sub_Gamma%", store) == [])
  }

  @Test(
    "App, time and limit restrict the results, and a text that too many ids begin with is said to be short")
  func filters() throws {
    let (store, _, _) = try populated()
    #expect(try find("evt_Alpha1", store) { $0.app = "web" } == ["event evt_Alpha1"])
    #expect(try find("ann", store) { $0.app = "web" } == [])
    let second = TestStore.start + .milliseconds(2 * minute)
    #expect(try find("ann", store) { $0.since = second } == ["user sub_Alpha2"])
    #expect(try find("ann", store) { $0.until = second } == ["user sub_Alpha1", "user of-ann"])
    #expect(try find("ann", store, limit: 1) == ["user sub_Alpha2"])
    #expect(try findings("ann", store, limit: 2).isCut)
    #expect(try findings("ann", store, limit: 3).isCut == false)
    for number in 0...StoreReader.findMax {
      try store.ingest(Said.payment("shared-\(number)", user: nil), id: "evt_shared-\(number)")
    }
    let found = try findings("evt_shared-", store, limit: 200)
    #expect(found.list.count == 200)
    #expect(found.isCut)
  }

  @Test func `An erased user is found by no id`() throws {
    let (store, receipt, _) = try populated()
    let rows = try store.receipts(app: "ios").map(\.rowID)
    try store.apply(ForgetPurchases(rows: rows, cancelsOpen: true))
    try store.apply(ForgetUserRows(.contexts, app: "ios", userID: "ann"))
    for text in ["ann", "sub_Alpha1", "cs_Alpha1", "cus_Alpha1", "imp-Alpha1", "evt_Alpha2", "imp-Alpha"] {
      #expect(try find(text, store) == [], "\(text)")
    }
    #expect(try findings(receipt.text, store).list.count == 1, "its receipt stays")
  }
}
