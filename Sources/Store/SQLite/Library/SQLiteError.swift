// SQLite's result codes, classified in one place. An error never contains an argument, a body or a path.

internal import CSQLite

/// A failed SQLite call (https://www.sqlite.org/rescode.html).
public struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a caller can do about the error.
  public enum Kind: String, Sendable {
    /// Another connection holds the lock; try again.
    case busy
    /// No space left, for the database or its log.
    case full
    /// Reading or writing the file failed.
    case inputOutput
    /// A write could not be made durable. The program must stop acknowledging requests.
    case syncFailed
    /// The file is not a database, or a damaged one.
    case corrupt
    case constraint
    case readOnly
    /// The file is no longer at its path: the next start would not find what is stored now.
    case moved
    case cannotOpen
    case outOfMemory
    case interrupted
    /// A fault in this program's SQL or its use of the library.
    case misuse
  }

  public let kind: Kind
  /// SQLite's extended result code.
  public let code: Int32
  /// The operation that failed.
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
    // SQLITE_IOERR_SHMSIZE, (19 << 8): the log's index could not grow.
    if code == SQLITE_IOERR | (19 << 8) { return .full }
    return switch code & 0xFF {
    // SQLITE_PROTOCOL: the retries for another connection's lock ran out at the start of a transaction.
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

  /// SQLite's description of the code.
  public var reason: String {
    // SQLite's own text only says that the file cannot be written.
    if kind == .moved { return "the database file was moved or removed" }
    guard let text = unsafe sqlite3_errstr(code) else { return "error \(code)" }
    return unsafe String(validatingCString: text) ?? "error \(code)"
  }

  public var description: String { "\(operation): \(reason) (SQLite code \(code))" }
}
