// The writer's thread: dequeues all waiting commands from one bounded queue, applies them in one synced
// transaction, then answers all of them. This is the group commit: requests that arrive during one sync share
// the next one. It must block only on the disk.

public import Domain
public import Platform
public import Reports
public import Store

/// The queue in front of the store's writer, and the writer's thread. Thread-safe.
public final class Committer: Sendable {
  /// The free space inside the database file that is required before a full disk accepts requests again.
  static let roomBytes: Int64 = 16 << 20
  /// The most commands in one transaction, and how long it takes more of them, so that the first does not
  /// wait long for the last.
  static let batchMax = 1024
  static let batchTime: Duration = .milliseconds(10)

  /// The pause between two attempts to reach the database, in real time.
  public static let holdPause: Duration = .milliseconds(50)

  /// The origin of a command.
  public enum Origin {
    /// A request for an app: refused if the queue is full (R8), or if the app has used its share of it (R11).
    case external(app: AppSlug)
    /// The relay's own command. These are few and must not be lost, so they are not refused before the stop.
    case `internal`
  }

  /// Why a request is refused.
  public enum Refusal {
    case busy, diskFull, stopping
    /// The database cannot be reached.
    case unavailable
  }

  /// A command, and the app whose request it is; nil for the relay's own.
  typealias Waiting = (submission: Submission, app: AppSlug?)

  struct Queue: WorkerInbox {
    var waiting: [Waiting] = []
    /// The number of waiting requests, by app.
    var requests: [AppSlug: Int] = [:]
    var isStopping = false
    /// Whether the disk is full: requests are refused until there is space again.
    var isDiskFull = false
    /// Whether the database could not be reached: requests are refused until it can.
    var isUnavailable = false
    /// How many writes found no space.
    var timesFull = 0
    /// The free space inside the database file, as last counted on a full disk.
    var freeBytes: Int64 = 0
    /// When the current batch began.
    var busySince: MonotonicInstant?
    /// The fault of the last batch or of the upkeep after it; nil if there was none.
    var fault: StoreFault?

    /// Queues commands again that a batch did not take, before all others.
    mutating func putBack(_ rest: ArraySlice<Waiting>) {
      waiting.insert(contentsOf: rest, at: 0)
      for app in rest.lazy.compactMap(\.app) { requests[app, default: 0] += 1 }
    }
  }

  let worker = Worker("committer", inbox: Queue())
  /// Never notified: a pause.
  let pauses = Monitor(())
  let writer: Monitor<StoreWriter>
  private let capacity: Int
  let dependencies: Dependencies
  let reserve: any SpaceReserve
  let onSyncFailure: @Sendable (StoreFault) -> Void
  let holdPause: Duration
  private let metrics: Metrics
  private let onCommit: @Sendable (StoreChanges) -> Void

  /// - Parameters:
  ///   - reserve: space for the commands that must go on if the disk is full.
  ///   - holdPause: a simulation does not wait.
  ///   - onSyncFailure: called once if a sync fails: later answers may be wrong.
  ///   - onCommit: receives the changes of each batch on the committer's thread, after they are on disk.
  ///     Most batches of contexts change nothing that others wait for.
  public init(
    writer: sending StoreWriter, capacity: Int, reserve: any SpaceReserve, dependencies: Dependencies,
    metrics: Metrics, holdPause: Duration = holdPause,
    onSyncFailure: @escaping @Sendable (StoreFault) -> Void,
    onCommit: @escaping @Sendable (StoreChanges) -> Void
  ) {
    self.writer = Monitor(writer)
    self.capacity = capacity
    self.reserve = reserve
    self.dependencies = dependencies
    self.onSyncFailure = onSyncFailure
    self.holdPause = holdPause
    self.metrics = metrics
    self.onCommit = onCommit
  }

  public func start() throws(SystemError) {
    try worker.start { [self] in run() }
  }

  /// Queues a command.
  /// - Returns: false if it is refused; then `completion` is not called.
  public func submit<Command: StoreCommand>(
    _ command: Command, from origin: Origin,
    completion: @escaping @Sendable (Result<Command.Outcome, StoreFault>) -> Void
  ) -> Bool {
    let submission = Submission(command, completion: completion)
    return worker.post { queue in
      if queue.isStopping { return false }
      var requester: AppSlug?
      if case .external(let app) = origin {
        guard refusal(queue, for: app) == nil else { return false }
        queue.requests[app, default: 0] += 1
        requester = app
      }
      queue.waiting.append((submission, requester))
      return true
    }
  }

  /// One app may fill half of the queue, so that a flood of its requests leaves room for other apps (R11).
  private func refusal(_ queue: Queue, for app: AppSlug) -> Refusal? {
    if queue.isStopping { return .stopping }
    if queue.isDiskFull { return .diskFull }
    if queue.isUnavailable { return .unavailable }
    let hasRoom = queue.waiting.count < capacity && queue.requests[app, default: 0] < max(1, capacity / 2)
    return hasRoom ? nil : .busy
  }

