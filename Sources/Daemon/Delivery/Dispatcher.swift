// The dispatcher: sends due receipts over one libcurl multi handle and submits each outcome to the committer.
// One thread owns all lanes and transfers; other threads post messages and wake it. It must never block on
// the committer or the disk.

public import Domain
public import HTTPClient
public import Platform
public import Service
public import Store

/// Delivers receipts. Thread-safe.
public final class Dispatcher: Sendable {
  /// The pause before a retry after the database could not be read or written.
  static let faultPause: Duration = .seconds(1)

  /// Messages from other threads.
  struct Inbox: WorkerInbox {
    var dueAt: [AppSlug: Timestamp] = [:]
    var replaysDueAt: [AppSlug: Timestamp] = [:]
    var stored: [StoredOutcome] = []
    var unstored: [(attempt: Fenced<RecordAttempt>, at: MonotonicInstant)] = []
    var directory: AppDirectory?
    var checksAll = false
    /// Whether to read the pauses of apps.
    var checksPauses = false
    var isStopping = false
  }

  /// A delivery whose outcome is on disk.
  struct StoredOutcome {
    var place: AppDestination
    /// With which right it was delivered.
    var tenure: Tenure
    var row: PurchaseRowID
    /// When the receipt is due again, and in which queue; nil if it is not due.
    var next: Lane.Due?
  }

  let worker: Worker<Inbox>
  let committer: Committer
  let metrics: Metrics
  let transport: any HTTPTransport
  let dependencies: Dependencies
  let ownership: any Ownership
  /// How many deliveries of each app are under way or not stored yet.
  private let underWay = Monitor<[AppSlug: Int]>([:])
  let faultLines = LogLimiter(pause: LogLimiter.faultPause)
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory
  private let grace: Duration

  public init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, ownership: any Ownership = SoleOwner(), grace: Duration
  ) {
    self.ownership = ownership
    worker = Worker("dispatcher", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.dependencies = dependencies
    self.grace = grace
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in drive { run in run.loop() } }
  }

  /// Runs the dispatcher's work on the caller's thread.
  func drive(_ body: (inout DispatcherRun) -> Void) {
    reader.withLock { reader in
      var run = DispatcherRun(self, reader: reader, directory: directory)
      body(&run)
    }
  }

  /// Notes that receipts are due at these times, by app.
  public func note(dueAt: [AppSlug: Timestamp], replaysDueAt: [AppSlug: Timestamp] = [:]) {
    guard !dueAt.isEmpty || !replaysDueAt.isEmpty else { return }
    worker.post { inbox in
      inbox.dueAt.merge(dueAt) { min($0, $1) }
      inbox.replaysDueAt.merge(replaysDueAt) { min($0, $1) }
    }
  }

  /// Checks all lanes, because another process changed the database.
  public func checkAll() { worker.post { $0.checksAll = true } }

  /// Reads the pauses of apps, because one has changed.
  public func checkPauses() { worker.post { $0.checksPauses = true } }

  /// Checks which apps this program delivers now.
  public func checkOwnership() { worker.post { _ in } }

  /// Whether deliveries of an app are under way, or their outcomes are not on disk.
  public func isBusy(_ app: AppSlug) -> Bool { underWay.withLock { $0[app, default: 0] > 0 } }

  func note(underWay counts: [AppSlug: Int]) { underWay.withLock { $0 = counts } }

  /// Installs new apps and settings.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Starts no further delivery. Deliveries under way have their grace period from now on.
  public func windDown() { worker.requestStop() }

  /// Winds down and ends the thread.
  public func stop() {
    worker.stop()
  }

  /// When deliveries under way are cancelled, if the stop begins now.
  func stopDeadline() -> MonotonicInstant {
    dependencies.clock.monotonic.advanced(by: grace)
  }
}
