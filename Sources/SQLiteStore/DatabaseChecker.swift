// The checker's thread: looks once, at the start, whether the database is damaged, while the daemon serves.
// It reads on a connection of its own, and nobody waits for it. Then it sleeps until the stop.

internal import Platform
internal import Store

/// Runs the quick check of a start.
///
/// SQLite cannot move the log into the database, or restart it, while somebody reads. So the check of a
/// table is interrupted once the log has grown, and begins again after a pause.
final class DatabaseChecker: Sendable {
  /// How long it may take after a run that did not end well: some tens of GiB from memory, some GiB from a
  /// disk.
  static let afterCrashMilliseconds: Int64 = 30_000
  /// And after one that did, where there is no reason to look but that looking is cheap.
  static let afterStopMilliseconds: Int64 = 5000
  /// How often one table is begun. Where so much is stored that the log grows faster than a table is read, it
  /// is left out.
  static let attemptsMax = 3
  /// Long enough for the writer to restart the log.
  static let pauseMilliseconds: Int64 = 1000
  /// An interrupt has no effect between two statements, so a stop repeats it.
  private static let interruptIntervalMilliseconds: Int64 = 10

  private struct State {
    var isStopping = false
    /// The check has; the thread sleeps from then on.
    var hasEnded = false
    var until = MonotonicInstant.now()
    /// Interrupts the check.
    var interrupt: (@Sendable () -> Void)?
  }

  private let path: String
  private let limit: Int64
  private let health: DatabaseHealth
  private let log: Log
  private let state = Monitor(State())
  private let thread = Monitor<WorkerThread?>(nil)

  /// - Parameter milliseconds: how long it may take, from `start` on.
  init(path: String, milliseconds: Int64, health: DatabaseHealth, log: Log) {
    self.path = path
    limit = milliseconds
    self.health = health
    self.log = log
  }

  func start() throws(SystemError) {
    let until = MonotonicInstant.now().advanced(byMilliseconds: limit)
    state.withLock { $0.until = until }
    let started = try WorkerThread(name: "checker") { [self] in
      run()
      // A thread that has ended must be joined, and only `stop` joins. Until then this one sleeps, so that
      // it is never left behind, also by a process that ends without a stop (`onSyncFailure`).
      _ = state.wait { $0.isStopping ? true : nil }
    }
    thread.withLock { $0 = started }
  }

  /// Ends it when its time is up, also in the middle of a large table. Called every few seconds.
  func endWhenOver() {
    let now = MonotonicInstant.now()
    state.withLock { if now >= $0.until { $0.interrupt?() } }
  }

  /// The log has become long, and a reader keeps it from being moved.
  func giveWay() { state.withLock { $0.interrupt?() } }

  /// Ends the check within milliseconds, and the thread.
  func stop() {
    guard let thread = thread.withLock({ $0 }) else { return }
    state.update { $0.isStopping = true }
    var hasEnded: Bool?
    while hasEnded == nil {
      let soon = MonotonicInstant.now().advanced(byMilliseconds: Self.interruptIntervalMilliseconds)
      hasEnded = state.wait(until: soon) { state in
        state.interrupt?()
        return state.hasEnded ? true : nil
      }
    }
    thread.join()
  }

  private func run() {
    defer {
      state.update { state in
        state.interrupt = nil
        state.hasEnded = true
      }
    }
    do {
      let check = try QuickCheck(path: path)
      let interrupt = check.interrupt
      state.withLock { $0.interrupt = interrupt }
      try look(check)
    } catch .fault(let error) where error.kind == .corrupt {
      health.note(error)
    } catch .fault(let error) where error.kind == .interrupted {
      // Before the first table.
    } catch {
      log.warning(
        "could not check the database; check it with: receiptctl db check", ["error": error.description])
    }
  }

  private func look(_ check: QuickCheck) throws(StoreError) {
    let tables = try check.tables()
    var unfinished: [String] = []
    for table in tables {
      switch try look(at: table, check) {
      case .sound: continue
      case .interrupted: unfinished.append(table)
      case .damaged(let what): return health.noteDamage(what)
      }
    }
    if state.withLock({ $0.isStopping }) { return }
    guard !unfinished.isEmpty else { return log.debug("the quick check found no damage in the database") }
    log.info(
      "the quick check of the database did not get through all of its tables; all are checked by: "
        + "receiptctl db check",
      ["left_out": unfinished.joined(separator: " "), "of": String(tables.count)])
  }

  private func look(at table: String, _ check: QuickCheck) throws(StoreError) -> QuickCheck.Outcome {
    for attempt in 1...Self.attemptsMax {
      if isOver { return .interrupted }
      let outcome = try check.look(at: table)
      guard outcome == .interrupted, attempt < Self.attemptsMax else { return outcome }
      let soon = MonotonicInstant.now().advanced(byMilliseconds: Self.pauseMilliseconds)
      _ = state.wait(until: soon) { $0.isStopping ? true : nil }
    }
    return .interrupted
  }

  private var isOver: Bool {
    let now = MonotonicInstant.now()
    return state.withLock { $0.isStopping || now >= $0.until }
  }
}
