// The threads behind the listeners: how they are made, notify each other of commits, start, get a new
// configuration and stop. Tests and benchmarks use this composition, too.

internal import Config
internal import Domain
internal import Formats
internal import HTTPClient
internal import HTTPServer
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Upkeep
internal import Web

/// All parts except the listeners.
final class RelayCore: Sendable {
  let apps: AppRegistry
  /// The association files that devices request from the apps' hosts.
  let associations: AssociationRegistry
  let metrics = Metrics()
  let readiness = Readiness()
  let engine: any StoreEngine
  let committer: Committer
  let checkoutPolls: CheckoutPolls
  let dispatcher: Dispatcher
  let housekeeper: Housekeeper
  let contextRetention: ContextRetention
  let jobs: JobRunner
  let indexer: SearchIndexer
  let memory: IdleMemory
  let receiptLog: ReceiptLog
  /// Answers the requests of operators.
  let pageThread = PageThread()
  /// Nil if no lookup transport is given.
  let lookupWorker: LookupWorker?
  /// Nil if no transport for announcements is given.
  let claimAnnouncer: ClaimAnnouncer?
  /// Nil if no key transport is given.
  let keyFetcher: KeyFetcher?
  /// Both nil if no transports for them are given.
  let backendWorker: BackendWorker?
  let captureWorker: CaptureWorker?

  /// The parts that are notified of each commit. They are created after the committer, to which they submit,
  /// so strong references would form a cycle.
  private struct Observers {
    weak var dispatcher: Dispatcher?
    weak var housekeeper: Housekeeper?
    weak var checkoutPolls: CheckoutPolls?
    weak var jobs: JobRunner?
    weak var lookupWorker: LookupWorker?
    weak var captureWorker: CaptureWorker?
    weak var claimAnnouncer: ClaimAnnouncer?

    func notify(of changes: StoreChanges) {
      dispatcher?.note(dueAt: changes.dueAt, replaysDueAt: changes.replaysDueAt)
      if changes.hasPauses {
        dispatcher?.checkPauses()
        jobs?.checkNow()
      }
      housekeeper?.note(waitUntil: changes.waitUntil)
      checkoutPolls?.noteChanged(changes.contextIDs)
      if changes.hasJobs { jobs?.checkNow() }
      lookupWorker?.note(lookupsDueAt: changes.lookupsDueAt)
      captureWorker?.note(changes.orderedCaptures)
      claimAnnouncer?.note(dueAt: changes.announcementsDueAt)
    }
  }

  /// This program as one of several on the database; nil if it is the only one.
  let instance: (any StoreInstance)?
  var ownership: any Ownership { instance ?? SoleOwner() }

  private let observers = Monitor(Observers())
  /// The load of the public listener, once it is open.
  let publicLoad = Monitor<(@Sendable () -> ServerLoad)?>(nil)

  /// - Parameters:
  ///   - engine: of the database.
  ///   - dependencies: transports, clock, log and callbacks. The threads run after `start`.
  init(
    _ configuration: Configuration, _ engine: any StoreEngine, _ dependencies: RelayDependencies
  ) throws(DaemonError) {
    let directory = try Self.directory(configuration)
    self.engine = engine
    let observers = observers
    let hub = InstanceHub()
    let instance = engine.makeInstance(hub.calls, log: dependencies.log)
    self.instance = instance
    let ownership: any Ownership = instance ?? SoleOwner()
    let dependencies = dependencies.using(instance?.clock)
    let receiptLog = ReceiptLog(dependencies.log, metrics: metrics)
    self.receiptLog = receiptLog
    let memory = IdleMemory(dependencies.clock)
    self.memory = memory
    committer = Committer(
      writer: try Self.writer(engine, directory, dependencies), capacity: configuration.limits.queue,
      reserve: engine.reserve, dependencies: dependencies.shared, metrics: metrics,
      holdPause: dependencies.holdPause, onSyncFailure: dependencies.onSyncFailure
    ) { [metrics] changes in
      memory.noteCommit()
      guard !changes.isEmpty else { return }
      observers.withLock { $0 }.notify(of: changes)
      instance?.note(changes)
      receiptLog.note(changes.transitions)
      SharedPayer.log(changes.sharedPayers, dependencies.log)
      metrics.delivered(changes.firstDeliveries)
      dependencies.onCommit(changes)
    }
    checkoutPolls = CheckoutPolls(
      reader: try Self.reader(engine), processors: configuration.registry,
      limits: LongPollLimits(configuration.limits.served), metrics: metrics, clock: dependencies.clock,
      log: dependencies.log
    ) { observers.withLock { $0.housekeeper }?.checkNow() }
    contextRetention = ContextRetention(configuration.retention)
    housekeeper = Housekeeper(
      committer: committer, retention: configuration.retention, dependencies: dependencies.shared,
      ownership: ownership, followsClock: instance == nil, completeLongPolls: checkoutPolls.completeDue
    ) { [checkoutPolls] in
      checkoutPolls.noteAllChanged()
      engine.poll()
      memory.poll()
    }
    let parts = { [committer, metrics] (transport: any HTTPTransport) throws(DaemonError) in
      WorkerParts(
        transport: transport, reader: try Self.reader(engine), directory: directory, committer: committer,
        metrics: metrics, dependencies: dependencies.shared, ownership: ownership, grace: dependencies.grace)
    }
    dispatcher = Dispatcher(try parts(dependencies.transport))
    jobs = JobRunner(
      reader: try Self.reader(engine), windows: directory.replayWindows, committer: committer,
      dependencies: dependencies.shared, ownership: ownership)
    indexer = try Self.indexer(engine, committer, dependencies, ownership)
    lookupWorker = try dependencies.lookupTransport.map { transport throws(DaemonError) in
      LookupWorker(try parts(transport), noteServiceInterval: dependencies.noteServiceInterval)
    }
    claimAnnouncer = try dependencies.announcementTransport.map { transport throws(DaemonError) in
      ClaimAnnouncer(try parts(transport))
    }
    keyFetcher = Self.keyFetcher(directory, metrics, dependencies)
    (backendWorker, captureWorker) = try Self.backendWorkers(dependencies.backendTransports, parts)
    apps = AppRegistry(directory)
    associations = AssociationRegistry(try Self.associations(configuration))
    hub.connect(self)
    use(directory, configuration)
    reportReadiness(dependencies.clock)
    connectObservers()
    housekeeper.reconsider(apps: directory.slugs)
    try logFindings(directory, dependencies.log)
  }

