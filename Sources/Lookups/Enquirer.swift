// The enquirer: asks processors for what events left out, and for events of the time that receiptd was down.
// One thread with its own connection and its own transfers, so that nothing of it delays a webhook or a
// delivery (R11). It must never write: what it learns goes to the committer.

public import Apps
public import Domain
public import HTTPClient
public import Persistence
public import Platform
public import Store
public import Telemetry

/// Asks the payment processors.
public final class Enquirer: Sendable {
  /// Questions of all apps at once.
  public static let transfersMax = 64
  /// After the database could not be read or written, the next try comes after this.
  static let faultPauseMilliseconds: Int64 = 1000

  /// What others have to say.
  struct Inbox: WorkerInbox {
    var asksAt: [AppProcessor: Timestamp] = [:]
    /// Look-ups whose answers are on disk, or could not be stored.
    var settled: [(place: AppProcessor, row: Int64, isStored: Bool)] = []
    /// Slices of fetched events: what became of each; nil when they could not be stored.
    var taken: [(place: AppProcessor, edition: Int, outcomes: [TakeEvent.Outcome]?)] = []
    var plans: [PlanLookUps] = []
    var hasBackfills = false
    var directory: AppDirectory?
    var looksEverywhere = false
    var isStopping = false
  }

  let worker: Worker<Inbox>
  let transport: any HTTPTransport
  let committer: Committer
  let metrics: Metrics
  let dependencies: Dependencies
  /// Between two notes in the database that receiptd serves.
  let signIntervalMilliseconds: Int64
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory

  public init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, signIntervalMilliseconds: Int64 = 60_000
  ) {
    self.signIntervalMilliseconds = signIntervalMilliseconds
    worker = Worker("enquirer", inbox: Inbox()) { transport.wake() }
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
        var run = EnquirerRun(self, reader: reader, directory: directory)
        run.loop()
      }
    }
  }

  /// Purchases are to be asked about, from these moments on.
  public func note(asksAt: [AppProcessor: Timestamp]) {
    guard !asksAt.isEmpty else { return }
    worker.post { inbox in inbox.asksAt.merge(asksAt) { min($0, $1) } }
  }

  /// Another process changed the database.
  public func lookEverywhere() { worker.post { $0.looksEverywhere = true } }

  /// New apps and settings.
  public func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }

  /// Asks nothing more.
  public func windDown() { worker.requestStop() }

  /// Ends the thread. What is asked now is asked again by the next run.
  public func stop() {
    worker.stop()
  }
}
