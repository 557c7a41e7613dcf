// What SQLite said when it refused. Classified once, here; never holds an argument, a body or a path.

internal import CSQLite

/// A failed SQLite call (https://www.sqlite.org/rescode.html).
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a caller may do about it.
  public enum Kind: String, Sendable {
    /// Another connection holds the lock; try again.
    case busy
    /// No space left, for the database or its log.
    case full
    /// Reading or writing the file failed.
    case inputOutput
    /// A write could not be made durable: nothing may be acknowledged any more.
    case syncFailed
    /// The file is not a database, or a damaged one.
    case corrupt
    case constraint
    case readOnly
    /// The file is not at its path any more: what is stored now is not found by the next start.
    case moved
    case cannotOpen
    case outOfMemory
    case interrupted
    /// A fault in this program's SQL or its use of the library.
    case misuse

    /// Whether it may lie in what one statement was given; all others are of the database as a whole.
    public var mayConcernOneStatement: Bool {
      switch self {
      case .constraint, .misuse, .corrupt, .full: true
      case .busy, .inputOutput, .syncFailed, .readOnly, .moved, .cannotOpen, .outOfMemory, .interrupted: false
      }
    }
  }

  public let kind: Kind
  /// SQLite's extended result code.
  public let code: Int32
  /// What was being done.
  public let operation: String

  public init(kind: Kind, code: Int32, operation: String) {
    self.kind = kind
    self.code = code
    self.operation = operation
  }

  init(code: Int32, operation: String) {
    self.init(kind: Self.kind(of: code), code: code, operation: operation)
  }

  private static func kind(of code: Int32) -> Kind {
    // SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC: (4 << 8) and (5 << 8) of SQLITE_IOERR.
    if code == SQLITE_IOERR | (4 << 8) || code == SQLITE_IOERR | (5 << 8) { return .syncFailed }
    // SQLITE_READONLY_DBMOVED.
    if code == Self.moved.code { return .moved }
    // SQLITE_IOERR_SHMSIZE, (19 << 8): the index of the log could not grow.
    if code == SQLITE_IOERR | (19 << 8) { return .full }
    return switch code & 0xFF {
    // PROTOCOL: another connection was in the way for too often while a transaction was to begin.
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_FULL: .full
    case SQLITE_IOERR: .inputOutput
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_NOMEM: .outOfMemory
    case SQLITE_INTERRUPT, SQLITE_ABORT: .interrupted
    default: .misuse
    }
  }

  /// The database file was moved or removed (SQLITE_READONLY_DBMOVED, (4 << 8) of SQLITE_READONLY).
  public static let moved = SQLiteError(kind: .moved, code: SQLITE_READONLY | (4 << 8), operation: "COMMIT")

  /// SQLite's own words for the code.
  public var reason: String {
    // SQLite's are those of any file that cannot be written.
    if kind == .moved { return "the database file was moved or removed" }
    guard let text = unsafe sqlite3_errstr(code) else { return "error \(code)" }
    return unsafe String(validatingCString: text) ?? "error \(code)"
  }

  public var description: String { "\(operation): \(reason) (SQLite code \(code))" }
}