  /// The number of waiting commands.
  public var depth: Int { worker.withInbox { $0.waiting.count } }

  /// The fault of the last batch or of the upkeep after it; nil if there was none.
  var fault: StoreFault? { worker.withInbox { $0.fault } }

  /// Whether there is room for another request's command.
  var hasRoom: Bool { worker.withInbox { !$0.isStopping && $0.waiting.count < capacity } }

  /// Whether requests are refused because the disk is full.
  public var isDiskFull: Bool { worker.withInbox { $0.isDiskFull } }

  /// Whether requests are refused because the database cannot be reached.
  public var isUnavailable: Bool { worker.withInbox { $0.isUnavailable } }

  /// Why a request of this app would be refused now; nil if it would be accepted.
  public func refusal(for app: AppSlug) -> Refusal? { worker.withInbox { refusal($0, for: app) } }

  /// How long the current batch has taken so far; zero if there is none.
  public func busyTime(now: MonotonicInstant) -> Duration {
    worker.withInbox { $0.busySince.map { now.duration(since: $0) } ?? .zero }
  }

  /// Installs new rules, from the next batch on.
  public func use(rules: [AppSlug: AppRules]) { writer.withLock { $0.use(rules: rules) } }

  /// Refuses new commands, commits the waiting ones, moves the log into the database, and ends the thread.
  public func stop() {
    worker.stop()
    do throws(StoreFault) {
      try writer.withLock { writer throws(StoreFault) in try writer.finish() }
    } catch {
      // The log is complete and synced, so after any other failure the next start only takes longer.
      if error.kind == .syncFailed { onSyncFailure(error) }
    }
  }

  private func run() {
    while let batch = nextBatch() { commit(batch) }
  }

  /// Commits the waiting commands on the caller's thread.
  /// - Returns: whether there were any.
  func commitWaiting() -> Bool {
    guard let batch = worker.withInbox({ dequeueBatch(&$0) }) else { return false }
    commit(batch)
    return true
  }

  private func commit(_ batch: [Waiting]) {
    let clock = dependencies.clock
    let started = clock.monotonic
    worker.withInbox { $0.busySince = started }
    let now = Timestamp(unixMilliseconds: clock.wallMilliseconds)
    let result = writer.withLock { writer in
      writer.apply(
        batch.map(\.submission), now: now,
        limit: BatchLimit(
          {
            let end = clock.monotonic.advanced(by: Self.batchTime)
            return { clock.monotonic >= end }
          }, waits: { [self] in waitForDatabase(since: started) }))
    }
    worker.withInbox { queue in
      queue.putBack(batch[result.appliedCount...])
      queue.busySince = nil
      queue.fault = result.fault
      if result.fault == nil { queue.isUnavailable = false }
    }
    metrics.committed(
      batch: result.appliedCount, seconds: clock.monotonic.seconds(since: started), work: result.work)
    if let fault = result.fault { handle(fault) }
    onCommit(result.changes)
  }

  private func nextBatch() -> [Waiting]? {
    while true {
      let (batch, isStopping) = worker.read { queue in (dequeueBatch(&queue), queue.isStopping) }
      if let batch { return batch }
      if isStopping { return nil }
      worker.wait()
    }
  }

  private func dequeueBatch(_ queue: inout Queue) -> [Waiting]? {
    guard !queue.waiting.isEmpty else { return nil }
    var batch: [Waiting] = []
    guard queue.waiting.count > Self.batchMax else {
      swap(&batch, &queue.waiting)
      queue.waiting.reserveCapacity(batch.count)
      queue.requests.removeAll(keepingCapacity: true)
      return batch
    }
    batch = Array(queue.waiting.prefix(Self.batchMax))
    queue.waiting.removeFirst(batch.count)
    for app in batch.lazy.compactMap(\.app) { queue.requests[app, default: 0] -= 1 }
    return batch
  }
}

// MARK: - Readiness

// Why the committer cannot store requests, as readiness reasons. Called from any thread.

extension Committer {
  /// Why it cannot store requests; empty if it can.
  public func unreadiness(now: MonotonicInstant) -> [ReadinessReason] {
    var reasons: [ReadinessReason] = []
    if isDiskFull {
      reasons.append(.diskFull)
    } else if let fault, ![.moved, .corrupt, .unreachable, .unavailable].contains(fault.kind) {
      // Those faults have their own reasons, which clear when they are over.
      reasons.append(.writeFailed(fault.kind))
    }
    if !hasRoom { reasons.append(.queueFull) }
    let busy = busyTime(now: now)
    if busy > Readiness.stuckAfter { reasons.append(.writeStuck(seconds: busy.components.seconds)) }
    return reasons
  }
}

