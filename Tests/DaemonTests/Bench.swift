// The relay's threads on a real database, without the daemon: helpers to drive them, and to wait for their
// effects.

import Domain
import Formats
import FoundationEssentials
import HTTPClient
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import HTTPServer
@testable import Service
@testable import Upkeep
@testable import Web

/// The deadline of a wait.
func soon() -> MonotonicInstant { MonotonicInstant.now().advanced(by: .seconds(300)) }

/// Asks every 2 ms until there is an answer, where no thread notifies of it.
func polled<Found>(
  sourceLocation: SourceLocation = #_sourceLocation, _ find: () throws -> Found?
) throws -> Found {
  let (never, deadline) = (Monitor(()), soon())
  while true {
    if let found = try find() { return found }
    try #require(MonotonicInstant.now() < deadline, sourceLocation: sourceLocation)
    let _: Bool? = never.wait(until: .now().advanced(by: .milliseconds(2))) { _ in nil }
  }
}

/// The relay without listeners. Stops when it is deleted; one thread.
final class Bench {
  let path: String
  /// The daemon's own composition.
  let core: RelayCore
  let log: Log
  let reader: StoreReader
  let clock: any Clock
  let directory: AppDirectory
  let folder: TestFolder
  private let lines = Monitor<[String]>([])
  private let commits = Monitor(0)
  private var isStopped = false

  var committer: Committer { core.committer }
  var dispatcher: Dispatcher { core.dispatcher }
  var housekeeper: Housekeeper { core.housekeeper }
  var receiptLog: ReceiptLog { core.receiptLog }
  var checkoutPolls: CheckoutPolls { core.checkoutPolls }
  var metrics: Metrics { core.metrics }

  /// - Parameters:
  ///   - folder: that of an earlier bench, to use its database.
  ///   - asksProcessors: whether to run the lookup worker.
  ///   - callsBackends: whether to run the backend worker.
  ///   - isStarted: whether to start the threads at once.
  init(
    _ apps: [AppConfiguration], folder: TestFolder? = nil, clock: any Clock = SystemClock(),
    queue: Int = 1000, retention: Configuration.Retention = .init(), grace: Duration = .seconds(5),
    longPolls: Configuration.Limits = .init(), asksProcessors: Bool = false,
    callsBackends: Bool = false, isStarted: Bool = true,
    onTransitions: @escaping @Sendable ([ReceiptTransition]) -> Void = { _ in }
  ) throws {
    StandardStream.ignoreBrokenPipes()
    let folder = try folder ?? TestFolder()
    self.folder = folder
    self.clock = clock
    path = folder.path + "/relay.db"
    let (lines, commits) = (lines, commits)
    log = Log(level: .debug, clock: clock) { line in
      lines.update { $0.append(String(decoding: line, as: UTF8.self)) }
    }
    var limits = longPolls
    limits.queue = queue
    var configuration = Configuration(database: .file(path), apps: apps)
    configuration.limits = limits
    configuration.retention = retention
    directory = try AppDirectory(configuration)
    var dependencies = RelayDependencies(
      shared: Dependencies(log: log, clock: clock), transport: try TransferPool(connectionsMax: 64),
      onSyncFailure: { _ in })
    dependencies.grace = grace
    if asksProcessors {
      dependencies.lookupTransport = try TransferPool(connectionsMax: LookupWorker.transfersMax)
    }
    if callsBackends {
      dependencies.backendTransports = BackendTransports(
        requests: try TransferPool(connectionsMax: BackendWorker.transfersMax),
        captures: try TransferPool(connectionsMax: CaptureWorker.transfersMax))
    }
    dependencies.onCommit = { changes in
      onTransitions(changes.transitions)
      commits.update { $0 += 1 }
    }
    let engine = SQLiteEngine(
      owner: path, reserve: FileReserve(path: path + ".reserve", bytes: 1 << 16), log: log,
      onSyncFailure: { _ in })
    core = try RelayCore(configuration, engine, dependencies)
    reader = try StoreReader(path: path)
    if isStarted { try start() }
  }

