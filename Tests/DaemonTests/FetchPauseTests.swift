// The pauses of a fetch that a callback requires, through the lookup worker's steps and a scripted network.

import Domain
import Formats
import HTTPClient
import Partners
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("The pauses of a fetch that failed") struct FetchPauseTests {
  /// A section whose rules follow payments up, although those of its kind do not.
  private static func app() -> AppConfiguration {
    var app = Bench.app()
    app.processors = [ConfiguredProcessor(section: FollowingSection())]
    return app
  }

  @Test("They are those of the section's rules: 2 s, 10 s, 30 s, 2 min, 10 min, then hourly for 7 days")
  func pauses() throws {
    let clock = ManualClock()
    let bench = try Bench([Self.app()], clock: clock, isStarted: false)
    try bench.committer.start()
    let key = ToyProcessor.order("o1")
    let started = PurchaseReport(key: key, observations: .started, startedBy: "u1", happenedAt: bench.now)
    _ = try bench.store(StorePayment(app: "shop", started))
    try bench.store(
      IngestEvent(
        app: "shop", processor: "toy", eventID: "callback_1", type: "callback", body: [1],
        content: .fetch(key, sessionID: nil, keep: false), isHint: true))
    let network = ScriptedTransport()
    network.use { _ in 503 }
    let worker = LookupWorker(try bench.parts(network, clock))
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    let place = AppProcessor("shop", "toy")
    var pauses: [Duration] = []
    while pauses.count < 200 {
      let asked = network.requests.count
      while network.requests.count == asked {
        _ = run.step()
        run.handleAnswers(within: .zero)
        // The app's own rest after a failure is shorter than any of these pauses, but the first.
        if network.requests.count == asked { clock.advance(.milliseconds(100)) }
      }
      try bench.store(Barrier())
      let before = bench.now
      // After a week it is given up.
      guard let next = try bench.reader.nextLookup(place, after: before),
        next.duration(since: before) <= .hours(1)
      else { break }
      pauses.append(next.duration(since: before))
      clock.advance(next.duration(since: before))
    }
    let first: [Duration] = [.seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10)]
    #expect(Array(pauses.prefix(5)) == first)
    #expect(pauses.dropFirst(5).allSatisfy { $0 == .hours(1) }, "\(pauses)")
    #expect(pauses.count == 7 * 24 - 1)
    let listed = try bench.reader.troubledPayments(place, limit: 10)
    #expect(listed.map(\.kind) == [.lookupAbandoned], "it does not leave the list")
    #expect(listed.map(\.objectID) == [key.id])
    #expect(bench.logText.contains("gave up fetching a payment"))
    #expect(bench.logText.contains("object=\(key.id)"))
    #expect(bench.metrics.lookups.snapshot().keys.allSatisfy { $0.second == "toy" && $0.third == "failed" })
    // A reload may have corrected what made it fail.
    let asked = network.requests.count
    worker.use(bench.directory)
    for _ in 0..<3 {
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
      clock.advance(.minutes(1))
    }
    #expect(network.requests.count > asked)
  }
}

/// The toy's section with rules that its kind does not have.
private struct FollowingSection: ProcessorSection {
  static let kind = ProcessorKind.toy
  var deliverTo: DeliverTo { "purchasely" }
  var isAsked: Bool { true }
  var backfillsAfter: Duration? { nil }
  var webhookSecrets: [Secret] { [] }
  var rules: ProcessorRules { ProcessorRules(isAsked: true, followsUpAfter: .hours(1)) }

  func makeProcessor(
    for use: ProcessorUse, in app: AppConfiguration, userAgent: String
  ) throws -> any PaymentProcessor {
    QuietProcessor()
  }
}

/// The toy without follow-ups.
private struct QuietProcessor: PaymentProcessor {
  static let name = ToyProcessor.name
  static let help = ToyProcessor.help

  static func rules(isAsked: Bool) -> ProcessorRules { ProcessorRules(isAsked: isAsked) }

  var queries: (any ProcessorQueries)? {
    ToyProcessor(token: "", apiKey: "key", apiBase: "https://toy.example").queries
  }

  func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity { .refused(.sender) }

  func read(_ body: [UInt8], now: Timestamp) -> EventReading {
    EventReading(id: nil, type: "", content: .nothing(.unparsed))
  }
}
