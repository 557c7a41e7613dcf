// One receiptd under test: its directory, its configuration, its process, and the requests to it. One thread;
// `Outside` is a value for other threads.

import Formats
import Glibc
import TestSupport
import Testing

/// The secrets of every test.
enum Secrets {
  static let webhook = "whsec_end_to_end_0123456789abcdef"
  static let clientKey = "client-key-end-to-end"
  static let apiKey = "AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE"
}

/// The requests of apps and of Stripe to a relay.
struct Outside: Sendable {
  var api: Endpoint

  func postContext(
    _ user: String, _ blob: String, app: String = "shop", headers: [String: String] = [:]
  ) throws -> Reply {
    let standard = ["Content-Type": "application/json", "Authorization": "Bearer \(Secrets.clientKey)"]
    let body: JSONValue = ["ply_context": .string(blob)]
    return try api.request(
      "POST", "/v1/\(app)/users/\(user)/contexts", body: body.serialized(),
      headers: standard.merging(headers) { $1 })
  }

  /// Stripe sends an event with a valid signature.
  func send(_ event: JSONValue, app: String = "shop") throws -> Reply {
    let body = event.serialized()
    return try send(bytes: body, signature: try Stripe.signature(of: body, secret: Secrets.webhook), app: app)
  }

  func send(bytes: [UInt8], signature: String?, app: String = "shop") throws -> Reply {
    var headers = ["Content-Type": "application/json; charset=utf-8"]
    headers["Stripe-Signature"] = signature
    return try api.request("POST", "/v1/\(app)/webhooks/stripe", body: bytes, headers: headers)
  }
}

/// One receiptd with its own database.
final class Relay {
  /// The daemon's log, for the messages of failures.
  @TaskLocal static var logPath: String?

  let directory: TestFolder
  /// The URL of the database; nil for a file.
  let server: String?
  var configuration: JSONValue
  /// A command that is prepended to receiptd's; empty to start it directly.
  var launcher: [String] = []
  /// Listening sockets that receiptd inherits, as from a service manager. The test owns them.
  var sockets: [Int32] = []
  /// Further arguments for receiptd.
  var arguments: [String] = []
  private(set) var process: ChildProcess?
  private(set) var outside = Outside(api: Endpoint(port: 0))
  private(set) var admin = Endpoint(port: 0)
  /// The offset of this start's log.
  private var logStart = 0

  /// An app's configuration with short times, for fast tests.
  static func app(_ destination: Destination, _ changes: JSONValue = [:]) -> JSONValue {
    let base: JSONValue = [
      "client": ["keys": [.string(Secrets.clientKey)]],
      "stripe": ["webhook_secrets": [.string(Secrets.webhook)], "reference": "user"],
      "purchasely": ["url": .string(destination.url), "api_key": .string(Secrets.apiKey)],
      "join": ["wait_for_context": "300ms"],
      "delivery": [
        "timeout": "10s", "connect_timeout": "3s",
        "retry": ["schedule": ["50ms", "100ms", "200ms"], "jitter": 0],
        "breaker": ["failures": 10, "open_for": "200ms"],
      ],
    ]
    return base.merging(changes)
  }

  /// - Parameters:
  ///   - app: changes for the app `shop`.
  ///   - top: changes for the rest, and other apps.
  ///   - server: the URL of the database; nil for the place of the test's databases.
  ///   - directory: nil for a new one.
  init(
    _ destination: Destination, app: JSONValue = [:], top: JSONValue = [:], server: String? = nil,
    in directory: TestFolder? = nil
  ) throws {
    self.directory = try directory ?? TestFolder()
    self.server = try server ?? DatabasePlace.makeURL()
    let base: JSONValue = [
      "listen": ["address": "127.0.0.1", "port": 0], "admin": ["address": "127.0.0.1", "port": 0],
      "database": .string(self.server ?? self.directory.file("receiptd.db")),
      "apps": ["shop": Self.app(destination, app)],
    ]
    configuration = (self.server == nil ? base : base.merging(["database_durability": "unsafe"])).merging(top)
  }

  var configurationPath: String { directory.file("receiptd.json5") }
  var databasePath: String { directory.file("receiptd.db") }
  var logPath: String { directory.file("receiptd.log") }
  var log: String { TextFile.read(logPath) }

  func writeConfiguration() throws { try directory.write(configuration.prettyText, to: "receiptd.json5") }

  /// Lets the daemon read the present configuration; returns before it has done so.
  func writeAndReload() throws {
    try writeConfiguration()
    signal(SIGHUP)
  }

  /// Starts the daemon without waiting.
  @discardableResult func launch(environment: [String: String] = [:]) throws -> ChildProcess {
    try writeConfiguration()
    logStart = TextFile.size(logPath)
    let words = passing + launcher + [Program.receiptd, "--config", configurationPath] + self.arguments
    let process = try ChildProcess(words, environment: environment, output: logPath, inherited: sockets)
    self.process = process
    return process
  }

