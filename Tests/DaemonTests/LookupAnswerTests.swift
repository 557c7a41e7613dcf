// What the answers of a processor's API do to a payment and to the others that wait, through the lookup
// worker's steps and a scripted network.

import Domain
import Formats
import HTTPClient
import Platform
import SQLiteStore
import Service
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("Answers to fetches") struct LookupAnswerTests {
  private let clock = ManualClock()
  private let network = ScriptedTransport()
  private let bench: Bench
  private let worker: LookupWorker

  init() throws {
    bench = try Bench([Bench.toyApp()], clock: clock, isStarted: false)
    try bench.committer.start()
    worker = LookupWorker(try bench.parts(network, clock))
  }

  /// Starts an order, and stores a callback about it.
  private func start(_ order: String) throws {
    try bench.startOrder(order)
    try bench.store(
      IngestEvent(
        app: "shop", processor: "toy", eventID: EventID("callback_\(order)"), type: "callback", body: [1],
        content: .fetch(ToyProcessor.order(order), sessionID: nil, keep: false), isHint: true))
  }

  private func run() throws -> LookupRun {
    LookupRun(worker, reader: try StoreReader(path: bench.path))
  }

  private func observations(_ order: String) throws -> Observations? {
    try bench.reader.startedPayment(ToyProcessor.order(order), app: "shop", user: "u1")?.purchase.observations
  }

  @Test("An answer to a query of an earlier configuration, perhaps with another account, closes no payment")
  func earlierConfiguration() throws {
    try start("o1")
    network.use(404) { _ in "never started" }
    var run = try run()
    _ = run.step()
    #expect(network.requests.count == 1)
    worker.use(bench.directory)
    _ = run.step()
    run.handleAnswers(within: .zero)
    try bench.store(Barrier())
    #expect(try observations("o1") == .started)
    // The present configuration is asked, and its answer counts.
    while try observations("o1") == .started, network.requests.count < 10 {
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
      clock.advance(.minutes(1))
    }
    #expect(try observations("o1") == [.started, .closed])
    #expect(network.requests.count == 2)
  }

  @Test(arguments: [403, 503])
  func `A key that was refused before a reload postpones no fetch after it`(status: Int) throws {
    try start("o1")
    network.use { _ in status }
    var run = try run()
    _ = run.step()
    #expect(network.requests.count == 1)
    worker.use(bench.directory)
    _ = run.step()
    run.handleAnswers(within: .zero)
    try bench.store(Barrier())
    _ = run.step()
    #expect(network.requests.count == 2, "the present configuration is asked at once")
  }

  @Test func `Payments whose fetches are refused take the place of no others of the app`() throws {
    let refused = (1...AppLookups.concurrencyMax * 2).map { "refused-\($0)" }
    for order in refused { try start(order) }
    clock.advance(.seconds(1))
    try start("last")
    network.use { _ in 403 }
    var run = try run()
    let target = ToyProcessor.order("last").id.text.utf8.map { String($0, radix: 16) }.joined(separator: "-")
    let limit = refused.count + 1
    while network.requests.count < limit {
      let before = network.requests.count
      for _ in 0..<3 {
        _ = run.step()
        run.handleAnswers(within: .zero)
        try bench.store(Barrier())
      }
      try #require(network.requests.count > before, "nothing is asked after the rest")
      clock.advance(Lookup.refusedRest)
    }
    #expect(network.requests.contains { $0.url.hasSuffix("/orders/\(target)") })
  }

  @Test(
    "A final 4xx to the query for a checkout makes no receipt wait six times as long as settle",
    arguments: [400, 401, 403, 404])
  func checkoutRefused(status: Int) throws {
    let app = AppConfiguration(
      slug: "shop", client: .open,
      stripe: .init(webhookSecrets: [Secret("whsec_test")], apiKey: Secret("rk_test")),
      purchasely: .init(url: "http://127.0.0.1:9/receipts", apiKey: Secret("ply-key")))
    let bench = try Bench([app], clock: clock, isStarted: false)
    try bench.committer.start()
    let worker = LookupWorker(try bench.parts(network, clock))
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    network.use { _ in status }
    for number in 1...2 {
      let report = PurchaseReport(
        key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .began,
        metadataUser: "u1", prices: ["price_1"], happenedAt: bench.now)
      try bench.store(
        IngestEvent(
          app: "shop", processor: "stripe", eventID: "evt_\(number)", type: "test", body: Array("{}".utf8),
          content: .report(report, keep: true)))
      clock.advance(.seconds(2))
      worker.checkAll()
      for _ in 0..<2 {
        _ = run.step()
        run.handleAnswers(within: .zero)
        try bench.store(Barrier())
      }
      let observations = try #require(try bench.receipt(number)).purchase.observations
      #expect(observations.contains(.checkoutRefused), "\(number)")
    }
    // Each time-out and each limit may end.
    #expect(network.requests.count == ([401, 403].contains(status) ? 1 : 2))
  }
}