  /// Makes a key fetcher for these apps; `stop` must be called.
  func fetchKeys(by transport: (any HTTPTransport)? = nil) throws -> KeyFetcher {
    let fetcher = KeyFetcher(
      transport: try transport ?? TransferPool(connectionsMax: KeyFetcher.transfersMax),
      directory: directory, metrics: metrics, dependencies: Dependencies(log: log, clock: clock))
    try fetcher.start()
    return fetcher
  }

  /// The parts of a worker with its own transport.
  func parts(
    _ transport: any HTTPTransport, _ clock: any Clock, ownership: any Ownership = SoleOwner()
  ) throws -> WorkerParts {
    WorkerParts(
      transport: transport, reader: try core.engine.openReader(), directory: directory, committer: committer,
      metrics: metrics, dependencies: Dependencies(log: log, clock: clock), ownership: ownership,
      grace: .seconds(5))
  }

  func start() throws { try core.start() }

  /// Starts no dispatcher, because it would use the system's clock.
  func startHousekeeping() throws {
    try committer.start()
    try housekeeper.start()
  }

  deinit { stop() }

  func stop() {
    guard !isStopped else { return }
    isStopped = true
    core.stop()
  }

  /// Stops, and starts again from the database only (R9).
  func restarted(_ apps: [AppConfiguration]) throws -> Bench {
    stop()
    return try Bench(apps, folder: folder)
  }

  /// The handler of the public listener.
  /// - Parameter apps: replaces the core's apps.
  func listener(
    limits: Configuration.Limits = .init(), keyFetcher: KeyFetcher? = nil, apps: AppRegistry? = nil,
    processors: ProcessorRegistry = .standard
  ) -> Router {
    var services = ListenerServices(metrics: metrics, log: log, clock: clock)
    services.proxies = TrustedProxies(prefixes: Configuration.Listen().proxies)
    let intake = IntakeRoutes(
      services: services, limits: limits, apps: apps ?? core.apps, committer: committer,
      checkouts: checkoutPolls,
      keyFetcher: keyFetcher, backendWorker: core.backendWorker, processors: processors,
      retention: core.contextRetention)
    return .public(services: services, intake: intake, pages: core.pages(services))
  }

  /// Starts the public listener on its own port.
  func serve(
    limits: Configuration.Limits = .init(), keyFetcher: KeyFetcher? = nil, apps: AppRegistry? = nil,
    processors: ProcessorRegistry = .standard
  ) throws(ServerError) -> Server {
    let listener = listener(limits: limits, keyFetcher: keyFetcher, apps: apps, processors: processors)
    var settings = ServerConfiguration(address: "127.0.0.1")
    settings.connectionsPerAddress = 2000
    return try Server(settings, handler: listener)
  }

  // MARK: Driving

  /// Stores a command and returns its outcome.
  @discardableResult
  func store<Command: StoreCommand>(_ command: Command) throws -> Command.Outcome {
    let outcome = Monitor<Result<Command.Outcome, StoreFault>?>(nil)
    let isQueued = committer.submit(command, from: .internal) { result in outcome.update { $0 = result } }
    try #require(isQueued)
    return try #require(outcome.wait(until: soon()) { $0 }).get()
  }

  /// Posts a context for the user `user-n` and returns the context's id.
  @discardableResult
  func post(_ number: Int, app: AppSlug = "shop") throws -> ContextID {
    try #require(try store(context(number, app: app)).stored).id
  }

  func context(_ number: Int, app: AppSlug = "shop") -> IngestContext {
    // In an existential: the generator is an empty struct, and Thread Sanitizer checks the address of an
    // inout argument.
    var random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    let id = ContextID.make(now: now, random: &random)
    return IngestContext(
      app: app, userID: "user-\(number)", blob: ContextBlob(text: "blob\(number)", priceID: nil), id: id)
  }