  /// Only the shell knows the id of the process that it becomes, which $LISTEN_PID must have.
  private var passing: [String] {
    guard !sockets.isEmpty else { return [] }
    return ["/bin/sh", "-c", "LISTEN_FDS=\(sockets.count) LISTEN_PID=$$ exec \"$@\"", "sh"]
  }

  /// Starts the daemon and waits until it is ready.
  /// - Parameter untilReady: false when it will not become ready.
  func start(environment: [String: String] = [:], untilReady: Bool = true) throws {
    let process = try launch(environment: environment)
    let ports = try waitFor("receiptd says that it is ready") { () -> (UInt16, UInt16)? in
      if let code = process.exitCode { throw NeverHappened(what: "receiptd ended with \(code):\n\(log)") }
      return readyPorts
    }
    outside = Outside(api: Endpoint(port: ports.0))
    admin = Endpoint(port: ports.1)
    guard untilReady else { return }
    try waitUntilReady()
  }

  func waitUntilReady() throws {
    try waitUntil("/readyz answers 200") { try admin.request("GET", "/readyz").status == 200 }
  }

  /// The ports in the ready line of this start, in either format.
  private var readyPorts: (UInt16, UInt16)? {
    let lines = TextFile.read(logPath, from: logStart).split(separator: "\n")
      .filter { $0.contains(" info ready ") || $0.contains(#""message":"ready""#) }
    guard let line = lines.last else { return nil }
    func number(_ name: String) -> UInt16? {
      let words = line.split { !$0.isLetter && !$0.isNumber }
      return words.firstIndex { $0 == name }.flatMap {
        words.indices.contains($0 + 1) ? UInt16(words[$0 + 1]) : nil
      }
    }
    guard let listen = number("listen"), let admin = number("admin") else { return nil }
    return (listen, admin)
  }

  func signal(_ number: Int32) { process?.send(number) }

  /// As `ChildProcess.suspend`; `SIGCONT` ends it.
  func suspend() throws { try #require(process).suspend() }

  /// Sends a signal and waits until the daemon has ended.
  @discardableResult func stop(_ number: Int32 = SIGTERM) throws -> Int32 {
    let process = try #require(process)
    process.send(number)
    return try process.end()
  }

  /// The words that run receiptctl with this configuration.
  var receiptctlCommand: [String] { [Program.receiptctl, "--config", configurationPath] }

  /// Runs receiptctl to its end.
  func receiptctl(_ words: String...) throws -> ShellRun { try receiptctl(words) }

  func receiptctl(_ words: [String]) throws -> ShellRun { try ShellRun(receiptctlCommand + words) }

  /// Runs receiptctl, or another program, with this configuration.
  func operate(_ arguments: [String], program: String = Program.receiptctl) throws -> ChildProcess {
    let words = [program, "--config", configurationPath] + arguments
    return try ChildProcess(words, output: directory.file("receiptctl.log"))
  }

  /// Runs receiptd again with this configuration.
  /// - Returns: its exit code and its output.
  func runAgain(_ arguments: [String] = []) throws -> (code: Int32, output: String) {
    let output = directory.file("other.log")
    let other = try ChildProcess(
      [Program.receiptd, "--config", configurationPath] + arguments, output: output)
    return (try other.end(), TextFile.read(output))
  }
}

/// Runs `body` with a destination and a relay that delivers to it.
/// - Parameter prepare: changes the relay before its start.
func withRelay(
  app: JSONValue = [:], top: JSONValue = [:], prepare: (Relay) throws -> Void = { _ in },
  _ body: (Relay, Destination) throws -> Void
) throws {
  let destination = try Destination()
  defer { destination.stop() }
  try withRelay(to: destination, app: app, top: top, prepare: prepare) { try body($0, destination) }
}

/// Runs `body` with a relay that delivers to a destination, or as `app` configures.
func withRelay(
  to destination: Destination, app: JSONValue = [:], top: JSONValue = [:], server: String? = nil,
  prepare: (Relay) throws -> Void = { _ in }, _ body: (Relay) throws -> Void
) throws {
  let relay = try Relay(destination, app: app, top: top, server: server)
  try prepare(relay)
  try Relay.$logPath.withValue(relay.logPath) {
    // A test that kills the program cannot see from the exit code whether it had crashed before.
    defer {
      let crash = TextFile.read(relay.logPath).split(separator: "\n")
        .first { $0.contains("Fatal error") || $0.contains("Program crashed") }
      #expect(crash == nil, "receiptd crashed")
    }
    try relay.start()
    try body(relay)
  }
}

extension Trait where Self == IssueHandlingTrait {
  /// Appends the end of the daemon's log to each failure.
  static var withDaemonLog: Self {
    .compactMapIssues { issue in
      guard let path = Relay.logPath else { return issue }
      var shown = issue
      shown.comments.append("receiptd's log ends with:\n\(TextFile.read(path).suffix(4000))")
      return shown
    }
  }
}
