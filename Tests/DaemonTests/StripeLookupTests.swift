// What is looked up at Stripe: objects of thin events, and customers that may name a user. Through the lookup
// worker's steps and a scripted network.

import Domain
import Formats
import HTTPClient
import Partners
import Service
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("Lookups at Stripe") struct StripeLookupTests {
  private let clock = ManualClock()
  private let network = ScriptedTransport()
  private let bench: Bench
  private let worker: LookupWorker

  init() throws {
    let app = AppConfiguration(
      slug: "shop", client: .open,
      stripe: .init(webhookSecrets: [Secret("whsec_test")], apiKey: Secret("rk_test"), reference: .user),
      purchasely: .init(url: "http://127.0.0.1:9/receipts", apiKey: Secret("ply-key")),
      join: JoinPolicy(settle: .zero, waitForContext: .zero))
    bench = try Bench([app], clock: clock, isStarted: false)
    try bench.committer.start()
    worker = LookupWorker(try bench.parts(network, clock))
  }

  /// Stores an event like a webhook.
  private func post(_ body: JSONValue) throws {
    let processor = try #require(bench.directory["shop"]?.processors["stripe"])
    let bytes = body.serialized()
    try bench.store(
      IngestEvent(processor.read(bytes, now: bench.now), app: "shop", processor: "stripe", body: bytes))
  }

  /// Lets the worker ask and store, some times.
  private func lookUp(_ run: inout LookupRun, times: Int = 4) throws {
    for _ in 0..<times {
      _ = run.step()
      run.handleAnswers(within: .zero)
      try bench.store(Barrier())
    }
  }

  private static func session(reference: JSONValue = .null) -> JSONValue {
    [
      "id": "cs_1", "object": "checkout.session", "mode": "subscription", "status": "complete",
      "payment_status": "paid", "subscription": "sub_1", "customer": "cus_1",
      "client_reference_id": reference, "metadata": [:],
      "line_items": ["object": "list", "data": [["price": ["id": "price_1"]]]],
    ]
  }

  @Test func `The session of a thin event is fetched, and its purchase gets a receipt`() throws {
    try post([
      "id": "evt_thin", "object": "v2.core.event", "type": "v1.checkout.session.completed",
      "livemode": false, "created": "2026-11-28T07:00:00.000Z",
      "related_object": ["id": "cs_1", "type": "checkout.session"],
    ])
    let answer = Self.session(reference: "u1").text
    network.use(200) { _ in answer }
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run)
    #expect(network.requests.first?.url.contains("/v1/checkout/sessions/cs_1?") == true)
    let record = try #require(try bench.receipt(1))
    #expect(record.purchase.isBought)
    #expect(record.purchase.userID == "u1")
    #expect(record.receipt?.priceID == "price_1")
    #expect(network.requests.count == 1)
  }

  private func thin(_ type: JSONValue, _ id: JSONValue) -> JSONValue {
    [
      "id": .string("evt_\(id.stringValue ?? "")"), "object": "v2.core.event", "type": type,
      "livemode": false, "created": "2026-11-28T07:00:00.000Z", "related_object": ["id": id],
    ]
  }

  /// The outcomes of all events, the oldest first.
  private func outcomes() throws -> [String] {
    try bench.reader.events(EventFilter(), limit: 10).map(\.outcome).reversed()
  }

  @Test("The invoice of a thin event is fetched, and pays its subscription, which has the event then")
  func thinInvoice() throws {
    try post(thin("v1.invoice.paid", "in_1"))
    let invoice: JSONValue = [
      "id": "in_1", "object": "invoice", "status": "paid", "billing_reason": "subscription_create",
      "customer": "cus_1",
      "parent": ["subscription_details": ["subscription": "sub_1", "metadata": ["ply_user_id": "u1"]]],
      "lines": ["data": [["price": ["id": "price_1"], "type": "subscription"]]],
    ]
    network.use(200) { _ in invoice.text }
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run)
    #expect(network.requests.map { $0.url.hasSuffix("/v1/invoices/in_1") } == [true])
    let receipts = try bench.reader.receipts(ReceiptFilter(), limit: 10)
    #expect(receipts.map(\.purchase.key.id) == ["sub_1"])
    #expect(receipts.first?.purchase.userID == "u1")
    #expect(receipts.first?.purchase.isBought == true)
    #expect(try outcomes() == ["receipt"])
    #expect(try bench.reader.connection.integer("SELECT count(*) FROM purchases") == 1)
    #expect(try bench.reader.connection.integer("SELECT count(*) FROM look_ups") == 0)
  }

  @Test func `The customer of a thin event is fetched, and names the user of their later purchases`() throws {
    try post(thin("v1.customer.updated", "cus_1"))
    network.use(200) { _ in #"{"id":"cus_1","object":"customer","metadata":{"user_id":"u20"}}"# }
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run)
    #expect(network.requests.count == 1)
    #expect(try outcomes() == ["noted"])
    try buyWithoutUser()
    #expect(try bench.receipt(1)?.purchase.userID == "u20")
    #expect(try bench.receipt(1)?.purchase.userSource == .customerMetadata)
  }

  @Test(
    "What a thin event names and the key does not show leaves the event unread, and stops no other lookup",
    arguments: [
      (403, "v1.invoice.paid", "in_1"), (404, "v1.invoice.paid", "in_1"),
      (404, "v1.checkout.session.completed", "cs_1"),
    ] as [(Int, JSONValue, JSONValue)])
  func hidden(status: Int, type: JSONValue, id: JSONValue) throws {
    try post(thin(type, id))
    network.use { _ in status }
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run)
    #expect(try outcomes() == ["unparsed"])
    #expect(try bench.reader.connection.integer("SELECT count(*) FROM purchases") == 0)
    #expect(run.appLookups[AppProcessor("shop", "stripe")]?.isRefused == false)
  }

  /// A purchase that names a customer and no user.
  private func buyWithoutUser() throws {
    try post([
      "id": "evt_1", "object": "event", "type": "checkout.session.completed", "livemode": false,
      "data": ["object": Self.session()],
    ])
    clock.advance(.seconds(2))
  }

  @Test func `The metadata of a purchase's customer name its user`() throws {
    try buyWithoutUser()
    let session = Self.session().text
    network.use(200) { request in
      request.url.hasSuffix("/v1/customers/cus_1")
        ? #"{"id":"cus_1","object":"customer","metadata":{"user_id":"u20"}}"#
        : request.url.contains("/checkout/") ? session : #"{"id":"sub_1","object":"subscription"}"#
    }
    worker.checkAll()
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run, times: 8)
    #expect(try bench.receipt(1)?.purchase.userID == "u20")
    #expect(try bench.receipt(1)?.purchase.userSource == .customerMetadata)
    #expect(network.requests.last?.url.hasSuffix("/v1/customers/cus_1") == true)
  }

  @Test func `A key that may not read customers stops no other lookup`() throws {
    try buyWithoutUser()
    network.use { request in request.url.contains("/v1/customers/") ? 403 : 404 }
    worker.checkAll()
    var run = LookupRun(worker, reader: try StoreReader(path: bench.path))
    try lookUp(&run, times: 8)
    #expect(network.requests.last?.url.hasSuffix("/v1/customers/cus_1") == true)
    let place = AppProcessor("shop", "stripe")
    #expect(run.appLookups[place]?.isRefused == false)
    #expect(run.appLookups[place]?.restsUntil == nil)
  }
}
