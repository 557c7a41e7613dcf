// The checker's thread: checks the database once for damage, at the start, while the daemon serves. It reads
// on its own connection, and no thread waits for it. Then it sleeps until the stop.

internal import Platform
internal import Store

/// Runs the quick check at a start.
///
/// SQLite cannot restart the log while a reader is active. So the check of a table is interrupted when the
/// log has grown, and starts again after a pause.
final class DatabaseChecker: Sendable {
  /// The time limit after a run that did not end cleanly: enough for tens of GiB from memory or a few GiB
  /// from a disk.
  static let timeAfterCrash: Duration = .seconds(30)
  /// The time limit after a clean stop, when damage is unlikely.
  static let timeAfterStop: Duration = .seconds(5)
  /// How often the check of one table is started. A table is skipped if the log always grows faster than the
  /// table is read.
  static let attemptsMax = 3
  /// Long enough for the writer to restart the log.
  static let pause: Duration = .seconds(1)
  /// An interrupt has no effect between two statements, so a stop repeats it.
  private static let interruptInterval: Duration = .milliseconds(10)

  private struct State {
    var isStopping = false
    /// Whether the check has ended; the thread then sleeps.
    var hasEnded = false
    var until = MonotonicInstant.now()
    /// Interrupts the check.
    var interrupt: (@Sendable () -> Void)?
  }

  private let path: String
  private let limit: Duration
  private let health: DatabaseHealth
  private let log: Log
  private let state = Monitor(State())
  private let thread = Monitor<WorkerThread?>(nil)

  /// - Parameter limit: the time limit, from `start` on.
  init(path: String, limit: Duration, health: DatabaseHealth, log: Log) {
    self.path = path
    self.limit = limit
    self.health = health
    self.log = log
  }

  func start() throws(SystemError) {
    let until = MonotonicInstant.now().advanced(by: limit)
    state.withLock { $0.until = until }
    let started = try WorkerThread(name: "checker") { [self] in
      run()
      // An ended thread must be joined, and only `stop` joins it. So the thread sleeps until then, and no
      // unjoined thread remains if the process ends without a stop (`onSyncFailure`).
      _ = state.wait { $0.isStopping ? true : nil }
    }
    thread.withLock { $0 = started }
  }

  /// Interrupts the check at its time limit, also within a large table. Called every few seconds.
  func endWhenOver() {
    let now = MonotonicInstant.now()
    state.withLock { if now >= $0.until { $0.interrupt?() } }
  }

  /// Interrupts the check because the log is long and a reader keeps it from being moved.
  func giveWay() { state.withLock { $0.interrupt?() } }

  /// Interrupts the check within milliseconds, and ends the thread.
  func stop() {
    guard let thread = thread.withLock({ $0 }) else { return }
    state.update { $0.isStopping = true }
    var hasEnded: Bool?
    while hasEnded == nil {
      let soon = MonotonicInstant.now().advanced(by: Self.interruptInterval)
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
      try checkTables(check)
    } catch .fault(let error) where error.kind == .corrupt {
      health.note(error)
    } catch .fault(let error) where error.kind == .interrupted {
      // Interrupted before the first table.
    } catch {
      log.warning(
        "could not check the database; check it with: receiptctl db check", ["error": error.description])
    }
  }

  private func checkTables(_ check: QuickCheck) throws(StoreError) {
    let tables = try check.tables()
    var unfinished: [String] = []
    for table in tables {
      switch try checkTable(table, check) {
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
      ["unchecked": unfinished.joined(separator: " "), "of": String(tables.count)])
  }

  private func checkTable(_ table: String, _ check: QuickCheck) throws(StoreError) -> QuickCheck.Outcome {
    for attempt in 1...Self.attemptsMax {
      if isOver { return .interrupted }
      let outcome = try check.check(table)
      guard outcome == .interrupted, attempt < Self.attemptsMax else { return outcome }
      let soon = MonotonicInstant.now().advanced(by: Self.pause)
      _ = state.wait(until: soon) { $0.isStopping ? true : nil }
    }
    return .interrupted
  }

  private var isOver: Bool {
    let now = MonotonicInstant.now()
    return state.withLock { $0.isStopping || now >= $0.until }
  }
}
