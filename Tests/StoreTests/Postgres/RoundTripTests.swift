// Tests that a batch costs a handful of network round trips, however many commands it has.

import Domain
import Store
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Round trips to PostgreSQL", .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct RoundTripTests {
  private let folder = "round-trips-\(UInt64.random(in: 0 ... .max))"
  private let connection: PostgresStoreConnection
  private let writer: StoreWriter

  init() throws {
    let server = try PostgresServer.shared.get()
    let engine = try PostgresEngine(
      server.url(PostgresDatabases.name(of: folder)), isOwner: true, application: "tests", allowsUnsafe: true,
      usesServerClock: false)
    connection = try engine.connect(.writer)
    writer = try StoreWriter(StoreConnection(connection), rules: TestStore.rules, upkeep: NoUpkeep())
  }

  /// Applies a batch and returns what it cost.
  private func cost(_ submissions: [Submission]) -> Int {
    let before = connection.roundTrips
    let result = writer.apply(submissions, now: TestStore.start)
    #expect(result.fault == nil)
    return connection.roundTrips - before
  }

  private func event(_ number: Int, _ report: PurchaseReport) -> Submission {
    Submission(
      IngestEvent(
        app: "ios", processor: "stripe", eventID: EventID("evt_\(number)_\(report.key.id.text)"), type: "t",
        body: Array("{}".utf8), content: .report(report, keep: true))
    ) { _ in }
  }

  private func context(
    _ number: Int, _ time: Timestamp = TestStore.start, isChosen: Bool = false
  ) -> Submission {
    var random = SystemRandomNumberGenerator()
    return Submission(
      IngestContext(
        app: "ios", userID: UserID("u\(number)"), blob: ContextBlob(text: "blob \(number)", priceID: nil),
        id: ContextID.make(now: time, random: &random), isChosen: isChosen)
    ) { _ in }
  }

  @Test func `Contexts, the payments that claim them, and repeats`() throws {
    defer { PostgresDatabases.remove(folder) }
    #expect(cost([]) <= 2)
    // The first batch of an app inserts the row to lock.
    #expect(cost([context(1000)]) <= 3)
    #expect(cost((0..<100).map { context($0) }) == 2)
    #expect(cost((2000..<2100).map { context($0, isChosen: true) }) == 2)
    let payments = (0..<100).map { number in
      event(1, Said.completed("\(number)", user: "u\(number)", prices: ["price_1"]))
    }
    #expect(cost(payments) == 3)
    #expect(cost(payments) == 3)
    let counts = try StoreConnection(connection).prepare(
      "SELECT state, count(*), count(context_id) FROM purchases GROUP BY state"
    ).all { row throws(StoreFault) in "\(try row.text(0)) \(row.integer(1)) \(row.integer(2))" }
    #expect(counts == ["pending 100 100"])
  }

  @Test func `A page of receipts, however many groups it merges`() throws {
    defer { PostgresDatabases.remove(folder) }
    for app in ["ios", "web"] {
      for number in 0..<20 {
        let prices: [PriceID] = number % 2 == 0 ? ["price_1"] : []
        let report = Said.completed("\(number)", user: number % 3 == 0 ? nil : "u\(number)", prices: prices)
        let event = Submission(
          IngestEvent(
            app: AppSlug(app), processor: "stripe", eventID: EventID("evt_\(number)"), type: "t",
            body: Array("{}".utf8), content: .report(report, keep: true))
        ) { _ in }
        #expect(writer.apply([event], now: TestStore.start).fault == nil)
      }
    }
    let reader = StoreReader(StoreConnection(connection))
    func cost(_ change: (inout ReceiptFilter) -> Void = { _ in }) throws -> Int {
      var filter = ReceiptFilter()
      change(&filter)
      let before = connection.roundTrips
      let page = try reader.receiptPage(filter, limit: 50)
      #expect(!page.entries.isEmpty)
      #expect(
        page.entries.map { $0.receipt?.id.text ?? "" }
          == page.entries.map { $0.receipt?.id.text ?? "" }.sorted(by: >))
      return connection.roundTrips - before
    }
    #expect(try reader.receiptPage(ReceiptFilter(), limit: 50).entries.count == 40)
    #expect(try cost() <= 6)
    #expect(try cost { $0.app = "web" } <= 6)
    #expect(try cost { $0.userID = "u1" } <= 6)
    #expect(try cost { $0.priceID = "price_1" } <= 8)
    var events = EventFilter()
    events.app = "web"
    events.since = TestStore.start
    let before = connection.roundTrips
    #expect(try reader.events(events, limit: 50).count == 20)
    #expect(try reader.total(events).count == 20)
    #expect(connection.roundTrips - before <= 12)
  }
}
