// One prepared statement and its rows. Called from its connection's thread.

internal import CSQLite
public import Store

/// A prepared statement (https://www.sqlite.org/c3ref/stmt.html).
///
/// Owns the `sqlite3_stmt *` and the bytes bound to it, and keeps its connection alive. It is reset after
/// each use, so that no read transaction outlives a call.
@safe public final class Statement {
  fileprivate let connection: Connection
  let handle: OpaquePointer
  private let operation: String
  private let buffer = BindingBuffer()
  /// Whether SQLite holds its own copies of bound values.
  private var holdsCopies = false

  init(_ connection: Connection, _ sql: String) throws(SQLiteError) {
    var prepared: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(
      connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
    guard code == SQLITE_OK, let statement = unsafe prepared else {
      throw connection.failure(code == SQLITE_OK ? SQLITE_MISUSE : code, Connection.verb(of: sql))
    }
    self.connection = connection
    unsafe handle = statement
    operation = Connection.verb(of: sql)
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Runs the statement and ignores its rows.
  public func run(_ values: [StoreValue] = []) throws(SQLiteError) {
    try forEach(values) { _ throws(SQLiteError) in }
  }

  /// Calls `body` with each row.
  public func forEach(_ values: [StoreValue] = [], _ body: (Row) throws(SQLiteError) -> Void)
    throws(SQLiteError)
  {
    try bind(values)
    defer { reset() }
    while try step() { try body(Row(self)) }
  }

  /// Returns the result of `body` for the first row; nil when there is no row.
  public func first<Result>(
    _ values: [StoreValue] = [], _ body: (Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result? {
    try bind(values)
    defer { reset() }
    return try step() ? try body(Row(self)) : nil
  }

  /// The current row, after `step` returned true.
  public var row: Row { Row(self) }

  /// Returns the results of `body` for all rows.
  public func all<Result>(
    _ values: [StoreValue] = [], _ body: (Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> [Result] {
    var results: [Result] = []
    try forEach(values) { row throws(SQLiteError) in results.append(try body(row)) }
    return results
  }

  /// Whether the last call had enough memory.
  fileprivate var hasMemory: Bool { unsafe sqlite3_errcode(connection.handle) & 0xFF != SQLITE_NOMEM }

  /// Advances to the next row.
  /// - Returns: false after the last row; the caller must then call `reset`.
  public func step() throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.failure(code, operation)
    }
  }

  /// Ends the use that `bind` began.
  public func reset() {
    // Both calls return the error of the previous step, or cannot fail.
    unsafe sqlite3_reset(handle)
    if holdsCopies { unsafe sqlite3_clear_bindings(handle) }
    holdsCopies = false
  }

  /// Binds all parameters. Must be followed by `reset` once the rows have been read.
  public func bind(_ values: [StoreValue]) throws(SQLiteError) {
    guard unsafe sqlite3_bind_parameter_count(handle) == Int32(clamping: values.count) else {
      throw SQLiteError(code: SQLITE_RANGE, operation: operation)
    }
    // Binding while rows are read would replace the values that the running statement uses.
    guard unsafe sqlite3_stmt_busy(handle) == 0 else {
      throw SQLiteError(code: SQLITE_MISUSE, operation: operation)
    }
    connection.statementCount += 1
    // A local value: each access to a property of an object is checked, and there are many here.
    var room = buffer.begin()
    defer { if room.missed > 0 { keepCopies(room.missed) } }
    for index in values.indices {
      let code = bind(values[index], at: Int32(truncatingIfNeeded: index + 1), &room)
      guard code == SQLITE_OK else { throw connection.failure(code, operation) }
    }
  }

  /// SQLite copied what the block had no room for.
  private func keepCopies(_ missed: Int) {
    holdsCopies = true
    buffer.grow(by: missed)
  }

  @inline(__always)
  private func bind(_ value: StoreValue, at index: Int32, _ room: inout BindingRoom) -> Int32 {
    switch value {
    case .null: return unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
    case .text(let text):
      // A text that is not contiguous UTF-8 is copied first.
      return unsafe text.utf8.withContiguousStorageIfAvailable { unsafe bind(text: $0, at: index, &room) }
        ?? Array(text.utf8).withUnsafeBufferPointer { unsafe bind(text: $0, at: index, &room) }
    case .blob(let bytes):
      guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
      return unsafe bytes.withUnsafeBytes { bytes in
        guard let kept = unsafe room.keep(bytes) else {
          return unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
        }
        return unsafe csqlite_bind_kept_blob(handle, index, kept, UInt64(bytes.count))
      }
    }
  }

  private func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32, _ room: inout BindingRoom) -> Int32 {
    if let kept = unsafe room.keep(UnsafeRawBufferPointer(text)) {
      return unsafe csqlite_bind_kept_text(handle, index, kept, UInt64(text.count))
    }
    // SQLite binds NULL for a null pointer, and an empty string may have a null base address.
    guard let start = text.baseAddress else { return unsafe csqlite_bind_text(handle, index, "", 0) }
    return unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) {
      unsafe csqlite_bind_text(handle, index, $0, UInt64(text.count))
    }
  }
}

/// One row, valid until the next `step` or `reset` of its statement
/// (https://www.sqlite.org/c3ref/column_blob.html). Columns are numbered from 0.
public struct Row {
  private let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  public func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement.handle, column) == SQLITE_NULL
  }

  public func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement.handle, column) }

  public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  public func flag(_ column: Int32) -> Bool { integer(column) != 0 }

  /// - Throws: `corrupt` when the stored bytes are not UTF-8, `outOfMemory` when SQLite cannot allocate the
  ///   terminating NUL. NULL reads as the empty string.
  public func text(_ column: Int32) throws(SQLiteError) -> String {
    guard let start = unsafe sqlite3_column_text(statement.handle, column) else {
      // SQLite returns a null pointer for NULL and also when it runs out of memory.
      guard statement.hasMemory else { throw SQLiteError(code: SQLITE_NOMEM, operation: "read text") }
      return ""
    }
    let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
    let characters = unsafe UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
    // A third of the time of the general way, which takes over for a text that contains NUL.
    if let text = unsafe String(validatingCString: characters), text.utf8.count == count { return text }
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else {
      throw statement.connection.failure(SQLITE_CORRUPT, "read text")
    }
    return text
  }

  public func optionalText(_ column: Int32) throws(SQLiteError) -> String? {
    isNull(column) ? nil : try text(column)
  }

  public func blob(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(statement.handle, column) else { return [] }
    let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  public func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}