// MARK: - Faults

// What the committer does about faults of the database: a full disk, a sync that failed, a database that
// cannot be reached. The committer's thread, if not stated otherwise.

extension Committer {
  private static let holdTime: Duration = .seconds(8)

  func handle(_ fault: StoreFault) {
    switch fault.kind {
    case .syncFailed:
      // The kernel may discard what it could not write (fsync(2)), and a second sync would succeed without
      // it. So nothing is stored any more: only a start that reads the disk again has the true state.
      let waiting = worker.post { queue in
        queue.isStopping = true
        defer { queue.waiting = [] }
        return queue.waiting
      }
      for item in waiting { item.submission.fail(fault) }
      onSyncFailure(fault)
    case .full: handleFullDisk()
    case .unreachable, .unavailable: handleUnavailable(fault)
    default: break
    }
  }

  /// Holds a batch while the database cannot be reached: processors wait at least 10 s for the answer to a
  /// webhook, and most failovers are over sooner. Once a batch was refused, those after it are refused at
  /// once.
  /// - Returns: false to refuse it.
  func waitForDatabase(since started: MonotonicInstant) -> Bool {
    let now = dependencies.clock.monotonic
    let isOver = worker.withInbox { $0.isUnavailable || $0.isStopping }
    guard !isOver, now.duration(since: started) < Self.holdTime else { return false }
    let _: Bool? = pauses.wait(until: MonotonicInstant.now().advanced(by: holdPause)) { _ in nil }
    return true
  }

  /// Requests that wait get their refusal now: each attempt to reach the database takes a while.
  private func handleUnavailable(_ fault: StoreFault) {
    for item in refuseRequests({ $0.isUnavailable = true }) { item.submission.fail(fault) }
  }

  /// Removes the waiting requests from the queue.
  /// - Parameter change: of the queue, at the same time.
  private func refuseRequests(_ change: (inout Queue) -> Void) -> [Waiting] {
    worker.post { queue in
      defer {
        queue.waiting.removeAll { $0.app != nil }
        queue.requests = [:]
      }
      change(&queue)
      return queue.waiting.filter { $0.app != nil }
    }
  }

  private func handleFullDisk() {
    // Waiting requests would use up the space that is released below.
    var isNews = false
    let refused = refuseRequests { queue in
      isNews = !queue.isDiskFull
      queue.isDiskFull = true
      queue.timesFull += 1
      queue.freeBytes = 0
    }
    let full = StoreFault(.full, operation: "queue", reason: "the disk is full")
    for item in refused { item.submission.fail(full) }
    if isNews {
      dependencies.log.error(
        "the disk is full: contexts and events are refused until there is space again; free some, or shorten "
          + "retention. Deliveries continue")
    }
    // The reserve's space is for the relay's own commands: outcomes of deliveries, waits, retention.
    reserve.release()
    do throws(StoreFault) {
      // Moving the log into the database frees the log's space for reuse.
      try writer.withLock { writer throws(StoreFault) in try writer.freeSpace() }
    } catch {
      // If this fails, the next batch that finds no space tries again.
      if error.kind == .syncFailed { handle(error) }
    }
  }

  /// Acquires the reserve for a full disk; if that succeeds, accepts requests again. May write to the disk,
  /// so it must not run on the committer's thread.
  public func checkSpace() {
    let timesFull = worker.withInbox { $0.timesFull }
    let taken = reserve.acquire()
    guard taken != .remote else { return tryToGrow(timesFull) }
    let isFull = worker.post { queue -> Bool? in
      // A write that found no space meanwhile takes precedence.
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
          + "shorten retention. Deliveries continue")
    case false: noteSpace()
    case nil: break
    }
    // Retention frees space inside the database file, which does not shrink.
    guard taken == .noSpace else { return }
    _ = submit(CountFreeSpace(), from: .internal) { [worker] result in
      if case .success(let bytes) = result { worker.withInbox { $0.freeBytes = bytes } }
    }
  }

  /// Accepts requests again if the database can grow. A failure for another reason than space leaves it to
  /// the next request to find out.
  private func tryToGrow(_ timesFull: Int) {
    guard isDiskFull else { return }
    _ = submit(TryToGrow(), from: .internal) { [self] result in
      if case .failure(let fault) = result, fault.kind == .full || fault.kind.isOutage { return }
      let isNews = worker.post { queue in
        // A write that found no space meanwhile takes precedence.
        guard queue.timesFull == timesFull, queue.isDiskFull else { return false }
        queue.isDiskFull = false
        return true
      }
      if isNews { noteSpace() }
    }
  }

  private func noteSpace() { dependencies.log.info("there is space on the disk again") }
}
