// A reload that removes a destination while a delivery to it is under way.

import Domain
import Platform
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("A destination that a reload removes") struct UnusedDestinationTests {
  private static let place = AppDestination("shop", ToyDestination.name)

  private static func app(_ url: String, toy: Bool) -> AppConfiguration {
    var app = Bench.app()
    app.destinations = .withToy(url)
    if toy {
      let section = ToySection(
        token: Secret("secret-path"), apiBase: "https://toy.example",
        deliverTo: DeliverTo(ToyDestination.name))
      app.processors.append(ConfiguredProcessor(section: section))
    }
    return app
  }

  @Test func `Its breaker is closed, and a probe that fails afterwards does not open it again`() throws {
    let destination = try ScriptedDestination { _ in ScriptedDestination.answer(403) }
    let bench = try Bench([Self.app(destination.url, toy: true)])
    var report = PurchaseReport(
      key: PurchaseKey(type: "order", id: "o1"), observations: .paid, clientReference: "user-1",
      prices: ["gold"], happenedAt: bench.now)
    report.key.processor = ToyProcessor.name
    try bench.post(1)
    try bench.store(
      IngestEvent(
        app: "shop", processor: ToyProcessor.name, eventID: "e1", type: "test", body: Array("{}".utf8),
        content: .report(report, keep: true)))
    func breaker() throws -> Breaker? { try bench.reader.breakers()[Self.place] }
    try bench.waitFor { _ in try breaker()?.state == .paused ? true : nil }
    destination.use { _ in nil }
    try destination.waitForHeld(1)
    let attempts = try Self.attempts(bench.reader)
    let apps = [Self.app(destination.url, toy: false)]
    bench.dispatcher.use(try AppDirectory(Configuration(database: .file(bench.path), apps: apps)))
    // A change of a breaker alone causes no notification.
    try bench.waitUntil { (try? breaker())??.state == .closed }
    let closed = try breaker()
    destination.release(ScriptedDestination.answer(403))
    try bench.waitFor { try Self.attempts($0) > attempts ? true : nil }
    #expect(try breaker() == closed)
  }

  private static func attempts(_ reader: StoreReader) throws -> Int {
    let record = try #require(try reader.receipts(ReceiptFilter(), limit: 1).first)
    let id = try #require(record.receipt?.id)
    return try reader.detail(receipt: id)?.attempts.count ?? 0
  }
}
