// One SQLite connection. Whoever owns it uses it from one thread at a time; put it behind a lock to share it.

internal import CSQLite

/// An open database (https://www.sqlite.org/c3ref/open.html).
///
/// Owns the `sqlite3 *`; its statements must be gone before it is, which they see to by holding it. Not for
/// two threads at once: it is opened without SQLite's own mutex.
@safe public final class Connection {
  /// What may be done with the file.
  public enum Mode: Sendable {
    case readWriteCreate, readWrite, readOnly
  }

  /// Set up once, before the library is used. It counts every allocation under one lock of all threads
  /// otherwise, for numbers that nobody asks for
  /// (https://www.sqlite.org/c3ref/c_config_covering_index_scan.html). Where the library is in use already,
  /// it stays as it is.
  private static let isLibraryReady = {
    _ = csqlite_stop_memory_statistics()
    return true
  }()

  let handle: OpaquePointer
  /// Whether a transaction that failed could not be undone yet.
  private var hasRemains = false
  /// Called with every error that says that the file is damaged; on the thread that met it.
  public var onDamage: (@Sendable (SQLiteError) -> Void)?
  /// How many pages the write-ahead log had after this connection's last commit; 0 unless it is watched.
  public private(set) var logPages = 0

  /// - Parameters:
  ///   - path: the database file; `:memory:` for one that is gone with the connection.
  ///   - busyTimeoutMilliseconds: how long a call waits for another connection's lock.
  public init(path: String, mode: Mode, busyTimeoutMilliseconds: Int32) throws(SQLiteError) {
    // SQLite would end the path at a NUL and open another file, and take no path for a file of its own.
    guard Self.isLibraryReady, !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(code: SQLITE_CANTOPEN, operation: "open database")
    }
    let flags =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    var opened: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nil)
    guard code == SQLITE_OK, let database = unsafe opened else {
      // Even a failed open leaves a handle that has to be closed.
      unsafe sqlite3_close_v2(opened)
      throw SQLiteError(code: code == SQLITE_OK ? SQLITE_NOMEM : code, operation: "open database")
    }
    // SQLite opens a file that may only be read all the same, and would refuse each write to it.
    if mode != .readOnly, unsafe sqlite3_db_readonly(database, "main") == 1 {
      unsafe sqlite3_close_v2(database)
      throw SQLiteError(code: SQLITE_READONLY, operation: "open database")
    }
    unsafe handle = database
    unsafe sqlite3_busy_timeout(database, busyTimeoutMilliseconds)
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
  }

  /// Keeps `logPages` from the next commit on (https://www.sqlite.org/c3ref/wal_hook.html). Replaces SQLite's
  /// automatic checkpoints, which are made by a hook of the same kind.
  public func watchLog() {
    unsafe sqlite3_wal_hook(
      handle,
      { context, _, _, pages in
        guard let context = unsafe context else { return SQLITE_OK }
        unsafe Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().logPages = Int(pages)
        return SQLITE_OK
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Runs SQL that returns nothing of interest; several statements may stand in it.
  public func execute(_ sql: String) throws(SQLiteError) {
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

  /// Begins a transaction that writes. One that could not be undone before is undone first.
  public func begin() throws(SQLiteError) {
    if hasRemains {
      if isInTransaction { try execute("ROLLBACK") }
      hasRemains = false
    }
    try execute("BEGIN IMMEDIATE")
  }

  /// Runs `body` between BEGIN IMMEDIATE and COMMIT. Any error undoes all of it and is thrown on.
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

  /// Runs `body`, which only reads, on the state of one moment.
  public func snapshot<Result>(_ body: () throws(SQLiteError) -> Result) throws(SQLiteError) -> Result {
    // One that asks inside of another sees what that one sees.
    if isInTransaction { return try body() }
    try execute("BEGIN")
    defer { rollBack() }
    return try body()
  }

  /// Ends a long statement of this connection from another thread.
  public var interrupter: Interrupter { Interrupter(self) }

  /// Undoes the open transaction, if any. Some errors have undone it already, and then there is nothing to do
  /// (https://www.sqlite.org/lang_transaction.html#response_to_errors_within_a_transaction).
  public func rollBack() {
    guard isInTransaction else { return }
    // Without memory or disk even this may fail. The next transaction undoes it then, before it begins.
    try? execute("ROLLBACK")
    hasRemains = isInTransaction
  }

  /// Syncs the database file (not its log) to the disk.
  public func sync() throws(SQLiteError) {
    let code = unsafe csqlite_sync(handle)
    guard code == SQLITE_OK else { throw failure(code, "sync database") }
  }

  /// Copies the whole database into a new file while others go on reading and writing (VACUUM INTO).
  /// - Throws: also when the file exists already and is not empty.
  public func copy(to path: String) throws(SQLiteError) {
    try prepare("VACUUM INTO ?1").run([.text(path)])
  }

  /// What a call of the library said; every error of an open connection is made here.
  func failure(_ code: Int32, _ operation: String) -> SQLiteError {
    let error = SQLiteError(code: code, operation: operation)
    if error.kind == .corrupt { onDamage?(error) }
    return error
  }

  /// Only the first word of a statement goes into an error: the rest may carry data.
  static func verb(of sql: String) -> String {
    String(sql.drop { $0.isWhitespace }.prefix { $0.isLetter || $0 == "_" })
  }
}
