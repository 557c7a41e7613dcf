// The lookup worker: asks processors for data that events left out, and for events from the time that
// receiptd was down. One thread with its own connection and transfers, so that it delays no webhook and no
// delivery (R11). It must never write: results go to the committer.

public import Domain
public import HTTPClient
public import Platform
public import Service
public import Store

/// Sends queries to the payment processors. Thread-safe.
public final class LookupWorker: Sendable {
  /// The most queries under way, of all apps together.
  public static let transfersMax = 64
  /// The pause before a retry after the database could not be read or written.
  static let faultPause: Duration = .seconds(1)

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var dueAt: [AppProcessor: Timestamp] = [:]
    /// Lookups whose results are on disk, or could not be stored.
    var stored: [(place: AppProcessor, row: PurchaseRowID, isStored: Bool)] = []
    /// Slices of fetched events with their outcomes; nil if they could not be stored.
    var ingested: [(place: AppProcessor, generation: Int, outcomes: [IngestEvent.Outcome]?)] = []
    var plans: [PlanLookups] = []
    var retries: [RetryFetches] = []
    var hasBackfills = false
    var directory: AppDirectory?
    var checksAll = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let transport: any HTTPTransport
  let committer: Committer
  let metrics: Metrics
  let dependencies: Dependencies
  let ownership: any Ownership
  /// How often the database gets a timestamp that receiptd is running.
  let noteServiceInterval: Duration
  let faultLines = LogLimiter(pause: LogLimiter.faultPause)
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory

  public init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, ownership: any Ownership = SoleOwner(),
    noteServiceInterval: Duration = .seconds(60)
  ) {
    self.ownership = ownership
    self.noteServiceInterval = noteServiceInterval
    worker = Worker("lookups", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.dependencies = dependencies
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in
      reader.withLock { reader in
        var run = LookupRun(self, reader: reader, directory: directory)
        run.loop()
      }
    }
  }

  /// Notes that lookups are due at these times.
  public func note(lookupsDueAt dueAt: [AppProcessor: Timestamp]) {
    guard !dueAt.isEmpty else { return }
    worker.post { inbox in inbox.dueAt.merge(dueAt) { min($0, $1) } }
  }

  /// Checks all apps, because another process changed the database.
  public func checkAll() { worker.post { $0.checksAll = true } }

  /// Installs new apps and settings.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Sends no further query.
  public func windDown() { worker.requestStop() }

  /// Logs a fault of the database, at most once a minute for each app.
  func logFault(_ what: String, _ error: StoreFault, app: AppSlug? = nil) {
    faultLines.logFault(what, error, app: app, to: dependencies.log, now: dependencies.clock.monotonic)
  }

  /// Ends the thread. The next run repeats queries under way.
  public func stop() {
    worker.stop()
  }
}
