// The one writer's thread: takes everything that waits in one bounded queue, applies it in one synced
// transaction, then answers all of it. That is the group commit: whoever came during the last sync shares the
// next one. It must never block on anything but the disk.

internal import Domain
public import Platform
public import Store
public import Telemetry

/// The queue in front of the store's writer, and the thread behind it.
public final class Committer: Sendable {
  /// What the database must be able to take in without growing before requests are accepted on a full disk.
  private static let roomBytes: Int64 = 16 << 20
  /// How much one transaction takes in, so that the first in it does not wait long for the last.
  static let batchMax = 1024

  /// Who submits.
  public enum Origin {
    /// A request for an app: refused when the queue is full (R8), or when the app has its share of it (R11).
    case outside(app: String)
    /// The relay itself, whose commands are few and must not be lost: never refused.
    case inside
  }

  /// Why a request is refused.
  public enum Refusal {
    case busy, diskFull, stopping
  }

  private struct Queue: WorkerInbox {
    var waiting: [(submission: Submission, app: String?)] = []
    /// How many of them are requests, by app.
    var requests: [String: Int] = [:]
    var isStopping = false
    /// Whether the disk is full: what comes from outside is refused until there is space again.
    var isDiskFull = false
    /// How often a write found no space.
    var timesFull = 0
    /// What the database file could take in without growing, as was last counted on a full disk.
    var freeBytes: Int64 = 0
    /// When the batch that is being applied began.
    var busySince: MonotonicInstant?
    /// Whether the last batch could be stored.
    var fault: StoreFault?
  }

  private let worker = Worker("committer", inbox: Queue())
  private let writer: Monitor<StoreWriter>
  private let capacity: Int
  private let dependencies: Dependencies
  private let reserve: any SpaceReserve
  private let onSyncFailure: @Sendable (StoreFault) -> Void
  private let metrics: Metrics
  private let onCommit: @Sendable (StoreChanges) -> Void

