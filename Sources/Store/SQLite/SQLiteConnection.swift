// SQLite as an engine of the store. One thread at a time.

internal import Store

/// A connection that the store uses.
final class SQLiteConnection: EngineConnection {
  let connection: Connection
  var keys: any KeyIndex { transactionKeys }
  private let transactionKeys: any TransactionKeys

  /// A connection that only reads, or a guest's.
  /// - Parameter memory: the newest keys, if the owner is in this process.
  init(_ connection: Connection, memory: KeyMemory? = nil) {
    self.connection = connection
    transactionKeys = PlainKeys(connection, memory)
  }

  /// The owner's connection.
  init(owner connection: Connection, memory: KeyMemory, sizes: KeySizes) throws(StoreFault) {
    self.connection = connection
    transactionKeys = try translated { () throws(SQLiteError) in
      try TieredKeys(connection, memory, sizes: sizes)
    }
  }

  func prepare(_ sql: String) throws(StoreFault) -> any EngineStatement {
    SQLiteStatement(try translated { () throws(SQLiteError) in try connection.prepare(sql) }, connection)
  }

  var isInTransaction: Bool { connection.isInTransaction }

  func begin() throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try connection.begin()
      do throws(SQLiteError) {
        try transactionKeys.begin()
      } catch {
        connection.rollBack()
        throw error
      }
    }
  }

  func commit() throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try transactionKeys.beforeCommit()
      try connection.execute("COMMIT")
      transactionKeys.didCommit()
    }
  }

  func rollBack() {
    connection.rollBack()
    transactionKeys.didRollBack()
  }
  func beginReading() throws(StoreFault) { try execute("BEGIN") }

  private func execute(_ sql: String) throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.execute(sql) }
  }

  /// The unused pages (https://www.sqlite.org/pragma.html#pragma_freelist_count).
  func freeBytes() throws(StoreFault) -> Int64 {
    try translated { () throws(SQLiteError) in
      let pages = try connection.integer("PRAGMA freelist_count") ?? 0
      return pages * (try connection.integer("PRAGMA page_size") ?? 0)
    }
  }

  func integrityFaults() throws(StoreFault) -> [String] {
    try translated { () throws(SQLiteError) in
      let faults = try connection.prepare("PRAGMA integrity_check").all { row throws(SQLiteError) in
        try row.text(0)
      }
      return try faults.filter { $0 != "ok" } + connection.orphans()
    }
  }
}

/// A statement that the store uses.
private final class SQLiteStatement: EngineStatement {
  private let statement: Statement
  private let connection: Connection

  init(_ statement: Statement, _ connection: Connection) {
    self.statement = statement
    self.connection = connection
  }

  var changedRows: Int { connection.changes }

  func bind(_ values: [StoreValue]) throws(StoreFault) {
    do throws(SQLiteError) {
      try statement.bind(values)
    } catch {
      throw StoreFault(error)
    }
  }

  func step() throws(StoreFault) -> Bool {
    do throws(SQLiteError) {
      return try statement.step()
    } catch {
      throw StoreFault(error)
    }
  }

  func reset() { statement.reset() }

  func isNull(_ column: Int) -> Bool { statement.row.isNull(Int32(truncatingIfNeeded: column)) }
  func integer(_ column: Int) -> Int64 { statement.row.integer(Int32(truncatingIfNeeded: column)) }
  func blob(_ column: Int) -> [UInt8] { statement.row.blob(Int32(truncatingIfNeeded: column)) }

  func text(_ column: Int) throws(StoreFault) -> String {
    do throws(SQLiteError) {
      return try statement.row.text(Int32(truncatingIfNeeded: column))
    } catch {
      throw StoreFault(error)
    }
  }
}

extension Connection {
  /// Returns the rows whose foreign keys refer to missing rows
  /// (https://www.sqlite.org/pragma.html#pragma_foreign_key_check).
  func orphans() throws(SQLiteError) -> [String] {
    try prepare("PRAGMA foreign_key_check").all { row throws(SQLiteError) in
      "a row of \(try row.text(0)) refers to a row of \(try row.text(2)) that is not there"
    }
  }
}

extension StoreFault {
  init(_ error: SQLiteError) {
    self.init(
      Kind(error.kind), operation: error.operation, reason: "\(error.reason) (SQLite code \(error.code))")
  }
}

extension StoreFault.Kind {
  init(_ kind: SQLiteError.Kind) {
    self =
      switch kind {
      case .busy: .busy
      case .full: .full
      case .inputOutput: .inputOutput
      case .syncFailed: .syncFailed
      case .corrupt: .corrupt
      case .constraint: .constraint
      case .readOnly: .readOnly
      case .moved: .moved
      case .cannotOpen: .cannotOpen
      case .outOfMemory: .outOfMemory
      case .interrupted: .interrupted
      case .misuse: .misuse
      }
  }
}

/// Runs `body` and converts an SQLite error to a `StoreFault`.
func translated<Result>(_ body: () throws(SQLiteError) -> Result) throws(StoreFault) -> Result {
  do throws(SQLiteError) {
    return try body()
  } catch {
    throw StoreFault(error)
  }
}
