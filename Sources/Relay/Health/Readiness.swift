// Whether the daemon can accept and store requests, and every reason why it may not: the one list that
// /readyz, the dashboard, the heartbeat and receiptctl's health lines are made from. Any thread.

internal import Domain
internal import Platform
internal import Store

/// Why the daemon is not ready. A new reason is a case here; its component raises it, or reports it by a
/// check that it adds to `Readiness`.
enum ReadinessReason: Sendable, Hashable {
  /// The public listener is not open yet.
  case starting
  case stopping
  case diskFull
  case writeFailed(StoreFault.Kind)
  case queueFull
  case writeStuck(seconds: Int64)
  /// The public listener has as many connections as it may have.
  case noFreeConnections(inUse: Int)
  /// What is stored now would not be found by the next start.
  case databaseMoved
  case databaseDamaged

  /// Those that `DatabaseHealth` reports.
  static let ofDatabase = [ReadinessReason.databaseMoved, .databaseDamaged]

  /// The reason without its values: what programs compare.
  var name: String {
    switch self {
    case .starting: "starting"
    case .stopping: "stopping"
    case .diskFull: "disk_full"
    case .writeFailed: "write_failed"
    case .queueFull: "queue_full"
    case .writeStuck: "write_stuck"
    case .noFreeConnections: "no_free_connections"
    case .databaseMoved: "database_moved"
    case .databaseDamaged: "database_damaged"
    }
  }

  /// What is wrong, without a final full stop. It goes to whoever asks /readyz: no path, no id, no secret.
  var text: String {
    switch self {
    case .starting: "starting"
    case .stopping: "stopping"
    case .diskFull: "the disk is full"
    case .writeFailed(let kind): "the last write failed: \(kind.rawValue)"
    case .queueFull: "the write queue is full"
    case .writeStuck(let seconds): "a write has been under way for \(seconds) s"
    case .noFreeConnections(let inUse): "no free connections: all \(inUse) are in use"
    case .databaseMoved: "the database file was moved or removed"
    case .databaseDamaged: "the database is damaged"
    }
  }

  /// What the operator does about it: a whole sentence.
  var advice: String {
    switch self {
    case .starting: "Wait: the public listener opens when the database is open."
    case .stopping: "Nothing: receiptd is stopping and finishes what is in flight."
    case .diskFull: "Free space on the database's disk; receiptd recovers within seconds."
    case .writeFailed: "Check the disk and receiptd's log; the next successful write clears this."
    case .noFreeConnections:
      "Check which clients connect; raise limits.connections, or limit clients in front of receiptd."
    case .queueFull, .writeStuck: "Check the disk: requests arrive faster than they can be written."
    case .databaseMoved:
      "Put the file back: receiptd continues at once. If it is gone, stop receiptd and restore a backup: "
        + "receiptctl db restore FILE."
    case .databaseDamaged: "receiptctl db check says what is lost, and what to do."
    }
  }
}

extension StoreFault.Kind {
  /// What the operator does about a write or a read that failed: whole sentences. The same as for the reason
  /// why the daemon is not ready, where there is one.
  var advice: String {
    switch self {
    case .full: ReadinessReason.diskFull.advice
    case .moved: ReadinessReason.databaseMoved.advice
    case .corrupt: ReadinessReason.databaseDamaged.advice
    case .busy: "Another program keeps the database locked: end it, or wait until it has ended."
    case .readOnly, .cannotOpen:
      "See that the user that receiptd runs as may write to the database's files and to their folder."
    case .outOfMemory: "Give receiptd more memory."
    case .constraint, .misuse: "This is a fault of receiptd: report it, with this line."
    case .interrupted: "Nothing: receiptd is stopping."
    case .inputOutput, .syncFailed: "Look at the disk."
    }
  }
}

/// Collects the reasons from the components that know them.
final class Readiness: Sendable {
  /// Longer than any sync should take.
  static let stuckMilliseconds: Int64 = 10_000

  /// Reports the reasons of one component. It must not block: /readyz calls it.
  typealias Check = @Sendable () -> [ReadinessReason]

  private struct State {
    var raised: [ReadinessReason] = []
    var checks: [Check] = []
  }

  private let state = Monitor(State())

  /// Adds a component that knows its reasons when it is asked.
  func add(_ check: @escaping Check) { state.withLock { $0.checks.append(check) } }

  /// Sets a reason that lasts until it is cleared. One of the same name is replaced.
  func raise(_ reason: ReadinessReason) {
    state.withLock { state in
      state.raised.removeAll { $0.name == reason.name }
      state.raised.append(reason)
    }
  }

  /// Ends the reason of this name, whatever its values.
  func clear(_ reason: ReadinessReason) {
    state.withLock { $0.raised.removeAll { $0.name == reason.name } }
  }

  /// Why the daemon is not ready; empty when it is.
  func reasons() -> [ReadinessReason] {
    // The checks run without the lock: each may take one of its own.
    let (raised, checks) = state.withLock { ($0.raised, $0.checks) }
    return raised + checks.flatMap { $0() }
  }
}

extension Committer {
  /// Why it cannot store what comes in; empty when it can.
  func unreadiness(now: MonotonicInstant) -> [ReadinessReason] {
    var reasons: [ReadinessReason] = []
    if isDiskFull {
      reasons.append(.diskFull)
    } else if let fault, fault.kind != .moved, fault.kind != .corrupt {
      // Those two have reasons of their own, which know when they are over.
      reasons.append(.writeFailed(fault.kind))
    }
    if !hasRoom { reasons.append(.queueFull) }
    let busy = busyMilliseconds(now: now)
    if busy > Readiness.stuckMilliseconds { reasons.append(.writeStuck(seconds: busy / 1000)) }
    return reasons
  }
}
