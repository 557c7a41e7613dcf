// The errors of failed engine calls, in terms that all engines share. Values only.

/// A failed call of the database engine. It never contains an argument, a body or a path.
public struct StoreFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a caller can do about the error.
  public enum Kind: String, Sendable {
    /// Another connection holds the lock; try again.
    case busy
    /// No space left, for the database or its log.
    case full
    /// Reading or writing failed.
    case inputOutput
    /// A write could not be made durable. The program must stop acknowledging requests.
    case syncFailed
    /// The database is damaged, or the file is not a database.
    case corrupt
    case constraint
    case readOnly
    /// The server accepts no writes: it is a standby, or its administrator has switched them off.
    case standby
    /// The server cannot be used as it is set up, or does not accept the role, its password, or what it does.
    case notPermitted
    /// The database is no longer in its place: the next start would not find what is stored now.
    case moved
    case cannotOpen
    case outOfMemory
    case interrupted
    /// The database cannot be reached, or whether it has stored the transaction is not known. Try again
    /// later.
    case unavailable
    /// The database cannot be reached, and nothing was sent to it. Try again later.
    case unreachable
    /// Another program's transaction was in the way, and nothing is stored: run the transaction again.
    case conflict
    /// A fault in this program's SQL, or in its use of the engine.
    case misuse

    /// Whether the database does not answer.
    public var isOutage: Bool { self == .unreachable || self == .unavailable }

    /// Whether one command of a batch can be the cause. Other kinds concern the whole database.
    public var mayConcernOneCommand: Bool {
      switch self {
      case .constraint, .misuse, .corrupt, .full: true
      case .busy, .inputOutput, .syncFailed, .readOnly, .standby, .notPermitted, .moved, .cannotOpen,
        .outOfMemory, .interrupted,
        .unreachable, .unavailable, .conflict:
        false
      }
    }
  }

  public let kind: Kind
  /// The operation that failed: the first word of a statement, or a few words.
  public let operation: String
  /// The engine's description, and its code if it has one.
  public let reason: String

  public init(_ kind: Kind, operation: String, reason: String) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
  }

  public var description: String { "\(operation): \(reason)" }

  /// The fault of a change that was decided from values which are no longer stored.
  public static func rowChanged(_ operation: String) -> StoreFault {
    StoreFault(.constraint, operation: operation, reason: "the row changed after it was read")
  }
}
