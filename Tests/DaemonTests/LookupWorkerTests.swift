// Lookups at a scripted processor.

import Domain
import HTTPClient
import HTTPServer
import Partners
import Platform
import SQLiteStore
import Service
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("The lookup worker") struct LookupWorkerTests {
  private static func app(_ slug: AppSlug, _ api: ScriptedDestination) -> AppConfiguration {
    var app = Bench.app(slug)
    var section = StripeSection(webhookSecrets: [Secret("whsec_test")], apiKey: Secret("sk_test"))
    section.reference = .user
    section.settings.apiBase = String(api.url.dropLast("/receipts".count))
    app.processors = [ConfiguredProcessor(section: section)]
    return app
  }

  /// Stores an event that says only that an object changed.
  private static func change(
    _ id: ObjectID, _ type: PurchaseKey.ObjectType = .subscription, of app: AppSlug, _ bench: Bench
  ) throws {
    let key = PurchaseKey(type: type, id: id)
    try bench.store(
      IngestEvent(
        app: app, processor: "stripe", eventID: EventID("evt_\(app)_\(id)"), type: "test",
        body: Array("{}".utf8), content: .fetch(key, sessionID: nil, keep: true)))
  }

  @Test func `One app's row that cannot be read stops the lookups of no other app (R11)`() throws {
    let api = try ScriptedDestination { _ in ScriptedDestination.answer(404) }
    // In any order of the apps, most of these come before the valid one.
    let damaged = (1...6).map { AppSlug("damaged-\($0)") }
    let bench = try Bench(
      (damaged + ["shop"]).map { Self.app($0, api) }, asksProcessors: true, isStarted: false)
    try bench.committer.start()
    for app in damaged { try Self.change("sub_1", of: app, bench) }
    let connection = try Connection(path: bench.path, mode: .readWrite, busyTimeout: .seconds(10))
    try connection.execute("UPDATE purchases SET object_id = CAST(x'FF' || app AS TEXT)")
    try Self.change("sub_2", of: "shop", bench)
    try bench.core.lookupWorker?.start()
    #expect(try api.waitForRequests(1).map(\.head.path) == ["/v1/subscriptions/sub_2"])
    for app in damaged {
      let line = try bench.waitForLog("app=\(app) ")
      #expect(line.contains("could not read the due lookups; trying again"))
    }
  }

  @Test func `Purchases that the processor cannot be asked about take the place of no others`() throws {
    let api = try ScriptedDestination { _ in ScriptedDestination.answer(404) }
    let bench = try Bench([Self.app("shop", api)], asksProcessors: true, isStarted: false)
    try bench.committer.start()
    for number in 1...8 { try Self.change(ObjectID("x_\(number)"), "unknown", of: "shop", bench) }
    try Self.change("sub_1", of: "shop", bench)
    try bench.core.lookupWorker?.start()
    #expect(try api.waitForRequests(1).map(\.head.path) == ["/v1/subscriptions/sub_1"])
    // Later than the time of every lookup that is due now.
    let place = AppProcessor("shop", "stripe")
    try bench.waitFor { try $0.dueLookups(place, now: bench.now, limit: 10).isEmpty ? true : nil }
  }
}
