// Why the daemon cannot accept and store requests, and what to do about it: the texts that /readyz, the
// dashboard, the heartbeat, the log and receiptctl's health lines share. Pure; called from any thread.

public import Store

/// Why the daemon is not ready. A new reason is a case here; its component raises it, or reports it through a
/// check that it adds to `Readiness`.
public enum ReadinessReason: Sendable, Hashable {
  /// The public listener is not open yet.
  case starting
  case stopping
  case diskFull
  case writeFailed(StoreFault.Kind)
  case queueFull
  case writeStuck(seconds: Int64)
  /// The public listener has reached its connection limit.
  case noFreeConnections(inUse: Int)
  /// The next start would not find what is stored now.
  case databaseMoved
  case databaseDamaged
  case databaseUnreachable
  /// The machine's clock and the database's differ by more than signed messages may be old.
  case clockDiffers(seconds: Int64)

  /// The reasons that the database engine reports.
  public static let ofDatabase = [StoreTrouble.moved, .damaged, .unreachable].map(ReadinessReason.init)

  public init(_ trouble: StoreTrouble) {
    self =
      switch trouble {
      case .moved: .databaseMoved
      case .damaged: .databaseDamaged
      case .unreachable: .databaseUnreachable
      case .clockDiffers(let difference): .clockDiffers(seconds: difference.components.seconds)
      }
  }

  /// The reason's identifier for programs, without its values.
  public var name: String {
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
    case .databaseUnreachable: "database_unreachable"
    case .clockDiffers: "clock_differs"
    }
  }

  /// What is wrong, without a full stop. /readyz discloses it to any client: no path, no id, no secret.
  public var text: String {
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
    case .databaseUnreachable: "the database cannot be reached"
    case .clockDiffers(let seconds): "this machine's clock and the database's differ by \(seconds) s"
    }
  }

  /// What the operator does about it: a complete sentence.
  public var advice: String {
    switch self {
    case .starting: "Wait: the public listener opens when the database is open."
    case .stopping: "Nothing: receiptd is stopping and finishes what is in flight."
    case .diskFull:
      "Free space on the database's disk; within seconds receiptd accepts everything again. If the database "
        + "itself has grown, shorten retention, see what that deletes with: receiptctl db purge --dry-run; "
        + "then run: receiptctl reload."
    case .writeFailed: "Check the disk and receiptd's log; the next successful write clears this."
    case .noFreeConnections:
      "Check which clients connect; raise limits.connections, or limit clients in front of receiptd."
    case .queueFull, .writeStuck: "Check the disk: requests arrive faster than they can be written."
    case .databaseMoved:
      "Put the file back: receiptd continues at once. If it is gone, stop receiptd and restore a backup: "
        + "receiptctl db restore FILE."
    case .databaseDamaged: "To see the damage and what to do: receiptctl db check."
    case .databaseUnreachable:
      "See that the database runs and can be reached from this machine; receiptd connects again "
        + "automatically."
    case .clockDiffers:
      "Set both machines' clocks by NTP: signatures of webhooks are judged by this machine's clock, and what "
        + "is stored has the database's time."
    }
  }
}

extension StoreFault.Kind {
  /// What the operator does about a failed write or read: complete sentences. If a readiness reason exists
  /// for it, the advice is the same.
  public var advice: String {
    switch self {
    case .full: ReadinessReason.diskFull.advice
    case .moved: ReadinessReason.databaseMoved.advice
    case .corrupt: ReadinessReason.databaseDamaged.advice
    case .busy: "Another program keeps the database locked: end it, or wait until it has ended."
    case .readOnly, .cannotOpen:
      "See that the user that receiptd runs as may write to the database's files and to their folder."
    case .standby:
      "The database's server accepts no writes: connect to the primary, with target_session_attrs=read-write "
        + "in `database`; or see default_transaction_read_only of the server, the database and the role."
    case .notPermitted:
      "See that the role and the password in the database's URL are right, that the role may use the tables, "
        + "and that the server is set up as receiptd needs it: receiptctl db check."
    case .outOfMemory: "Give receiptd more memory."
    case .constraint, .misuse: "This is a fault of receiptd: report it, with this line."
    case .interrupted: "Nothing: receiptd is stopping."
    case .unreachable, .unavailable: ReadinessReason.databaseUnreachable.advice
    case .conflict: "Nothing: receiptd tries again."
    case .inputOutput, .syncFailed: "Look at the disk."
    }
  }
}
