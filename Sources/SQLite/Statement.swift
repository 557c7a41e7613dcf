// One prepared statement and the rows it gives. Same thread as its connection.

internal import CSQLite

/// A prepared statement (https://www.sqlite.org/c3ref/stmt.html).
///
/// Owns the `sqlite3_stmt *`, the bytes that are bound to it, and keeps its connection alive. It is reset
/// after each use, so that no read transaction outlives a call.
@safe public final class Statement {
  fileprivate let connection: Connection
  let handle: OpaquePointer
  private let operation: String
  private let buffer = BindingBuffer()
  /// Whether SQLite made copies of its own of what is bound.
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

  /// Runs a statement for its effect.
  public func run(_ values: [Value] = []) throws(SQLiteError) {
    try forEach(values) { _ throws(SQLiteError) in }
  }

  /// Calls `body` with each row.
  public func forEach(_ values: [Value] = [], _ body: (Row) throws(SQLiteError) -> Void) throws(SQLiteError) {
    try bind(values)
    defer { reset() }
    while try step() { try body(Row(self)) }
  }

  /// What `body` makes of the first row; nil when there is none.
  public func first<Result>(
    _ values: [Value] = [], _ body: (Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> Result? {
    try bind(values)
    defer { reset() }
    return try step() ? try body(Row(self)) : nil
  }

  /// The row that `step` went to.
  public var row: Row { Row(self) }

  /// What `body` makes of every row.
  public func all<Result>(
    _ values: [Value] = [], _ body: (Row) throws(SQLiteError) -> Result
  ) throws(SQLiteError) -> [Result] {
    var results: [Result] = []
    try forEach(values) { row throws(SQLiteError) in results.append(try body(row)) }
    return results
  }

  /// Whether the last call was not refused memory.
  fileprivate var hasMemory: Bool { unsafe sqlite3_errcode(connection.handle) & 0xFF != SQLITE_NOMEM }

  /// Goes to the next row.
  /// - Returns: false after the last one; the statement must be reset then.
  public func step() throws(SQLiteError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw connection.failure(code, operation)
    }
  }

  /// Ends a use that `beginBinding` began.
  public func reset() {
    // Both repeat the error of the step before or cannot fail.
    unsafe sqlite3_reset(handle)
    if holdsCopies { unsafe sqlite3_clear_bindings(handle) }
    holdsCopies = false
  }

  private func bind(_ values: [Value]) throws(SQLiteError) {
    try beginBinding(count: values.count)
    for index in values.indices { try bind(values[index], at: index) }
  }

  /// To be called before the parameters are bound one by one.
  /// - Parameter count: how many there will be.
  public func beginBinding(count: Int) throws(SQLiteError) {
    guard unsafe sqlite3_bind_parameter_count(handle) == Int32(clamping: count) else {
      throw SQLiteError(code: SQLITE_RANGE, operation: operation)
    }
    // Inside of its own rows it would take from them what they are bound to.
    guard unsafe sqlite3_stmt_busy(handle) == 0 else {
      throw SQLiteError(code: SQLITE_MISUSE, operation: operation)
    }
    buffer.begin()
  }

  /// Binds a parameter.
  /// - Parameter index: from 0.
  public func bind(_ value: Value, at index: Int) throws(SQLiteError) {
    let code = bind(value, at: Int32(truncatingIfNeeded: index + 1))
    guard code == SQLITE_OK else { throw connection.failure(code, operation) }
  }

  private func bind(_ value: Value, at index: Int32) -> Int32 {
    switch value {
    case .null: return unsafe sqlite3_bind_null(handle, index)
    case .integer(let number): return unsafe sqlite3_bind_int64(handle, index, number)
    case .text(let text):
      // Where a text is not stored as UTF-8 in one piece it is made so first.
      return unsafe text.utf8.withContiguousStorageIfAvailable { unsafe bind(text: $0, at: index) }
        ?? Array(text.utf8).withUnsafeBufferPointer { unsafe bind(text: $0, at: index) }
    case .blob(let bytes):
      guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
      return unsafe bytes.withUnsafeBytes { bytes in
        if let kept = unsafe buffer.keep(bytes) {
          return unsafe csqlite_bind_kept_blob(handle, index, kept, UInt64(bytes.count))
        }
        holdsCopies = true
        return unsafe csqlite_bind_blob(handle, index, bytes.baseAddress, UInt64(bytes.count))
      }
    }
  }

  private func bind(text: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
    if let kept = unsafe buffer.keep(UnsafeRawBufferPointer(text)) {
      return unsafe csqlite_bind_kept_text(handle, index, kept, UInt64(text.count))
    }
    holdsCopies = true
    // A null pointer would bind NULL, and an empty string may have one.
    guard let start = text.baseAddress else { return unsafe csqlite_bind_text(handle, index, "", 0) }
    return unsafe start.withMemoryRebound(to: CChar.self, capacity: text.count) {
      unsafe csqlite_bind_text(handle, index, $0, UInt64(text.count))
    }
  }
}

/// One row, valid while the statement stands on it (https://www.sqlite.org/c3ref/column_blob.html). Columns
/// count from 0.
public struct Row {
  private let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  public func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(statement.handle, column) == SQLITE_NULL
  }

  public func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement.handle, column) }

  public func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  public func flag(_ column: Int32) -> Bool { integer(column) != 0 }

  /// - Throws: `corrupt` when what is stored is not UTF-8, `outOfMemory` when SQLite gets none to end the
  ///   text with a NUL; NULL reads as the empty string.
  public func text(_ column: Int32) throws(SQLiteError) -> String {
    guard let start = unsafe sqlite3_column_text(statement.handle, column) else {
      // Without memory the value has become NULL.
      guard statement.hasMemory else { throw SQLiteError(code: SQLITE_NOMEM, operation: "read text") }
      return ""
    }
    let count = Int(unsafe sqlite3_column_bytes(statement.handle, column))
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
