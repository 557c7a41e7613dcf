// Tests which bodies are read to say what a customer bought.

import Domain
import Testing

@testable import Store

@Suite("The events that say what was bought", .everyEngine) struct SummaryTests {
  private static func ingest(_ body: String, _ type: String, _ store: TestStore) throws {
    let report = Said.payment()
    try store.apply(
      IngestEvent(
        app: "ios", processor: report.key.processor, eventID: EventID("evt_\(type)_\(body.prefix(20))"),
        type: type,
        body: Array(body.utf8), content: .report(report, keep: true)))
  }

  private static func bodies(_ store: TestStore, app: AppSlug = "ios") throws -> [String] {
    let receipt = try #require(try store.only().receipt?.id)
    return try store.reader.summaryBodies(ofReceipt: receipt, app: app) { $1 == "wanted" }
      .map { String(decoding: $0.body, as: UTF8.self) }
  }

  @Test func `The first ones count, however many came later, and only those of wanted types`() throws {
    let store = try TestStore()
    try Self.ingest("{}", "other", store)
    for number in 1...30 { try Self.ingest("{\"n\":\(number)}", "wanted", store) }
    #expect(try Self.bodies(store) == (1...6).map { "{\"n\":\($0)}" })
  }

  @Test func `Another app reads none, and a long one is left out`() throws {
    let store = try TestStore()
    try Self.ingest("{\"long\":\"\(String(repeating: "x", count: 64 << 10))\"}", "wanted", store)
    try Self.ingest("{}", "wanted", store)
    #expect(try Self.bodies(store) == ["{}"])
    #expect(try Self.bodies(store, app: "web").isEmpty)
  }
}
