// The daemon with a second processor, from its webhook to a delivered receipt. The daemon knows the processor
// only through its registration.

import Domain
import HTTPClient
import HTTPServer
import JSON
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Configuration
@testable import Relay

@Suite("A second payment processor in the daemon")
struct ToyDaemonTests {
  private let destination: ScriptedDestination
  private let api: ScriptedDestination
  private let folder: TemporaryFolder

  init() throws {
    destination = try ScriptedDestination()
    api = try ScriptedDestination { _ in ScriptedDestination.answer(200, body: "paid o1 u1 gold") }
    folder = try TemporaryFolder()
  }

  private var apiBase: String { String(api.url.dropLast("/receipts".count)) }

  private func text(_ section: String? = nil, stripe: String = "") -> String {
    let toy = section ?? "token: 'secret-path', api_key: 'toy-key', api_base: '\(apiBase)'"
    return """
      { database: '\(folder.path)/relay.db', listen: { port: 0 }, admin: { port: 0 },
        apps: { shop: {
          client: 'open', toy: { \(toy) }, \(stripe)
          purchasely: { api_key: 'ply-key', url: '\(destination.url)' },
          join: { settle: '0s', wait_for_context: '0s' },
        } } }
      """
  }

  private func read(_ text: String) throws(ConfigurationFaults) -> Configuration {
    try ConfigurationLoader.read(
      FileContent(bytes: Array(text.utf8), mode: 0o600), path: "/etc/receiptd/receiptd.json5",
      environment: Environment([:]), secrets: .required, processors: .withToy
    ).configuration
  }

  private func withDaemon(_ body: (Daemon) throws -> Void) throws {
    StandardStream.ignoreBrokenPipes()
    let daemon = try Daemon(try read(text()), log: Log(level: .error) { _ in }) { _ in }
    defer { daemon.stop() }
    try body(daemon)
  }

  private func post(
    _ body: String, token: String = "secret-path", key: String? = nil, to daemon: Daemon
  ) throws -> Int? {
    let pool = try TransferPool(connectionsMax: 1)
    let request = TransferRequest(
      method: .post,
      url: "http://127.0.0.1:\(daemon.publicPort)/v1/shop/webhooks/toy" + (token.isEmpty ? "" : "/\(token)"),
      headers: key.map { [TransferHeader(ToyProcessor.keyHeader, $0)] } ?? [], body: Array(body.utf8),
      timeout: .seconds(10))
    try pool.start(request, tag: 0)
    while true {
      if let done = pool.run(timeout: .seconds(1)).first { return done.result.status }
    }
  }

  private func receipt() throws -> JSONValue {
    try JSONValue(parsing: try #require(try destination.waitForRequests(1).first).body)
  }

  @Test("A genuine report becomes a receipt that is delivered")
  func report() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o1 u1 gold", key: "toy-key", to: daemon) == 200)
      let receipt = try receipt()
      #expect(receipt["user_id"]?.stringValue == "u1")
      #expect(receipt["stripe_object_id"]?.stringValue == "o1")
      #expect(receipt["stripe_price_id"]?.stringValue == "gold")
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
      #expect(try receipt()["user_id"]?.stringValue == "u1")
      let asked = try api.waitForRequests(2)
      #expect(asked.map(\.head.path) == ["/orders/6f-31", "/orders/6f-31"], "asked again after a failure")
      #expect(asked.map { $0.head.header(ToyProcessor.keyHeader) } == ["toy-key", "toy-key"])
    }
  }

  @Test("A hint about a known purchase causes a fetch; its own claims do not count")
  func hint() throws {
    api.use { number in
      ScriptedDestination.answer(200, body: number == 1 ? "open o1 u1 gold" : "paid o1 u1 gold")
    }
    try withDaemon { daemon throws in
      #expect(try post("e1 changed o1", key: "toy-key", to: daemon) == 200)
      try api.waitForRequests(1)
      #expect(try post("e2 paid o1 thief silver", to: daemon) == 200)
      let receipt = try receipt()
      #expect(receipt["user_id"]?.stringValue == "u1")
      #expect(receipt["stripe_price_id"]?.stringValue == "gold")
    }
  }

  @Test("A hint about an unknown purchase is answered, and causes no fetch")
  func unknown() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o9 thief gold", to: daemon) == 200)
      let reader = try StoreReader(path: "\(folder.path)/relay.db")
      #expect(try reader.events(EventFilter(), limit: 10).isEmpty)
      // The first request to the API is the lookup of the next event.
      #expect(try post("e2 changed o1", key: "toy-key", to: daemon) == 200)
      #expect(try api.waitForRequests(1).map(\.head.path) == ["/orders/6f-31"])
    }
  }

  @Test("Without the path's token, or with another one, nothing is stored")
  func token() throws {
    try withDaemon { daemon throws in
      #expect(try post("e1 paid o1 u1 gold", token: "", key: "toy-key", to: daemon) == 404)
      #expect(try post("e1 paid o1 u1 gold", token: "other", key: "toy-key", to: daemon) == 400)
      #expect(try StoreReader(path: "\(folder.path)/relay.db").events(EventFilter(), limit: 10).isEmpty)
    }
  }

  @Test("Its section is read, redacted and documented like every other")
  func section() throws {
    let configuration = try read(text())
    let app = try #require(configuration.apps.first)
    #expect(app.stripe == nil)
    #expect(app.processors.map(\.name) == ["toy"])
    #expect(!configuration.redacted.prettyText.contains("secret-path"))
    #expect(configuration.secrets.map(\.path).contains("apps.shop.toy.token"))
    #expect(ConfigurationTemplate.text(.withToy).contains("toy: {"))
    let both = try read(text(stripe: "stripe: { webhook_secrets: ['whsec_1'] },"))
    #expect(both.apps.first?.processors.map(\.name) == ["stripe", "toy"])
  }

  @Test("A destination that does not exist is a fault, and so is an app without any processor")
  func faults() throws {
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
