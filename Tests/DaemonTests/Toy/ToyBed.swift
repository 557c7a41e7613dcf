// The daemon with the toy processor's merchant backend, a scripted processor and a scripted destination.

import Domain
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

/// A running daemon. Stops when it is deleted; one thread.
final class ToyBed {
  /// The raw answer to a request; nil closes the connection without one.
  typealias Script = @Sendable (_ request: String) -> String?

  private struct Upstream {
    var script: Script
    var requests: [String] = []
    /// Requests for which this is true wait until it is not.
    var isHeld: @Sendable (String) -> Bool = { _ in false }
  }

  static let key = "client-key-1"
  private static let apiKey = ", api_key: 'toy-key'"

  private let state: Monitor<Upstream>
  private let upstream: ScriptedServer
  let destination: ScriptedDestination
  let folder: TestFolder
  let daemon: Daemon
  private let lines = Monitor<[String]>([])
  private var isStopped = false

  /// - Parameters:
  ///   - apps: each has the toy processor.
  ///   - toy: further keys of the processor's section.
  ///   - hasKey: whether it has a key for the processor's API.
  ///   - client: of each app.
  init(
    apps: [AppSlug] = ["shop"], toy: String = "", hasKey: Bool = true,
    client: String = "client: { keys: ['\(key)'] }",
    _ script: @escaping Script = { _ in ToyBed.answer("201 Created", "o1") }
  ) throws {
    StandardStream.ignoreBrokenPipes()
    let state = Monitor(Upstream(script: script))
    self.state = state
    upstream = try ScriptedServer { connection in
      while let request = connection.readRequest() {
        state.update { $0.requests.append(request) }
        let deadline = MonotonicInstant.now().advanced(by: .seconds(300))
        _ = state.wait(until: deadline) { $0.isHeld(request) ? nil : true }
        guard let answer = state.withLock({ $0.script })(request), connection.send(answer) else { return }
      }
    }
    destination = try ScriptedDestination()
    folder = try TestFolder()
    let text = Self.text(
      apps, base: "http://127.0.0.1:\(upstream.port)", toy: toy + (hasKey ? Self.apiKey : ""), client: client,
      folder: folder)
    let lines = lines
    let log = Log(level: .info) { line in lines.update { $0.append(String(decoding: line, as: UTF8.self)) } }
    daemon = try Daemon(try Self.read(text, destination.url), log: log) { _ in }
  }

  private static func text(
    _ apps: [AppSlug], base: String, toy: String, client: String, folder: TestFolder
  ) -> String {
    let sections = apps.map { app in
      """
      '\(app)': { \(client), toy: { token: 'secret-path', api_base: '\(base)'\(toy) },
        purchasely: { api_key: 'ply-key' }, join: { settle: '0s', wait_for_context: '0s' } }
      """
    }
    return """
      { database: '\(folder.path)/relay.db', listen: { port: 0, proxies: ['127.0.0.1'] }, admin: { port: 0 },
        apps: { \(sections.joined(separator: ", ")) } }
      """
  }

  private static func read(_ text: String, _ destination: String) throws(ConfigurationFaults) -> Configuration
  {
    try ConfigurationLoader.read(
      FileContent(bytes: Array(text.utf8), mode: 0o600), path: "/etc/receiptd/receiptd.json5",
      environment: Environment([:]), secrets: .required, processors: .withToy,
      destinations: .withToy(destination)
    ).configuration
  }

  deinit { stop() }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    hold { _ in false }
    daemon.stop()
    upstream.stop()
  }

  /// Installs a configuration.
  /// - Parameters:
  ///   - base: of the processor's API; nil for the scripted processor.
  ///   - hasKey: whether the toy processor has a key, and thus a backend.
  func reload(
    _ apps: [AppSlug], base: String? = nil, toy: String = "", hasKey: Bool = true,
    client: String = "client: { keys: ['\(key)'] }"
  ) throws {
    let base = base ?? "http://127.0.0.1:\(upstream.port)"
    try daemon.reload(
      try Self.read(
        Self.text(apps, base: base, toy: toy + (hasKey ? Self.apiKey : ""), client: client, folder: folder),
        destination.url))
  }

  // MARK: The processor

  static func answer(_ status: String, _ body: String = "", _ fields: String = "") -> String {
    "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  func use(_ script: @escaping Script) { state.update { $0.script = script } }

  func hold(_ isHeld: @escaping @Sendable (String) -> Bool) { state.update { $0.isHeld = isHeld } }

  /// Head and body of each request to the processor.
  var calls: [String] { state.withLock { $0.requests } }

  /// Method and target of each.
  var called: [String] { calls.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } }

  @discardableResult
  func waitForCalls(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
    let calls = state.wait(until: soon()) { $0.requests.count >= count ? $0.requests : nil }
    return try #require(calls, sourceLocation: sourceLocation)
  }

  // MARK: The app

  /// Sends a request on its own connection.
  func send(
    _ method: String, _ path: String, _ body: String? = nil, _ fields: String = "X-API-KEY: \(key)\r\n",
    type: String = "text/plain"
  ) throws -> RawClient {
    let client = try RawClient(port: daemon.publicPort)
    let content = body.map { "Content-Type: \(type)\r\nContent-Length: \($0.utf8.count)\r\n" } ?? ""
    try client.send("\(method) \(path) HTTP/1.1\r\nHost: test\r\n\(fields)\(content)\r\n\(body ?? "")")
    return client
  }

  /// Starts an order of the user `u1`.
  func start(
    _ body: String = "gold", app: AppSlug = "shop", user: String = "u1", _ fields: String = ""
  ) throws -> RawClient {
    try send("POST", "/v1/\(app)/users/\(user)/toy/orders", body, "X-API-KEY: \(Self.key)\r\n\(fields)")
  }

  /// Posts a context, and returns its id.
  func postContext(_ user: String = "u1") throws -> String {
    let reply = try send(
      "POST", "/v1/shop/users/\(user)/contexts", #"{"ply_context":"YQ=="}"#, type: "application/json"
    ).reply()
    try #require(reply.status == 201)
    let text = String(decoding: reply.body, as: UTF8.self)
    return try #require(text.firstMatch(of: /ctx_[0-9A-Za-z]+/)).output.description
  }

  // MARK: What is stored

  func reader() throws -> StoreReader { try StoreReader(path: "\(folder.path)/relay.db") }

  func stored(_ order: String, by user: UserID = "u1", app: AppSlug = "shop") throws -> PurchaseRecord? {
    try reader().startedPayment(ToyProcessor.order(order), app: app, user: user)
  }

  func waitForStored(
    _ order: String, sourceLocation: SourceLocation = #_sourceLocation,
    _ condition: (PurchaseRecord) -> Bool = { _ in true }
  ) throws -> PurchaseRecord {
    try polled(sourceLocation: sourceLocation) {
      try stored(order).flatMap { condition($0) ? $0 : nil }
    }
  }

  var log: String { lines.withLock { $0.joined() } }

  func waitForLog(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let line = lines.wait(until: soon()) { lines in lines.first { $0.contains(text) } }
    return try #require(line, sourceLocation: sourceLocation)
  }

  var metrics: Metrics { daemon.core.metrics }
}

extension RawClient.Reply {
  var text: String { String(decoding: body, as: UTF8.self) }
}
