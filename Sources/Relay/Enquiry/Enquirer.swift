// The enquirer: asks processors for what events left out, and for events of the time that receiptd was down.
// One thread with its own connection and its own transfers, so that nothing of it delays a webhook or a
// delivery (R11). It must never write: what it learns goes to the committer.

internal import Domain
internal import HTTPClient
internal import Platform
internal import Store

/// Asks the payment processors.
final class Enquirer: Sendable {
  /// Questions of all apps at once.
  static let transfersMax = 64
  /// Between two signs of life in the database.
  static let signMilliseconds: Int64 = 60_000
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
  let carrier: any Carrier
  let committer: Committer
  let metrics: Metrics
  let surroundings: Surroundings
  private let thread = Monitor<WorkerThread?>(nil)
  private let reader: Monitor<StoreReader>
  private let directory: AppDirectory

  init(
    carrier: any Carrier, reader: sending StoreReader, directory: AppDirectory, committer: Committer,
    metrics: Metrics, surroundings: Surroundings
  ) {
    self.carrier = carrier
    self.reader = Monitor(reader)
    self.directory = directory
    self.committer = committer
    self.metrics = metrics
    self.surroundings = surroundings
  }

  func start() throws(SystemError) {
    let started = try WorkerThread(name: "enquirer") { [self] in
      reader.withLock { reader in
        var run = EnquirerRun(self, reader: reader, directory: directory)
        run.loop()
      }
    }
    thread.withLock { $0 = started }
  }

  /// Purchases are to be asked about, from these moments on.
  func note(asksAt: [String: Timestamp]) {
    guard !asksAt.isEmpty else { return }
    tell { inbox in inbox.asksAt.merge(asksAt) { min($0, $1) } }
  }

  /// Another process changed the database.
  func lookEverywhere() { tell { $0.looksEverywhere = true } }

  /// New apps and settings.
  func use(_ directory: AppDirectory) { tell { $0.directory = directory } }

  /// Asks nothing more.
  func windDown() { tell { $0.isStopping = true } }

  /// Ends the thread. What is asked now is asked again by the next run.
  func stop() {
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
    if !hasUnread { carrier.wake() }
  }
}
