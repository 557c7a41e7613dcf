// The threads behind the listeners and how news travels between them: the committer tells what it changed,
// the dispatcher and the housekeeper look whether it concerns them.

internal import Apps
internal import Configuration
internal import Delivery
internal import Domain
internal import HTTPServer
internal import HTTPService
internal import Health
public import Housekeeping
internal import Intake
internal import Lookups
internal import Persistence
internal import Platform
internal import Presentation
internal import PublicPages
internal import Store
internal import Telemetry

/// Everything that works without a listener.
final class RelayCore: Sendable {
  let apps: AppRegistry
  /// What devices ask the hosts of the apps for.
  let associations: AssociationRegistry
  let metrics = Metrics()
  let readiness = Readiness()
  let engine: any StoreEngine
  let committer: Committer
  let board: CheckoutBoard
  let dispatcher: Dispatcher
  let housekeeper: Housekeeper
  let jobs: JobRunner
  let receiptLog: ReceiptLog
  /// Nil where nothing can be asked.
  let enquirer: Enquirer?
  /// Nil where nothing can be fetched.
  let keyFetcher: KeyFetcher?

  /// The parts that are notified of each commit; they are made after the committer.
  private struct Observers {
    var dispatcher: Dispatcher?
    var housekeeper: Housekeeper?
    var board: CheckoutBoard?
    var jobs: JobRunner?
    var enquirer: Enquirer?

    func notify(of changes: StoreChanges) {
      dispatcher?.note(dueAt: changes.dueAt, replaysDueAt: changes.replaysDueAt)
      housekeeper?.note(waitUntil: changes.waitUntil)
      board?.noteChanged(changes.contextIDs)
      if changes.hasJobs { jobs?.lookNow() }
      enquirer?.note(asksAt: changes.asksAt)
    }
  }

  private let observers = Monitor(Observers())
  /// Of the public listener, once it is open.
  private let publicLoad = Monitor<(@Sendable () -> ServerLoad)?>(nil)

  /// - Parameters:
  ///   - engine: of the database.
  ///   - dependencies: what is outside; the threads run from `start` on.
  init(
    _ configuration: Configuration, _ engine: any StoreEngine, _ dependencies: RelayDependencies
  ) throws(DaemonError) {
    let directory = try Self.directory(configuration)
    self.engine = engine
    let observers = observers
    let receiptLog = ReceiptLog(dependencies.log, metrics: metrics)
    self.receiptLog = receiptLog
    committer = Committer(
      writer: try Self.writer(engine, directory, dependencies), capacity: configuration.limits.queue,
      reserve: engine.reserve, dependencies: dependencies.shared, metrics: metrics,
      onSyncFailure: dependencies.onSyncFailure
    ) { changes in
      observers.withLock { $0 }.notify(of: changes)
      receiptLog.note(changes.transitions)
      dependencies.onCommit(changes)
    }
    board = CheckoutBoard(
      reader: try Self.reader(engine), limits: LongPollLimits(configuration.limits), metrics: metrics,
      clock: dependencies.clock, log: dependencies.log
    ) {
      observers.withLock { $0.housekeeper }?.lookNow()
      dependencies.onWait()
    }
    housekeeper = Housekeeper(
      committer: committer, waiting: board, retention: configuration.retention,
      dependencies: dependencies.shared
    ) {
      engine.look()
    }
    dispatcher = Dispatcher(
      transport: dependencies.transport, reader: try Self.reader(engine), directory: directory,
      committer: committer, metrics: metrics, dependencies: dependencies.shared,
      graceMilliseconds: dependencies.graceMilliseconds)
    jobs = JobRunner(
      reader: try Self.reader(engine), windows: directory.replayWindows, committer: committer,
      dependencies: dependencies.shared)
    enquirer = try Self.enquirer(engine, directory, committer, metrics, dependencies)
    keyFetcher = dependencies.keyTransport.map { [metrics] transport in
      KeyFetcher(
        transport: transport, directory: directory, metrics: metrics, dependencies: dependencies.shared)
    }
    apps = AppRegistry(directory)
    associations = AssociationRegistry(try Self.associations(configuration))
    readiness.add { [committer, clock = dependencies.clock] in
      committer.unreadiness(now: clock.monotonic)
    }
    readiness.add { engine.troubles.map(ReadinessReason.init) }
    let all = Observers(
      dispatcher: dispatcher, housekeeper: housekeeper, board: board, jobs: jobs, enquirer: enquirer)
    observers.withLock { $0 = all }
    housekeeper.reconsider(apps: directory.slugs)
    // A reload reports them itself (`ReloadReport`).
    UnconfiguredApp.log(try Self.reader(engine), configured: directory.slugs, dependencies.log)
  }