  /// A reload reports these apps separately (`ReloadReport`).
  private func logFindings(_ directory: AppDirectory, _ log: Log) throws(DaemonError) {
    let reader = try Self.reader(engine)
    UnconfiguredApp.log(reader, configured: directory.slugs, log)
    SharedPayer.log(reader, log)
  }

  /// The parts are notified of the commits from now on.
  private func connectObservers() {
    let all = Observers(
      dispatcher: dispatcher, housekeeper: housekeeper, checkoutPolls: checkoutPolls, jobs: jobs,
      lookupWorker: lookupWorker, captureWorker: captureWorker, claimAnnouncer: claimAnnouncer)
    observers.withLock { $0 = all }
  }

  /// Says to the other instances what this one may own.
  private func use(_ directory: AppDirectory, _ configuration: Configuration) {
    instance?.use(
      apps: directory.slugs, configuration: configuration.digest, secrets: configuration.secretsDigest,
      clockMax: directory.signatureAgeMax ?? Self.clockMax)
  }

  /// The largest difference between this machine's clock and the database's, without signatures that have a
  /// time.
  private static let clockMax: Duration = .minutes(5)

  private func reportReadiness(_ clock: any Clock) {
    readiness.add { [committer] in committer.unreadiness(now: clock.monotonic) }
    readiness.add { [engine] in engine.troubles.map(ReadinessReason.init) }
  }

  /// Starts the threads. `stop` ends those that were started, even if a later one failed.
  func start() throws(DaemonError) {
    do throws(SystemError) {
      try receiptLog.start()
      try pageThread.start()
      try engine.start()
      try committer.start()
      try instance?.start()
      try dispatcher.start()
      try housekeeper.start()
      try jobs.start()
      try indexer.start()
      try lookupWorker?.start()
      try keyFetcher?.start()
      try captureWorker?.start()
      try backendWorker?.start()
      try claimAnnouncer?.start()
    } catch {
      throw .unavailable("cannot start a thread (\(error))")
    }
  }

  /// Applies a new configuration.
  /// - Throws: `Fault`; then nothing has changed.
  func reload(_ configuration: Configuration) throws {
    let directory = try AppDirectory(configuration)
    let associations = try AssociationFileSet(configuration)
    engine.reload()
    let before = apps.current
    // A new app has its rules before its first request. Requests of a removed app that are still queued are
    // refused (`WhileConfigured`).
    committer.use(rules: before.rules.merging(directory.rules) { $1 })
    apps.replace(with: directory)
    self.associations.replace(with: associations)
    committer.use(rules: directory.rules)
    housekeeper.use(retention: configuration.retention)
    contextRetention.use(configuration.retention)
    dispatcher.use(directory)
    jobs.use(windows: directory.replayWindows)
    lookupWorker?.use(directory)
    keyFetcher?.use(directory)
    captureWorker?.use(directory)
    backendWorker?.use(directory)
    claimAnnouncer?.use(directory)
    use(directory, configuration)
    checkoutPolls.noteAllChanged()
    housekeeper.checkAll()
    housekeeper.reconsider(apps: directory.slugs)
  }

