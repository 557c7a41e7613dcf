// The dispatcher: sends due receipts over one libcurl multi handle and submits each outcome to the committer.
// One thread owns all lanes and transfers; other threads post messages and wake it. It must never block on
// the committer or the disk.

internal import Domain
internal import HTTPClient
internal import Platform
internal import Service
internal import Store

/// Delivers receipts. Thread-safe.
final class Dispatcher: NetworkWorker {
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
    /// The lease under which it was delivered.
    var lease: Lease
    var row: PurchaseRowID
    /// When the receipt is due again, and in which queue; nil if it is not due.
    var next: Lane.Due?
  }

  let worker: Worker<Inbox>
  let parts: WorkerParts
  /// How many deliveries of each app are under way or not stored yet.
  private let underWay = Monitor<[AppSlug: Int]>([:])

  init(_ parts: WorkerParts) {
    let transport = parts.transport
    worker = Worker("dispatcher", inbox: Inbox()) { transport.wake() }
    self.parts = parts
  }

  func drive<Failure: Error>(_ body: (inout DispatcherRun) throws(Failure) -> Void) throws(Failure) {
    try parts.withReader { reader throws(Failure) in
      var run = DispatcherRun(self, reader: reader)
      try body(&run)
    }
  }

  /// Notes that receipts are due at these times, by app.
  func note(dueAt: [AppSlug: Timestamp], replaysDueAt: [AppSlug: Timestamp] = [:]) {
    guard !dueAt.isEmpty || !replaysDueAt.isEmpty else { return }
    worker.post { inbox in
      inbox.dueAt.merge(dueAt) { min($0, $1) }
      inbox.replaysDueAt.merge(replaysDueAt) { min($0, $1) }
    }
  }

  /// Checks all lanes, because another process changed the database.
  func checkAll() { worker.post { $0.checksAll = true } }

  /// Reads the pauses of apps, because one has changed.
  func checkPauses() { worker.post { $0.checksPauses = true } }

  /// Checks which apps this program delivers now.
  func checkOwnership() { worker.post { _ in } }

  /// Whether deliveries of an app are under way, or their outcomes are not on disk.
  func isBusy(_ app: AppSlug) -> Bool { underWay.withLock { $0[app, default: 0] > 0 } }

  func note(underWay counts: [AppSlug: Int]) { underWay.withLock { $0 = counts } }

  /// Installs new apps and settings.
  func use(_ directory: AppDirectory) { worker.post { $0.directory = directory } }
}