  /// What the public listener answers with.
  func publicListener(
    _ services: ListenerServices, _ limits: Configuration.Limits, _ processors: ProcessorRegistry
  ) -> Router {
    let intake = IntakeRoutes(
      services: services, limits: limits, apps: apps, committer: committer, checkouts: board,
      keyFetcher: keyFetcher, processors: processors)
    return .public(services: services, intake: intake, pages: pages(services))
  }

  func pages(_ services: ListenerServices) -> PublicPageRoutes {
    PublicPageRoutes(apps: apps, associations: associations, clock: services.clock) {
      [board] names, app, requestID throws(StoreFault) in
      try board.look(names, app: app, requestID: requestID)
    }
  }

  /// The public listener is open: a listener without free connections makes the relay unready.
  func use(_ load: @escaping @Sendable () -> ServerLoad) {
    publicLoad.withLock { $0 = load }
    readiness.add {
      let load = load()
      return load.isFull ? [.noFreeConnections(inUse: load.connections)] : []
    }
  }

  /// Tells what the public listener holds. The closure holds nothing of the core: SQLite's files are closed
  /// when nobody owns them any more, and the writer must be the last to go.
  var listenerGauges: @Sendable () -> ListenerGauges {
    { [publicLoad, weak board] in
      let load = publicLoad.withLock { $0 }?()
      return ListenerGauges(
        load: load ?? ServerLoad(connections: 0, connectionsMax: 0), longPolls: board?.waitingCount ?? 0)
    }
  }

  /// Starts the threads. `stop` ends those that were started, also when not all could be.
  func start() throws(DaemonError) {
    do throws(SystemError) {
      try receiptLog.start()
      try engine.start()
      try committer.start()
      try dispatcher.start()
      try housekeeper.start()
      try jobs.start()
      try enquirer?.start()
      try keyFetcher?.start()
    } catch {
      throw .unavailable("cannot start a thread (\(error))")
    }
  }

  static func reader(_ engine: any StoreEngine) throws(DaemonError) -> StoreReader {
    do throws(StoreError) {
      return try engine.openReader()
    } catch {
      throw DaemonError(error)
    }
  }

  /// - Throws: `Fault`.
  func reload(_ configuration: Configuration) throws {
    let directory = try AppDirectory(configuration)
    let associations = try AssociationBoard(configuration)
    let before = apps.current
    // A new app has its rules before it has requests; one that goes keeps them until it has none any more.
    committer.use(rules: before.rules.merging(directory.rules) { $1 })
    apps.replace(with: directory)
    self.associations.replace(with: associations)
    committer.use(rules: directory.rules)
    housekeeper.use(retention: configuration.retention)
    // Before the dispatcher knows the new configuration: a probe that succeeds closes the breaker, and with a
    // closed one nothing is expedited.
    for app in directory.apps.values {
      let pauses = [before[app.slug], app].compactMap { $0?.delivery.breaker.openForMilliseconds }
      // If it cannot be stored, the receipts come back by themselves after that pause.
      let expedite = Expedite(app: app.slug, pauseMilliseconds: pauses.max() ?? 0)
      _ = committer.submit(expedite, from: .inside) { _ in }
    }
    dispatcher.use(directory)
    jobs.use(windows: directory.replayWindows)
    enquirer?.use(directory)
    keyFetcher?.use(directory)
    housekeeper.lookEverywhere()
    housekeeper.reconsider(apps: directory.slugs)
  }

  func lookEverywhere() {
    dispatcher.lookEverywhere()
    housekeeper.lookEverywhere()
    jobs.lookNow()
    enquirer?.lookEverywhere()
  }

  /// Starts nothing more, so that the grace of what is under way runs while the listeners have theirs.
  func windDown() {
    dispatcher.windDown()
    enquirer?.windDown()
    keyFetcher?.windDown()
    board.dismissAll()
  }

  /// In the order in which work flows: the last to stop is who writes it down.
  func stop() {
    engine.stop()
    enquirer?.stop()
    keyFetcher?.stop()
    dispatcher.stop()
    housekeeper.stop()
    jobs.stop()
    committer.stop()
    receiptLog.stop()
    // The committer and its observers own each other; SQLite closes its files once nobody owns them any more.
    observers.withLock { $0 = Observers() }
  }
}

extension DaemonError {
  init(_ error: StoreError) {
    if case .fault(let fault) = error {
      self = .database(error.description, isBusy: fault.kind == .busy)
    } else {
      self = .database(error.description, isBusy: false)
    }
  }
}

extension CheckoutBoard: WaitingRequests {}