  /// Stores a purchase of `sub_n` by the user `user-n`.
  func buy(_ number: Int, app: AppSlug = "shop") throws {
    let report = PurchaseReport(
      key: PurchaseKey(type: .subscription, id: "sub_\(number)"), observations: .paid,
      clientReference: "user-\(number)", prices: ["price_1"], happenedAt: now)
    try store(
      IngestEvent(
        app: app, processor: "stripe", eventID: "evt_\(app)_\(number)", type: "test", body: Array("{}".utf8),
        content: .report(report, keep: true)))
  }

  /// Stores a purchase with its context, so that each change of its receipt is notified.
  func sell(_ number: Int, app: AppSlug = "shop") throws {
    try post(number, app: app)
    try buy(number, app: app)
  }

  var now: Timestamp { Timestamp(unixMilliseconds: clock.wallMilliseconds) }

  // MARK: Waiting

  /// Waits until the condition on the database holds.
  @discardableResult
  func waitFor<Found>(
    _ condition: (StoreReader) throws -> Found?, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Found {
    let deadline = soon()
    while true {
      let seen = commits.withLock { $0 }
      if let found = try condition(reader) { return found }
      let more: Bool? = commits.wait(until: deadline) { $0 == seen ? nil : true }
      if more == nil { return try #require(try condition(reader), sourceLocation: sourceLocation) }
    }
  }

  /// Polls a condition that no thread notifies.
  func waitUntil(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) throws {
    try polled(sourceLocation: sourceLocation) { condition() ? () : nil }
  }

  func receipt(_ number: Int, app: AppSlug = "shop") throws -> PurchaseRecord? {
    var filter = ReceiptFilter()
    filter.app = app
    filter.objectID = "sub_\(number)"
    return try reader.receipts(filter, limit: 1).first
  }

  @discardableResult
  func waitFor(
    _ number: Int, _ state: ReceiptState, app: AppSlug = "shop",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> Receipt {
    try waitFor(
      { _ in
        let receipt = try self.receipt(number, app: app)?.receipt
        return receipt?.state == state ? receipt : nil
      }, sourceLocation: sourceLocation)
  }

  func attempts(_ number: Int, app: AppSlug = "shop") throws -> [AttemptReport] {
    guard let id = try receipt(number, app: app)?.receipt?.id else { return [] }
    return try reader.detail(receipt: id)?.attempts.map(\.report) ?? []
  }

  var logText: String { lines.withLock { $0.joined() } }

  /// Waits for the first log line with this text.
  @discardableResult
  func waitForLog(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
    let line = lines.wait(until: soon()) { lines in lines.first { $0.contains(text) } }
    return try #require(line, sourceLocation: sourceLocation)
  }
}

extension Bench {
  /// An app without join waits, with short retries; every reference is a user.
  static func app(
    _ slug: AppSlug = "shop", url: String = "http://127.0.0.1:9/receipts",
    client: AppConfiguration.ClientAccess = .open, key: String = "ply-key",
    join: JoinPolicy = JoinPolicy(waitForContext: .zero), delivery: DeliveryPolicy = delivery()
  ) -> AppConfiguration {
    AppConfiguration(
      slug: slug, client: client, stripe: .init(webhookSecrets: [Secret("whsec_test")], reference: .user),
      purchasely: .init(url: url, apiKey: Secret(key)), join: join, delivery: delivery)
  }

  static func delivery(
    concurrency: Int = 4, rate: Double = 1000, timeout: Duration = .seconds(10), failures: Int = 3,
    openFor: Duration = .milliseconds(40), giveUpAfter: Duration = .days(7)
  ) -> DeliveryPolicy {
    DeliveryPolicy(
      concurrency: concurrency, ratePerSecond: rate, timeout: timeout,
      connectTimeout: .seconds(3),
      retry: RetryPolicy(schedule: [.milliseconds(20)], jitter: 0, giveUpAfter: giveUpAfter),
      breaker: BreakerPolicy(failures: failures, openFor: openFor))
  }
}