  /// Checks everything that another program may have changed.
  /// - Parameter changes: what it has changed; nil if that is not known.
  func noteOthers(_ changes: StoreChanges?) {
    guard let changes else { return checkAll() }
    observers.withLock { $0 }.notify(of: changes)
  }

  /// Begins and ends the work for apps whose owner has changed.
  func checkOwnership() {
    dispatcher.checkOwnership()
    checkoutPolls.noteAllChanged()
    housekeeper.checkAll()
    jobs.checkNow()
    lookupWorker?.checkAll()
    claimAnnouncer?.checkAll()
    captureWorker?.checkOwnership()
  }

  func checkAll() {
    dispatcher.checkAll()
    checkoutPolls.noteAllChanged()
    housekeeper.checkAll()
    jobs.checkNow()
    lookupWorker?.checkAll()
    claimAnnouncer?.checkAll()
  }

  /// Starts nothing more, so that the grace period runs at the same time as that of the listeners.
  func windDown() {
    dispatcher.windDown()
    lookupWorker?.windDown()
    claimAnnouncer?.windDown()
    keyFetcher?.windDown()
    backendWorker?.windDown()
    captureWorker?.windDown()
    checkoutPolls.answerAll()
  }

  /// Stops the threads in the order of the work: the committer after all that submit to it.
  func stop() {
    engine.stop()
    lookupWorker?.stop()
    claimAnnouncer?.stop()
    keyFetcher?.stop()
    backendWorker?.stop()
    captureWorker?.stop()
    dispatcher.stop()
    housekeeper.stop()
    checkoutPolls.answerAll()
    jobs.stop()
    indexer.stop()
    committer.stop()
    // After the last outcomes: another program may begin to deliver at once.
    instance?.stop()
    receiptLog.stop()
    pageThread.stop()
  }
}

// MARK: - Parts

// Makes the parts of the relay that need something that can fail. The main thread.

extension RelayCore {
  static func reader(_ engine: any StoreEngine) throws(DaemonError) -> StoreReader {
    do throws(StoreError) {
      return try engine.openReader()
    } catch {
      throw DaemonError(error)
    }
  }

  static func directory(_ configuration: Configuration) throws(DaemonError) -> AppDirectory {
    do {
      return try AppDirectory(configuration)
    } catch {
      throw .configuration(
        (error as? Fault) ?? Fault(path: "apps", message: "a secret cannot be used as a key"))
    }
  }

  static func associations(_ configuration: Configuration) throws(DaemonError) -> AssociationFileSet {
    do throws(Fault) {
      return try AssociationFileSet(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  static func writer(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ dependencies: RelayDependencies
  ) throws(DaemonError) -> StoreWriter {
    do throws(StoreError) {
      return try engine.openWriter(rules: directory.rules, random: dependencies.shared.random)
    } catch {
      throw DaemonError(error)
    }
  }

  static func indexer(
    _ engine: any StoreEngine, _ committer: Committer, _ dependencies: RelayDependencies,
    _ ownership: any Ownership
  ) throws(DaemonError) -> SearchIndexer {
    SearchIndexer(
      reader: try reader(engine), committer: committer, dependencies: dependencies.shared,
      ownership: ownership, mentions: ProcessorRegistry.standard.mentions)
  }

  /// Nil if no transport for keys is given.
  static func keyFetcher(
    _ directory: AppDirectory, _ metrics: Metrics, _ dependencies: RelayDependencies
  ) -> KeyFetcher? {
    dependencies.keyTransport.map { transport in
      KeyFetcher(
        transport: transport, directory: directory, metrics: metrics, dependencies: dependencies.shared)
    }
  }

  /// Nil if no transports for them are given.
  static func backendWorkers(
    _ transports: BackendTransports?, _ parts: (any HTTPTransport) throws(DaemonError) -> WorkerParts
  ) throws(DaemonError) -> (BackendWorker?, CaptureWorker?) {
    guard let transports else { return (nil, nil) }
    let captures = CaptureWorker(try parts(transports.captures))
    return (BackendWorker(try parts(transports.requests), captures: captures), captures)
  }
}

extension DaemonError {
  init(_ error: StoreError) {
    switch error {
    case .fault(let fault): self = .database(error.description, isBusy: fault.kind == .busy)
    // An operator has to decide, so a restart must not try again.
    case .retired, .unfinishedCopy, .severalSchemas: self = .refused(error.description)
    default: self = .database(error.description, isBusy: false)
    }
  }
}
