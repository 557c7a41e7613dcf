// One SQLite connection. Its owner uses it from one thread at a time; protect it with a lock to share it.

internal import CSQLite
internal import Formats
internal import Store

/// An open database (https://www.sqlite.org/c3ref/open.html).
///
/// Owns the `sqlite3 *`. Each statement keeps its connection alive, so the handle is closed after all
/// statements. Not thread-safe: the connection is opened without SQLite's own mutex.
@safe public final class Connection {
  /// What may be done with the file.
  public enum Mode: Sendable {
    case readWriteCreate, readWrite, readOnly
    /// Reads the file alone, without its log, and locks nothing
    /// (https://www.sqlite.org/uri.html#uriimmutable).
    case immutable
  }

  /// Turned off once, before the library is used: SQLite otherwise counts every allocation under one global
  /// lock, and nothing reads these counts (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html).
  /// The call has no effect if the library is already in use.
  private static let isLibraryReady = {
    _ = csqlite_stop_memory_statistics()
    return true
  }()

  let handle: OpaquePointer
  /// Whether the rollback of a failed transaction also failed.
  private var hasRemains = false
  /// Called with every error that reports a damaged file, on the thread that got the error.
  public var onDamage: (@Sendable (SQLiteError) -> Void)?
  /// The number of pages in the write-ahead log after this connection's last commit; 0 without `watchLog`.
  public private(set) var logPages = 0
  /// How many pages this connection's commits have added to that log; 0 without `watchLog`.
  public private(set) var addedLogPages = 0
  /// How many statements were run; a prepared one counts with each use.
  public internal(set) var statementCount = 0

  /// - Parameters:
  ///   - path: the database file; `:memory:` for a database that is deleted with the connection.
  ///   - busyTimeout: how long a call waits for another connection's lock; at most 24 days.
  public init(path: String, mode: Mode, busyTimeout: Duration) throws(SQLiteError) {
    // SQLite would cut the path at a NUL and open another file. It opens a temporary file for an empty path.
    guard Self.isLibraryReady, !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(code: SQLITE_CANTOPEN, operation: "open database")
    }
    let flags =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let name = mode == .immutable ? Self.immutableURI(path) : path
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let database = unsafe opened else {
      // SQLite returns a handle even if the open fails; the handle must be closed.
      unsafe sqlite3_close_v2(opened)
      throw SQLiteError(code: code == SQLITE_OK ? SQLITE_NOMEM : code, operation: "open database")
    }
    // SQLite falls back to read-only for a file that it may not write, and then refuses each write.
    if mode != .readOnly, mode != .immutable, unsafe sqlite3_db_readonly(database, "main") == 1 {
      unsafe sqlite3_close_v2(database)
      throw SQLiteError(code: SQLITE_READONLY, operation: "open database")
    }
    unsafe handle = database
    unsafe sqlite3_busy_timeout(database, Int32(clamping: busyTimeout.milliseconds))
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
  }

  /// https://www.sqlite.org/uri.html section 3.1
  private static func immutableURI(_ path: String) -> String {
    let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
    return "file:\(escaped)?immutable=1"
  }

  /// Whether closing the connection leaves the log as it is, even if it is the last one
  /// (https://www.sqlite.org/c3ref/c_dbconfig_defensive.html#sqlitedbconfignockptonclose).
  public func keepLogOnClose(_ keeps: Bool) { _ = unsafe csqlite_keep_log(handle, keeps ? 1 : 0) }

  /// Updates `logPages` after each commit from now on (https://www.sqlite.org/c3ref/wal_hook.html). This
  /// turns off automatic checkpoints, because SQLite runs them from the same hook.
  public func watchLog() {
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context = unsafe context else { return SQLITE_OK }
        unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().noteLog(pages: Int(pages))
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func noteLog(pages: Int) {
    // A log with fewer pages than before was restarted by this commit.
    addedLogPages += pages < logPages ? pages : pages - logPages
    logPages = pages
  }

  /// Runs one or more SQL statements and ignores their rows.
  public func execute(_ sql: String) throws(SQLiteError) {
    statementCount += 1
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw failure(code, Self.verb(of: sql)) }
  }

  /// Prepares one statement for repeated use (https://www.sqlite.org/c3ref/prepare.html).
  public func prepare(_ sql: String) throws(SQLiteError) -> Statement {
    try Statement(self, sql)
  }

  /// The first column of the first row of a query, as an integer; nil when there is no row.
  public func integer(_ sql: String) throws(SQLiteError) -> Int64? {
    try prepare(sql).first { row throws(SQLiteError) in row.integer(0) }
  }

  /// The first column of the first row of a query, as text; nil when there is no row or it is NULL.
  public func text(_ sql: String) throws(SQLiteError) -> String? {
    try prepare(sql).first { row throws(SQLiteError) in try row.optionalText(0) } ?? nil
  }

  /// Rows changed by the last INSERT, UPDATE or DELETE.
  public var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// Whether a transaction is open.
  public var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Begins a transaction that writes. If an earlier rollback failed, rolls back again first.
  public func begin() throws(SQLiteError) {
    if hasRemains {
      if isInTransaction { try execute("ROLLBACK") }
      hasRemains = false
    }
    try execute("BEGIN IMMEDIATE")
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT. Any error rolls back the transaction and is rethrown.
  public func transaction<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    try begin()
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      rollBack()
      throw error
    }
  }

  /// Runs `body`, which only reads, on one snapshot of the database.
  public func snapshot<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    // A nested call uses the snapshot of the outer transaction.
    if isInTransaction { return try body() }
    try execute("BEGIN")
    defer { rollBack() }
    return try body()
  }

  /// Interrupts a long statement of this connection from another thread.
  public var interrupter: Interrupter { Interrupter(self) }

  /// Rolls back the open transaction, if any. Some errors have rolled it back already
  /// (https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
  public func rollBack() {
    guard isInTransaction else { return }
    // ROLLBACK itself can fail without memory or disk space. `begin` then repeats it.
    try? execute("ROLLBACK")
    hasRemains = isInTransaction
  }

  /// Syncs the database file (not its log) to the disk.
  public func sync() throws(SQLiteError) {
    let code = unsafe csqlite_sync(handle)
    guard code == SQLITE_OK else { throw failure(code, "sync database") }
  }

  /// Copies the whole database into a new file while other connections read and write (VACUUM INTO).
  /// - Throws: also when the file exists and is not empty.
  public func copy(to path: String) throws(SQLiteError) {
    try prepare("VACUUM INTO ?1").run([.text(path)])
  }

  /// Makes the error of a failed call, and calls `onDamage` for a damaged file. Every error of an open
  /// connection comes from here.
  func failure(_ code: Int32, _ operation: String) -> SQLiteError {
    let error = SQLiteError(code: code, operation: operation)
    if error.kind == .corrupt { onDamage?(error) }
    return error
  }

  /// Returns the first word of a statement. Errors carry only this word, because the rest may contain data.
  static func verb(of sql: String) -> String {
    String(sql.drop { $0.isWhitespace }.prefix { $0.isLetter || $0 == "_" })
  }
}

// MARK: - Interrupter

// Interrupts a connection's statements from another thread. Thread-safe.

/// Interrupts a connection (https://www.sqlite.org/c3ref/interrupt.html). It keeps the connection open,
/// because `sqlite3_interrupt` needs an open handle.
@safe public struct Interrupter: @unchecked Sendable {
  private let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Makes running statements fail with the kind `interrupted`. Later statements are not affected.
  public func interrupt() { unsafe sqlite3_interrupt(connection.handle) }
}
