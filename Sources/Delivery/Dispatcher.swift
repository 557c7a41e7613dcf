// The dispatcher: takes receipts that are due, sends them over one libcurl multi handle, and hands what came
// of each to the committer. One thread, which owns every lane and the transfers; others leave messages and
// wake it. It must never block on the committer or the disk's writer.

public import Apps
public import Domain
public import HTTPClient
public import Persistence
public import Platform
public import Store
public import Telemetry

/// Delivers receipts.
public final class Dispatcher: Sendable {
  /// After the database could not be read or written, the next try comes after this.
  static let faultPauseMilliseconds: Int64 = 1000

  /// What others have to say.
  struct Inbox: WorkerInbox {
    var dueAt: [String: Timestamp] = [:]
    var replaysDueAt: [String: Timestamp] = [:]
    var settled: [Settled] = []
    var unstored: [(attempt: RecordAttempt, at: MonotonicInstant)] = []
    var directory: AppDirectory?
    var looksEverywhere = false
    var isStopping = false
  }

  /// A delivery whose outcome is on disk.
  struct Settled {
    var app: String
    var row: Int64
    /// When the receipt is due again, and in which queue; nil when it is not.
    var next: Lane.Due?
  }

  let worker: Worker<Inbox>
  let committer: Committer
  let metrics: Metrics
  let transport: any HTTPTransport
  let dependencies: Dependencies
  let faultLines = LogLimiter(pauseMilliseconds: LogLimiter.faultPauseMilliseconds)
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory
  private let graceMilliseconds: Int64

  public init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, graceMilliseconds: Int64
  ) {
    worker = Worker("dispatcher", inbox: Inbox()) { transport.wake() }
    self.transport = transport
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.dependencies = dependencies
    self.graceMilliseconds = graceMilliseconds
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in drive { run in run.loop() } }
  }

  /// Lets the caller's thread do the dispatcher's work.
  func drive(_ body: (inout DispatcherRun) -> Void) {
    reader.withLock { reader in
      var run = DispatcherRun(self, reader: reader, directory: directory)
      body(&run)
    }
  }

  /// Receipts were made ready, or will be due at these moments.
  public func note(dueAt: [String: Timestamp], replaysDueAt: [String: Timestamp] = [:]) {
    guard !dueAt.isEmpty || !replaysDueAt.isEmpty else { return }
    worker.post { inbox in
      inbox.dueAt.merge(dueAt) { min($0, $1) }
      inbox.replaysDueAt.merge(replaysDueAt) { min($0, $1) }
    }
  }

  /// Another process changed the database.
  public func lookEverywhere() { worker.post { $0.looksEverywhere = true } }

  /// New apps and settings.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Starts nothing more; what is under way has its grace from now.
  public func windDown() { worker.requestStop() }

  /// Winds down and ends the thread.
  public func stop() {
    worker.stop()
  }

  /// For how long what is under way may go on after `stop`.
  func stopDeadline() -> MonotonicInstant {
    dependencies.clock.monotonic.advanced(byMilliseconds: graceMilliseconds)
  }
}
