// A connection as commands and queries use it, whatever the engine.

/// An open database. One thread at a time; put it behind a lock to share it.
public final class StoreConnection {
  /// For what only this engine has.
  package let engine: any EngineConnection

  public init(_ engine: any EngineConnection) { self.engine = engine }

  /// Prepares one statement for repeated use.
  public func prepare(_ sql: String) throws(StoreFault) -> StoreStatement {
    StoreStatement(try engine.prepare(sql), engine)
  }

  /// The first column of the first row of a query, as an integer; nil when there is no row.
  public func integer(_ sql: String) throws(StoreFault) -> Int64? {
    try prepare(sql).first { row throws(StoreFault) in row.integer(0) }
  }

  /// How many bytes the database can take in without growing.
  public func freeBytes() throws(StoreFault) -> Int64 { try engine.freeBytes() }

  /// Checks the whole database: a sentence for each fault. Reads all of it.
  public func integrityFaults() throws(StoreFault) -> [String] { try engine.integrityFaults() }

  /// Runs `body` in one transaction: all of it is durable when this returns, or nothing of it is there.
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

  /// Runs `body`, which only reads, on the state of one moment.
  public func snapshot<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    // One that asks inside of another sees what that one sees.
    if engine.isInTransaction { return try body() }
    try engine.beginReading()
    defer { engine.rollBack() }
    return try body()
  }
}

/// A prepared statement and its use in one call. It is reset after each.
public final class StoreStatement {
  private let engine: any EngineStatement
  private let connection: any EngineConnection

  init(_ engine: any EngineStatement, _ connection: any EngineConnection) {
    self.engine = engine
    self.connection = connection
  }

  /// Runs a statement for its effect.
  public func run(_ values: [StoreValue] = []) throws(StoreFault) {
    try forEach(values) { _ throws(StoreFault) in }
  }

  /// Runs an INSERT, UPDATE or DELETE.
  /// - Returns: how many rows it changed.
  public func count(_ values: [StoreValue]) throws(StoreFault) -> Int {
    try run(values)
    return connection.changedRows
  }

  /// Runs a statement that names one row and, in its condition, what was read of it before.
  /// - Parameter operation: what the row is changed for.
  /// - Throws: `constraint` when no row fits: what was decided rests on what is not so any more.
  public func changeOne(_ values: [StoreValue], for operation: String) throws(StoreFault) {
    guard try count(values) == 1 else {
      throw StoreFault(
        .constraint, operation: operation, reason: "the row is no longer as it was when it was read")
    }
  }

  /// Calls `body` with each row.
  public func forEach(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Void
  ) throws(StoreFault) {
    try engine.bind(values)
    defer { engine.reset() }
    while try engine.step() { try body(StoreRow(engine)) }
  }

  /// What `body` makes of the first row; nil when there is none.
  public func first<Result>(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result? {
    try engine.bind(values)
    defer { engine.reset() }
    return try engine.step() ? try body(StoreRow(engine)) : nil
  }

  /// What `body` makes of every row.
  public func all<Result>(
    _ values: [StoreValue] = [], _ body: (StoreRow) throws(StoreFault) -> Result
  ) throws(StoreFault) -> [Result] {
    var results: [Result] = []
    try forEach(values) { row throws(StoreFault) in results.append(try body(row)) }
    return results
  }
}
