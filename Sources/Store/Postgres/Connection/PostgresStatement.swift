// Statements and results as the store uses them. One thread at a time.

internal import Store

/// A statement. It has no name on the server, so a pooler can give each transaction another session.
final class PostgresStatement: EngineStatement {
  private let sql: String
  /// Made at the first use: a writer has over a hundred statements, and most programs use few of them.
  private lazy var translation = SQLTranslation.known(sql)
  private lazy var joined = RowChange(sql, translation)
  private var joinedOne: RowChange?
  private unowned let connection: PostgresStoreConnection
  private var values: [StoreValue] = []
  private var rows: PostgresRows?
  private(set) var changedRows = 0

  init(_ sql: String, _ connection: PostgresStoreConnection) {
    self.sql = sql
    self.connection = connection
  }

  func bind(_ values: [StoreValue]) throws(StoreFault) {
    guard values.count == translation.valueCount else {
      throw StoreFault(.misuse, operation: "bind", reason: "wrong number of values")
    }
    self.values = values
    rows = nil
  }

  func step() throws(StoreFault) -> Bool {
    if let rows { return rows.step() }
    let result = try connection.run(translation.command(values))
    changedRows = result.changedRows
    let rows = PostgresRows(result)
    self.rows = rows
    return rows.step()
  }

  func run() throws(StoreFault) {
    if translation.returnsRows {
      while try step() {}
    } else {
      try change(joined, translation.command)
    }
  }

  func changeOne(for operation: String) throws(StoreFault) {
    if joinedOne?.operation != operation {
      joinedOne = RowChange(sql, translation, changesOneFor: operation)
    }
    try change(joinedOne) { translation.command($0).changing(1, for: operation) }
  }

  /// - Parameter alone: the command, for a change that cannot be joined with others.
  private func change(
    _ change: RowChange?, _ alone: ([StoreValue]) -> PostgresCommand
  ) throws(StoreFault) {
    if let change {
      try connection.change(change, values)
    } else {
      try connection.change(alone(values), of: translation.changedTable)
    }
  }

  func reset() { (values, rows) = ([], nil) }

  func isNull(_ column: Int) -> Bool { rows?.isNull(column) ?? true }
  func integer(_ column: Int) -> Int64 { rows?.integer(column) ?? 0 }
  func text(_ column: Int) throws(StoreFault) -> String { rows?.text(column) ?? "" }
  func blob(_ column: Int) -> [UInt8] { rows?.blob(column) ?? [] }
}

/// The rows of a result.
final class PostgresRows: EngineStatement {
  private let result: PostgresResult
  private var row = -1

  init(_ result: PostgresResult) { self.result = result }

  var changedRows: Int { result.changedRows }
  func bind(_ values: [StoreValue]) {}
  func reset() {}

  func step() -> Bool {
    row += 1
    return row < result.count
  }

  func isNull(_ column: Int) -> Bool { result.isNull(row, column) }
  func integer(_ column: Int) -> Int64 { result.integer(row, column) }
  func text(_ column: Int) -> String { result.text(row, column) }
  func blob(_ column: Int) -> [UInt8] { result.bytes(row, column) }
}
