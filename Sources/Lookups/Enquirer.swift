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
  struct Inbox {
    var asksAt: [String: Timestamp] = [:]
    /// Look-ups whose answers are on disk, or could not be stored.
    var settled: [(app: String, row: Int64, isStored: Bool)] = []
    /// Slices of fetched events: what became of each; nil when they could not be stored.
    var taken: [(app: String, edition: Int, outcomes: [TakeEvent.Outcome]?)] = []
    var plans: [PlanLookUps] = []
    var hasBackfills = false
    var directory: AppDirectory?
    var looksEverywhere = false
    var isStopping = false
    /// Whether the thread was woken and has not read this yet.
    var isWoken = false
  }

  let inbox = Monitor(Inbox())
  let transport: any HTTPTransport
  let committer: Committer
  let metrics: Metrics
  let dependencies: Dependencies
  /// Between two notes in the database that receiptd serves.
  let signIntervalMilliseconds: Int64
  private let thread = Monitor<WorkerThread?>(nil)
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory

  public init(
    transport: any HTTPTransport, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, dependencies: Dependencies, signIntervalMilliseconds: Int64 = 60_000
  ) {
    self.signIntervalMilliseconds = signIntervalMilliseconds
    self.transport = transport
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.dependencies = dependencies
  }

  public func start() throws(SystemError) {
    let started = try WorkerThread(name: "enquirer") { [self] in
      reader.withLock { reader in
        var run = EnquirerRun(self, reader: reader, directory: directory)
        run.loop()
      }
    }
    thread.withLock { $0 = started }
  }

  /// Purchases are to be asked about, from these moments on.
  public func note(asksAt: [String: Timestamp]) {
    guard !asksAt.isEmpty else { return }
    tell { inbox in inbox.asksAt.merge(asksAt) { min($0, $1) } }
  }

  /// Another process changed the database.
  public func lookEverywhere() { tell { $0.looksEverywhere = true } }

  /// New apps and settings.
  public func use(_ directory: AppDirectory) { tell { $0.directory = directory } }

  /// Asks nothing more.
  public func windDown() { tell { $0.isStopping = true } }

  /// Ends the thread. What is asked now is asked again by the next run.
  public func stop() {
    windDown()
    thread.withLock { $0?.join() }
  }

  func tell(_ change: (inout Inbox) -> Void) {
    let hasUnread = inbox.withLock { inbox in
      change(&inbox)
      defer { inbox.isWoken = true }
      return inbox.isWoken
    }
    // Whoever left the first message that is still unread has woken the thread.
    if !hasUnread { transport.wake() }
  }
}
