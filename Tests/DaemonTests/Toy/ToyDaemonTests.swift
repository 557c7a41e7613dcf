// The daemon with a second processor, from its webhook to a delivered receipt. The daemon knows the processor
// only through its registration.

import Cryptography
import Domain
import Formats
import HTTPClient
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon

@Suite("A second payment processor in the daemon")
struct ToyDaemonTests {
  /// The toy destination.
  private let destination: ScriptedDestination
  private let purchasely: ScriptedDestination
  private let api: ScriptedDestination
  private let folder: TestFolder

  init() throws {
    destination = try ScriptedDestination()
    purchasely = try ScriptedDestination()
    api = try ScriptedDestination { _ in ScriptedDestination.answer(200, body: "paid o1 u1 gold") }
    folder = try TestFolder()
  }

  private var apiBase: String { String(api.url.dropLast("/receipts".count)) }

  private func text(_ section: String? = nil, stripe: String = "") -> String {
    let toy = section ?? "token: 'secret-path', api_key: 'toy-key', api_base: '\(apiBase)'"
    return """
      { database: '\(folder.path)/relay.db', listen: { port: 0 }, admin: { port: 0 },
        apps: { shop: {
          client: { keys: ['client-key-of-the-shop'] }, toy: { \(toy) }, \(stripe)
          purchasely: { api_key: 'ply-key', url: '\(purchasely.url)' },
          delivery: { breaker: { failures: 1, open_for: '1h' } },
          join: { settle: '0s', wait_for_context: '0s' },
        } } }
      """
  }

  private func read(_ text: String) throws(ConfigurationFaults) -> Configuration {
    try ConfigurationLoader.read(
      FileContent(bytes: Array(text.utf8), mode: 0o600), path: "/etc/receiptd/receiptd.json5",
      environment: Environment([:]), secrets: .required, processors: .withToy,
      destinations: .withToy(destination.url)
    ).configuration
  }

  private func withDaemon(stripe: String = "", _ body: (Daemon) throws -> Void) throws {
    StandardStream.ignoreBrokenPipes()
    let daemon = try Daemon(try read(text(stripe: stripe)), log: Log(level: .error) { _ in }) { _ in }
    defer { daemon.stop() }
    try body(daemon)
  }

  private func post(
    _ body: String, token: String = "secret-path", key: String? = nil, to daemon: Daemon
  ) throws -> Int? {
    try post(
      Array(body.utf8), path: "toy" + (token.isEmpty ? "" : "/\(token)"),
      key.map { [TransferHeader(ToyProcessor.keyHeader, $0)] } ?? [], to: daemon)
  }

  private func post(
    _ body: [UInt8], path: String, _ headers: [TransferHeader], to daemon: Daemon
  ) throws -> Int? {
    let pool = try TransferPool(connectionsMax: 1)
    let request = TransferRequest(
      method: .post, url: "http://127.0.0.1:\(daemon.publicPort)/v1/shop/webhooks/\(path)",
      headers: headers, body: body, timeout: .seconds(10))
    try pool.start(request, tag: 0)
    while true {
      if let done = pool.run(timeout: .seconds(1)).first { return done.result.status }
    }
  }

