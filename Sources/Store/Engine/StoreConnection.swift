// A connection as commands and queries use it, for any engine.

/// An open database. Used by one thread at a time; protect it with a lock to share it.
public final class StoreConnection {
  /// For features of one engine only.
  package let engine: any EngineConnection

  public init(_ engine: any EngineConnection) { self.engine = engine }

  /// Prepares one statement for repeated use.
  public func prepare(_ sql: String) throws(StoreFault) -> StoreStatement {
    StoreStatement(sql, try engine.prepare(sql), engine)
  }

  /// The same, but prepared at its first use: a statement takes some kilobytes, and its text is parsed.
  public func prepareOnUse(_ sql: String) -> StoreStatement { StoreStatement(sql, nil, engine) }

  /// The first column of the first row of a query, as an integer; nil when there is no row.
  public func integer(_ sql: String) throws(StoreFault) -> Int64? {
    try prepare(sql).first { row throws(StoreFault) in row.integer(0) }
  }

  /// How many bytes can be stored before the database grows.
  public func freeBytes() throws(StoreFault) -> Int64 { try engine.freeBytes() }

  /// Checks the whole database and returns one sentence per fault. Reads all of it.
  public func integrityFaults() throws(StoreFault) -> [String] { try engine.integrityFaults() }

  /// Runs `body` in one transaction: when this returns all changes are durable; after an error there are
  /// none.
  public func transaction<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try engine.begin()
    do {
      let result = try body()
      try engine.commit()
      return result
    } catch {
      engine.rollBack()
      throw error
    }
  }

  /// Runs `body`, which only reads, on one snapshot of the database.
  public func snapshot<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    // A nested call uses the snapshot of the outer transaction.
    if engine.isInTransaction { return try body() }
    try engine.beginReading()
    defer { engine.rollBack() }
    return try body()
  }
}

/// A prepared statement with its parameters bound in one call. It is reset after each use.
public final class StoreStatement {
  private let sql: String
  private var prepared: (any EngineStatement)?
  private let connection: any EngineConnection

  /// - Parameter prepared: nil to prepare it at its first use.
  init(_ sql: String, _ prepared: (any EngineStatement)?, _ connection: any EngineConnection) {
    self.sql = sql
    self.prepared = prepared
    self.connection = connection
  }

  private func statement() throws(StoreFault) -> any EngineStatement {
    if let prepared { return prepared }
    let statement = try connection.prepare(sql)
    prepared = statement
    return statement
  }

  /// Runs the statement and ignores its rows.
  public func run(_ values: [StoreValue] = []) throws(StoreFault) {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    try statement.run()
  }

  /// Runs an INSERT, UPDATE or DELETE.
  /// - Returns: the number of changed rows.
  public func count(_ values: [StoreValue]) throws(StoreFault) -> Int {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() {}
    return statement.changedRows
  }

  /// Runs a statement whose condition names one row and the values read from it before.
  /// - Parameter operation: the purpose of the change.
  /// - Throws: `constraint` if no row matches: the decision was based on values that have changed.
  public func changeOne(_ values: [StoreValue], for operation: String) throws(StoreFault) {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    try statement.changeOne(for: operation)
  }

  /// Calls `body` with each row.
  public func forEach(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Void
  ) throws(StoreFault) {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() { try body(StoreRow(statement)) }
  }

  /// Calls `body` with each row until it returns false.
  public func readWhile(
    _ values: [StoreValue], _ body: (StoreRow) throws(StoreFault) -> Bool
  ) throws(StoreFault) {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step(), try body(StoreRow(statement)) {}
  }

  /// Returns the result of `body` for the first row; nil if there is no row.
  public func first<Result>(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    let statement = try statement()
    try statement.bind(values)
    defer { statement.reset() }
    return try statement.step() ? try body(StoreRow(statement)) : nil
  }

  /// Returns the results of `body` for all rows.
  public func all<Result>(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Result
  ) throws(StoreFault) -> [Result] {
    var results: [Result] = []
    try forEach(values) { row throws(StoreFault) in results.append(try body(row)) }
    return results
  }
}
