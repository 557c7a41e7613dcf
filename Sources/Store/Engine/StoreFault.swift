// What a database engine reports when a call fails, in words that all engines share. Values only.

/// A failed call of the database engine. It never holds an argument, a body or a path.
public struct StoreFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a caller may do about it.
  public enum Kind: String, Sendable {
    /// Another connection holds the lock; try again.
    case busy
    /// No space left, for the database or its log.
    case full
    /// Reading or writing failed.
    case inputOutput
    /// A write could not be made durable: nothing may be acknowledged any more.
    case syncFailed
    /// The database is damaged, or none at all.
    case corrupt
    case constraint
    case readOnly
    /// The database is not at its place any more: the next start would not find what is stored now.
    case moved
    case cannotOpen
    case outOfMemory
    case interrupted
    /// A fault in this program's SQL, or in its use of the engine.
    case misuse

    /// Whether one command of a batch may be the cause; all other kinds concern the database as a whole.
    public var mayConcernOneCommand: Bool {
      switch self {
      case .constraint, .misuse, .corrupt, .full: true
      case .busy, .inputOutput, .syncFailed, .readOnly, .moved, .cannotOpen, .outOfMemory, .interrupted: false
      }
    }
  }

  public let kind: Kind
  /// What was being done: the first word of a statement, or a few words.
  public let operation: String
  /// The engine's words, and its number for them if it has one.
  public let reason: String

  public init(_ kind: Kind, operation: String, reason: String) {
    self.kind = kind
    self.operation = operation
    self.reason = reason
  }

  public var description: String { "\(operation): \(reason)" }
}
