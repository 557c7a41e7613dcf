// Finds rows by ids, in a separate table, as in SQLite. One thread at a time.

internal import Store

/// The keys of a connection's database.
final class PostgresKeys: KeyIndex {
  /// At most this many rows of a key are read ahead.
  private static let rowsMax = 1_000

  private unowned let connection: PostgresStoreConnection
  private let adding: PostgresStatement
  /// The rows of the keys that the open transaction has read, largest first: all, or the newest `rowsMax`.
  private var known: [Int64: [Int64]] = [:]

  init(_ connection: PostgresStoreConnection) {
    self.connection = connection
    adding = PostgresStatement(
      "INSERT INTO keys (key, row) VALUES (?1, ?2) ON CONFLICT DO NOTHING", connection)
  }

  func add(_ key: RowKey, row: Int64) throws(StoreFault) {
    try adding.bind([.integer(key.number), .integer(row)])
    try adding.run()
    guard var rows = known[key.number], !rows.contains(row) else { return }
    rows.insert(row, at: rows.firstIndex { $0 < row } ?? rows.endIndex)
    known[key.number] = rows
  }

  func remove(_ key: RowKey, row: Int64) throws(StoreFault) {
    try connection.change(
      PostgresCommand(
        "DELETE FROM keys WHERE key = $1 AND row = $2", [.integer(key.number), .integer(row)]), of: "keys")
    // A cut list would look complete.
    if let rows = known[key.number], rows.count >= Self.rowsMax {
      known[key.number] = nil
    } else {
      known[key.number]?.removeAll { $0 == row }
    }
  }

  func erase(_ key: RowKey, row: Int64) throws(StoreFault) { try remove(key, row: row) }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [Int64] {
    if let rows = known[key.number], limit <= Self.rowsMax { return Array(rows.prefix(limit)) }
    let result = try connection.run(
      PostgresCommand(
        "SELECT row FROM keys WHERE key = $1 ORDER BY row DESC LIMIT $2",
        [.integer(key.number), .integer(Int64(limit))]))
    let rows = (0..<result.count).map { result.integer($0, 0) }
    if connection.isInTransaction, limit >= Self.rowsMax || rows.count < limit { known[key.number] = rows }
    return rows
  }

  func entries(_ numbers: ClosedRange<Int64>) throws(StoreFault) -> Set<KeyedRow> {
    let result = try connection.run(
      PostgresCommand(
        "SELECT key, row FROM keys WHERE key BETWEEN $1 AND $2",
        [.integer(numbers.lowerBound), .integer(numbers.upperBound)]))
    return Set((0..<result.count).map { KeyedRow(number: result.integer($0, 0), row: result.integer($0, 1)) })
  }

  /// Reads the newest rows of each key.
  static func read(_ keys: Set<RowKey>) -> PostgresCommand {
    PostgresCommand(
      """
      SELECT wanted.key, found.row FROM unnest($1) AS wanted (key) CROSS JOIN LATERAL (
        SELECT row FROM keys WHERE keys.key = wanted.key ORDER BY row DESC LIMIT \(rowsMax)) AS found
      """, [.integers(keys.map(\.number))])
  }

  /// Notes the result of `read`.
  func note(_ keys: Set<RowKey>, _ result: PostgresResult) {
    for key in keys { known[key.number] = [] }
    for row in 0..<result.count { known[result.integer(row, 0)]?.append(result.integer(row, 1)) }
    for key in keys { known[key.number]?.sort(by: >) }
  }

  /// Called when a transaction begins and ends.
  func forgetKnown() { known.removeAll(keepingCapacity: true) }
}