  private func receipt() throws -> JSONValue {
    try JSONValue(parsing: try #require(try destination.waitForRequests(1).first).body)
  }

  @Test func `A genuine report becomes a receipt that is delivered`() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o1 u1 gold", key: "toy-key", to: daemon) == 200)
      let receipt = try receipt()
      #expect(receipt == ["article": "gold", "buyer": "u1", "order": "o1"])
      let sent = try destination.waitForRequests(1)[0].head
      #expect(sent.header(ToyDestination.keyHeader) == "toy-shop-key")
      #expect(sent.header("X-API-KEY") == nil)
      #expect(purchasely.received.isEmpty)
      #expect(api.received.isEmpty)
    }
  }

  @Test("An event that asks to be fetched first is answered, fetched at the configured host, and delivered")
  func fetchFirst() throws {
    api.use { number in
      number == 1
        ? ScriptedDestination.answer(503) : ScriptedDestination.answer(200, body: "paid o1 u1 gold")
    }
    try withDaemon { daemon throws in
      #expect(try post("e1 changed o1", key: "toy-key", to: daemon) == 200)
      #expect(try receipt()["buyer"]?.stringValue == "u1")
      let asked = try api.waitForRequests(2)
      #expect(asked.map(\.head.path) == ["/orders/6f-31", "/orders/6f-31"], "asked again after a failure")
      #expect(asked.map { $0.head.header(ToyProcessor.keyHeader) } == ["toy-key", "toy-key"])
    }
  }

  @Test func `A hint about a known purchase causes a fetch; its own claims do not count`() throws {
    api.use { number in
      ScriptedDestination.answer(200, body: number == 1 ? "open o1 u1 gold" : "paid o1 u1 gold")
    }
    try withDaemon { daemon throws in
      #expect(try post("e1 changed o1", key: "toy-key", to: daemon) == 200)
      try api.waitForRequests(1)
      #expect(try post("e2 paid o1 thief silver", to: daemon) == 200)
      let receipt = try receipt()
      #expect(receipt["buyer"]?.stringValue == "u1")
      #expect(receipt["article"]?.stringValue == "gold")
    }
  }

  @Test func `A hint about an unknown purchase is answered, and causes no fetch`() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o9 thief gold", to: daemon) == 200)
      let reader = try StoreReader(path: "\(folder.path)/relay.db")
      #expect(try reader.events(EventFilter(), limit: 10).isEmpty)
      // The first request to the API is the lookup of the next event.
      #expect(try post("e2 changed o1", key: "toy-key", to: daemon) == 200)
      #expect(try api.waitForRequests(1).map(\.head.path) == ["/orders/6f-31"])
    }
  }

  @Test func `Without the path's token, or with another one, nothing is stored`() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o1 u1 gold", token: "", key: "toy-key", to: daemon) == 404)
      #expect(try post("e1 paid o1 u1 gold", token: "other", key: "toy-key", to: daemon) == 404)
      #expect(try StoreReader(path: "\(folder.path)/relay.db").events(EventFilter(), limit: 10).isEmpty)
    }
  }

  @Test func `Its section is read, redacted and documented like every other`() throws {
    let configuration = try read(text())
    let app = try #require(configuration.apps.first)
    #expect(app.stripe == nil)
    #expect(app.processors.map(\.name) == ["toy"])
    #expect(!configuration.redacted.prettyText.contains("secret-path"))
    #expect(configuration.secrets.map(\.path).contains("apps.shop.toy.token"))
    #expect(ConfigurationTemplate.text(.withToy).contains("toy: {"))
    let entries = ConfigurationEntry.all(ConfigurationReference.keys(.withToy)).map(\.path)
    for key in ["token", "api_key", "api_base", "deliver_to"] {
      #expect(entries.contains("apps.NAME.toy.\(key)"))
    }
    let schema = ConfigurationSchema.value(.withToy)
    let file = try JSONValue(parsing: Array(text().utf8), json5: true)
    #expect(SchemaCheck(file, schema).errors.isEmpty)
    let misspelt = try JSONValue(parsing: Array(text("tokn: 'secret-path'").utf8), json5: true)
    #expect(!SchemaCheck(misspelt, schema).errors.isEmpty)
    let both = try read(text(stripe: "stripe: { webhook_secrets: ['whsec_1'] },"))
    #expect(both.apps.first?.processors.map(\.name) == ["stripe", "toy"])
  }

  @Test("Each processor's receipts go to its own destination, and one that is down stops only its own")
  func twoDestinations() throws {
    destination.use { _ in ScriptedDestination.answer(503) }
    try withDaemon(stripe: Self.stripe) { daemon throws in
      // The breaker opens at the first failure, for an hour.
      #expect(try post("e1 paid o1 u1 gold", key: "toy-key", to: daemon) == 200)
      try destination.waitForRequests(1)
      let reader = try StoreReader(path: "\(folder.path)/relay.db")
      let toy = AppDestination("shop", ToyDestination.name)
      let open = try waitFor { reader in try reader.breakers()[toy].flatMap { $0.state == .open ? $0 : nil } }
      #expect(open.cause == .status(503))
      #expect(try post("e2 paid o2 u1 gold", key: "toy-key", to: daemon) == 200)
      #expect(try postSession(to: daemon) == 200)
      let sent = try JSONValue(parsing: try purchasely.waitForRequests(1)[0].body)
      #expect(sent["stripe_object_id"]?.stringValue == "cs_1")
      #expect(sent["user_id"]?.stringValue == "u1")
      let delivered = try waitFor { _ in
        try reader.receipts(ReceiptFilter(), limit: 10).first { $0.receipt?.state == .delivered }
      }
      #expect(delivered.purchase.key.id == "cs_1")
      // It answered the first, so a second receipt is tried at once; then nothing goes to it.
      try destination.waitForRequests(2)
      #expect(destination.received.count == 2)
      #expect(
        try reader.breakers().worst(of: "shop", now: Timestamp(unixMilliseconds: 0))?.destination
          == ToyDestination.name)
      #expect(purchasely.received.count == 1)
    }
  }

  @Test("A destination that cannot express a processor's purchases is a fault of the configuration")
  func foreignPurchases() throws {
    let toy = #expect(throws: ConfigurationFaults.self) {
      try read(text("token: 'secret-path', deliver_to: 'purchasely'"))
    }
    #expect(toy?.faults.map(\.path) == ["apps.shop.toy.deliver_to"])
    #expect(
      toy?.faults.map(\.message)
        == ["must be the name of a destination for purchases of Toy: \"webhook\" or \"toy_shop\""])
    let stripe = #expect(throws: ConfigurationFaults.self) {
      try read(text(stripe: "stripe: { webhook_secrets: ['whsec_1'], deliver_to: 'toy_shop' },"))
    }
    #expect(stripe?.faults.map(\.path) == ["apps.shop.stripe.deliver_to"])
  }

  @Test func `Purchases of a removed processor go to the first destination that can express them`() throws {
    let both = try #require(try read(text(stripe: Self.stripe)).apps.first)
    #expect(both.destination(of: "stripe") == "purchasely")
    #expect(both.destination(of: "toy") == ToyDestination.name)
    #expect(both.destination(of: "gone") == nil)
    var toyOnly = both
    toyOnly.processors.removeFirst()
    #expect(toyOnly.destination(of: "stripe") == "purchasely", "the app still has it")
    toyOnly.purchasely = nil
    #expect(toyOnly.destination(of: "stripe") == nil)
    #expect(toyOnly.destinationKinds.map(\.name) == [ToyDestination.name])
  }

  private static let stripe = "stripe: { webhook_secrets: ['whsec_1'] },"

  private func waitFor<Found>(_ find: (StoreReader) throws -> Found?) throws -> Found {
    let reader = try StoreReader(path: "\(folder.path)/relay.db")
    return try polled { try find(reader) }
  }

  /// Posts a paid checkout session of Stripe.
  private func postSession(to daemon: Daemon) throws -> Int? {
    let body = Array(
      #"""
      {"id":"evt_1","object":"event","type":"checkout.session.completed","data":{"object":{"id":"cs_1",
       "object":"checkout.session","mode":"payment","payment_status":"paid","client_reference_id":"u1",
       "line_items":{"data":[{"price":{"id":"price_1"}}]}}}}
      """#.utf8)
    let seconds = SystemClock().wallMilliseconds / 1000
    let code = try HMACSHA256(key: Array("whsec_1".utf8))
      .authenticationCode(for: Array("\(seconds).".utf8), body)
    return try post(
      body, path: "stripe", [TransferHeader("Stripe-Signature", "t=\(seconds),v1=\(Hex.encode(code))")],
      to: daemon)
  }

  @Test func `A destination that does not exist is a fault, and so is an app without any processor`() throws {
    let wrong = #expect(throws: ConfigurationFaults.self) {
      try read(text("token: 'secret-path', deliver_to: 'nowhere'"))
    }
    #expect(wrong?.faults.map(\.path) == ["apps.shop.toy.deliver_to"])
    let none = #expect(throws: ConfigurationFaults.self) {
      try read(text().replacing("toy: {", with: "join: {"))
    }
    #expect(none?.faults.isEmpty == false)
  }
}
