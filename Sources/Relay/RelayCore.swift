// The threads behind the listeners and how news travels between them: the committer tells what it changed,
// the dispatcher and the housekeeper look whether it concerns them.

internal import Domain
internal import HTTPServer
internal import Platform
internal import Presentation
internal import SQLiteStore
internal import Store

/// Everything that works without a listener.
final class RelayCore: Sendable {
  let apps: AppRegistry
  let metrics = Metrics()
  let readiness = Readiness()
  let health: DatabaseHealth
  /// Nil where nothing is checked at the start.
  let checker: DatabaseChecker?
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

  /// The parts that the committer tells; they are made after it.
  private struct Audience {
    var dispatcher: Dispatcher?
    var housekeeper: Housekeeper?
    var board: CheckoutBoard?
    var jobs: JobRunner?
    var enquirer: Enquirer?
  }

  private let audience = Monitor(Audience())
  /// Of the public listener, once it is open.
  private let publicLoad = Monitor<(@Sendable () -> ServerLoad)?>(nil)

  /// - Parameter surroundings: what is outside; the threads run from `start` on.
  init(_ configuration: Configuration, _ surroundings: Surroundings) throws(DaemonError) {
    let directory = try Self.directory(configuration)
    let path = configuration.databasePath
    let health = DatabaseHealth(log: surroundings.log)
    self.health = health
    let audience = audience
    let receiptLog = ReceiptLog(surroundings.log, metrics: metrics)
    self.receiptLog = receiptLog
    let checker = Self.checker(path, surroundings, health)
    self.checker = checker
    let checkpointer = Self.checkpointer(path, surroundings, health, checker)
    committer = Committer(
      writer: try Self.writer(path, directory, checkpointer, surroundings, health),
      checkpointer: checkpointer, capacity: configuration.limits.queue, surroundings: surroundings,
      metrics: metrics
    ) { changes in
      let told = audience.withLock { $0 }
      told.dispatcher?.note(dueAt: changes.dueAt, replaysDueAt: changes.replaysDueAt)
      told.housekeeper?.note(waitUntil: changes.waitUntil)
      told.board?.noteChanged(changes.contextIDs)
      if changes.hasJobs { told.jobs?.lookNow() }
      receiptLog.note(changes.transitions)
      told.enquirer?.note(asksAt: changes.asksAt)
    }
    if surroundings.watchesDatabaseFile { health.watch(path) }
    board = CheckoutBoard(
      reader: try Self.reader(path, health), limits: LongPollLimits(configuration.limits), metrics: metrics,
      clock: surroundings.clock, log: surroundings.log
    ) {
      audience.withLock { $0.housekeeper }?.lookNow()
    }
    housekeeper = Housekeeper(
      committer: committer, board: board, retention: configuration.retention, surroundings: surroundings
    ) {
      // Also where nothing is stored; the log says what it finds.
      _ = health.isInPlace()
      checker?.endWhenOver()
    }
    dispatcher = Dispatcher(
      reader: try Self.reader(path, health), directory: directory, committer: committer, metrics: metrics,
      surroundings: surroundings, graceMilliseconds: Daemon.graceMilliseconds)
    jobs = JobRunner(
      reader: try Self.reader(path, health), directory: directory, committer: committer,
      surroundings: surroundings)
    if let carrier = surroundings.enquiryCarrier {
      enquirer = Enquirer(
        carrier: carrier, reader: try Self.reader(path, health), directory: directory, committer: committer,
        metrics: metrics, surroundings: surroundings)
    } else {
      enquirer = nil
    }
    keyFetcher = surroundings.keyCarrier.map { [metrics] carrier in
      KeyFetcher(carrier: carrier, directory: directory, metrics: metrics, surroundings: surroundings)
    }
    apps = AppRegistry(directory)
    readiness.add { [committer, clock = surroundings.clock] in
      committer.unreadiness(now: clock.monotonic)
    }
    readiness.add { health.unreadiness() }
    let everyone = Audience(
      dispatcher: dispatcher, housekeeper: housekeeper, board: board, jobs: jobs, enquirer: enquirer)
    audience.withLock { $0 = everyone }
    housekeeper.reconsider(apps: directory.slugs)
    // A reload reports them itself (`ReloadReport`).
    UnconfiguredApp.log(try Self.reader(path, health), configured: directory.slugs, surroundings.log)
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
      try committer.start()
      try checker?.start()
      try dispatcher.start()
      try housekeeper.start()
      try jobs.start()
      try enquirer?.start()
      try keyFetcher?.start()
    } catch {
      throw .unavailable("cannot start a thread (\(error))")
    }
  }

  private static func directory(_ configuration: Configuration) throws(DaemonError) -> AppDirectory {
    do {
      return try AppDirectory(configuration)
    } catch {
      throw .configuration(
        (error as? Fault) ?? Fault(path: "apps", message: "a secret cannot be used as a key"))
    }
  }

  /// Nil where nothing is checked at the start.
  private static func checker(
    _ path: String, _ surroundings: Surroundings, _ health: DatabaseHealth
  ) -> DatabaseChecker? {
    surroundings.checkMilliseconds.map { milliseconds in
      DatabaseChecker(path: path, milliseconds: milliseconds, health: health, log: surroundings.log)
    }
  }

  /// Nil where the committer moves the log itself.
  private static func checkpointer(
    _ path: String, _ surroundings: Surroundings, _ health: DatabaseHealth, _ checker: DatabaseChecker?
  ) -> Checkpointer? {
    guard surroundings.movesLogInBackground else { return nil }
    return Checkpointer(
      path: path, onSyncFailure: surroundings.onSyncFailure, onDamage: { health.note($0) },
      onHeldBack: { checker?.giveWay() })
  }

  private static func writer(
    _ path: String, _ directory: AppDirectory, _ checkpointer: Checkpointer?, _ surroundings: Surroundings,
    _ health: DatabaseHealth
  ) throws(DaemonError) -> StoreWriter {
    do throws(StoreError) {
      return try StoreWriter(
        path: path, role: .owner, rules: directory.rules, random: surroundings.random,
        background: checkpointer, onDamage: { health.note($0) }, isInPlace: { health.isInPlace() })
    } catch {
      throw DaemonError(error)
    }
  }

  static func reader(_ path: String, _ health: DatabaseHealth) throws(DaemonError) -> StoreReader {
    do throws(StoreError) {
      return try StoreReader(path: path) { health.note($0) }
    } catch {
      throw DaemonError(error)
    }
  }

  /// - Throws: `Fault`.
  func reload(_ configuration: Configuration) throws {
    let directory = try AppDirectory(configuration)
    let before = apps.current
    // A new app has its rules before it has requests; one that goes keeps them until it has none any more.
    committer.use(rules: before.rules.merging(directory.rules) { $1 })
    apps.replace(with: directory)
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
    jobs.use(directory)
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
    checker?.stop()
    enquirer?.stop()
    keyFetcher?.stop()
    dispatcher.stop()
    housekeeper.stop()
    jobs.stop()
    committer.stop()
    receiptLog.stop()
    // The committer and its audience own each other; SQLite closes its files once nobody owns them any more.
    audience.withLock { $0 = Audience() }
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