  /// - Parameters:
  ///   - reserve: space for what must go on when the disk is full.
  ///   - onSyncFailure: called once, when a write could not be made durable: whatever is answered from then
  ///     on may be untrue.
  ///   - onCommit: told on the committer's thread what each batch changed, after it is on disk.
  public init(
    writer: sending StoreWriter, capacity: Int, reserve: any SpaceReserve, dependencies: Dependencies,
    metrics: Metrics, onSyncFailure: @escaping @Sendable (StoreFault) -> Void,
    onCommit: @escaping @Sendable (StoreChanges) -> Void
  ) {
    self.writer = Monitor(writer)
    self.capacity = capacity
    self.reserve = reserve
    self.dependencies = dependencies
    self.onSyncFailure = onSyncFailure
    self.metrics = metrics
    self.onCommit = onCommit
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Queues a command.
  /// - Returns: false when it was refused; then `completion` is not called.
  public func submit<Command: StoreCommand>(
    _ command: Command, from origin: Origin,
    completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) -> Bool {
    let submission = Submission(command, completion: completion)
    return worker.post { queue in
      if queue.isStopping { return false }
      var requester: String?
      if case .outside(let app) = origin {
        guard refusal(queue, for: app) == nil else { return false }
        queue.requests[app, default: 0] += 1
        requester = app
      }
      queue.waiting.append((submission, requester))
      return true
    }
  }

  /// One app may fill half of the queue, so that a flood of its requests leaves the others theirs (R11).
  private func refusal(_ queue: Queue, for app: String) -> Refusal? {
    if queue.isStopping { return .stopping }
    if queue.isDiskFull { return .diskFull }
    let hasRoom = queue.waiting.count < capacity && queue.requests[app, default: 0] < max(1, capacity / 2)
    return hasRoom ? nil : .busy
  }

  /// What waits in the queue.
  public var depth: Int { worker.withInbox { $0.waiting.count } }

  /// Why nothing can be stored now; nil when it can.
  var fault: StoreFault? { worker.withInbox { $0.fault } }

  /// Whether there is room for another request's command.
  var hasRoom: Bool { worker.withInbox { !$0.isStopping && $0.waiting.count < capacity } }

  /// Whether requests are refused because the disk is full.
  public var isDiskFull: Bool { worker.withInbox { $0.isDiskFull } }

  /// Why a request of this app would be refused now; nil when it would not.
  public func refusal(for app: String) -> Refusal? { worker.withInbox { refusal($0, for: app) } }

  /// For how long the batch that is being applied has been; 0 when none is.
  public func busyMilliseconds(now: MonotonicInstant) -> Int64 {
    worker.withInbox { $0.busySince.map { now.milliseconds(since: $0) } ?? 0 }
  }

  /// New rules, from the next batch on.
  public func use(rules: [String: AppRules]) { writer.withLock { $0.use(rules: rules) } }

  /// Takes nothing more, stores what waits, moves the log into the database, and ends the thread.
  public func stop() {
    worker.stop()
    do throws(StoreFault) {
      try writer.withLock { writer throws(StoreFault) in try writer.finish() }
    } catch {
      // The log is complete and synced, so that any other failure costs the next start a moment and nothing
      // else.
      if error.kind == .syncFailed { onSyncFailure(error) }
    }
  }

  private func run() {
    while let batch = nextBatch() { commit(batch) }
  }

  /// Commits what waits now, on the caller's thread.
  /// - Returns: whether there was anything.
  func commitWaiting() -> Bool {
    guard let batch = worker.withInbox({ takeBatch(&$0) }) else { return false }
    commit(batch)
    return true
  }

  private func commit(_ batch: [Submission]) {
    let clock = dependencies.clock
    let started = clock.monotonic
    worker.withInbox { $0.busySince = started }
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    let result = writer.withLock { $0.apply(batch, now: now) }
    worker.withInbox { queue in
      queue.busySince = nil
      queue.fault = result.fault
    }
    metrics.committed(batch: batch.count, seconds: clock.monotonic.seconds(since: started))
    if let fault = result.fault { cope(with: fault) }
    if !result.changes.isEmpty { onCommit(result.changes) }
  }

  private func cope(with fault: StoreFault) {
    switch fault.kind {
    case .syncFailed:
      // What the kernel could not write it may forget (fsync(2)), and a second sync would succeed without it.
      // So nothing is stored any more: only a start that reads the disk again knows what is there.
      let waiting = worker.post { queue in
        queue.isStopping = true
        defer { queue.waiting = [] }
        return queue.waiting
      }
      for item in waiting { item.submission.fail(fault) }
      onSyncFailure(fault)
    case .full: copeWithFullDisk()
    default: break
    }
  }

  private func copeWithFullDisk() {
    // What waits from outside would use up the space that is given up now.
    let (isNews, refused) = worker.post { queue in
      defer {
        queue.isDiskFull = true
        queue.timesFull += 1
        queue.freeBytes = 0
        queue.waiting.removeAll { $0.app != nil }
        queue.requests = [:]
      }
      return (!queue.isDiskFull, queue.waiting.filter { $0.app != nil })
    }
    let full = StoreFault(.full, operation: "queue", reason: "the disk is full")
    for item in refused { item.submission.fail(full) }
    if isNews {
      dependencies.log.error(
        "the disk is full: contexts and events are refused until there is space again; free some, or shorten "
          + "retention. Deliveries go on")
    }
    // What is under way goes on in the space that was kept back: outcomes of deliveries, waits, retention.
    reserve.giveUp()
    do throws(StoreFault) {
      // Then the log needs no more of it.
      try writer.withLock { writer throws(StoreFault) in try writer.freeSpace() }
    } catch {
      // If it cannot be moved now, the next batch that meets the end comes here.
      if error.kind == .syncFailed { cope(with: error) }
    }
  }

  /// Takes the space that is kept for a full disk, and with it what comes from outside. May write to the
  /// disk, so it is not for the committer's own thread.
  public func lookForSpace() {
    let timesFull = worker.withInbox { $0.timesFull }
    let taken = reserve.take()
    let isFull = worker.post { queue -> Bool? in
      // A write that found none meanwhile knows better.
      guard queue.timesFull == timesFull else { return nil }
      let isFull = taken == .noSpace && queue.freeBytes < Self.roomBytes
      defer { queue.isDiskFull = isFull }
      if queue.isDiskFull, !isFull, queue.fault?.kind == .full { queue.fault = nil }
      return queue.isDiskFull == isFull ? nil : isFull
    }
    switch isFull {
    case true:
      dependencies.log.error(
        "the disk is nearly full: contexts and events are refused until it is not; free some space, or "
          + "shorten retention. Deliveries go on")
    case false: dependencies.log.info("there is space on the disk again")
    case nil: break
    }
    // Retention sets space free inside of the database, which does not shrink.
    guard taken == .noSpace else { return }
    _ = submit(CountFreeSpace(), from: .inside) { [worker] result in
      if case .success(let bytes) = result { worker.withInbox { $0.freeBytes = bytes } }
    }
  }

  private func nextBatch() -> [Submission]? {
    while true {
      let (batch, isStopping) = worker.read { queue in (takeBatch(&queue), queue.isStopping) }
      if let batch { return batch }
      if isStopping { return nil }
      worker.wait()
    }
  }

  private func takeBatch(_ queue: inout Queue) -> [Submission]? {
    guard !queue.waiting.isEmpty else { return nil }
    let batch = Array(queue.waiting.prefix(Self.batchMax))
    queue.waiting.removeFirst(batch.count)
    for app in batch.lazy.compactMap(\.app) { queue.requests[app, default: 0] -= 1 }
    return batch.map(\.submission)
  }
}
