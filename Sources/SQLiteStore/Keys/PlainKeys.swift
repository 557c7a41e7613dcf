// Keys as a program uses them that does not own the database: it reads the newest in the table. One thread at
// a time.

internal import Domain
internal import SQLite
internal import Store

/// The keys of a connection that only reads, or of a guest that writes.
///
/// What a guest changes is appended to the tail, as the owner does it: the order of the changes matters.
final class PlainKeys: KeyIndex {
  private let connection: Connection
  /// The newest keys, if the owner is in this process.
  private let memory: KeyMemory?
  /// Prepared at their first use: most connections need none.
  private var statements: [String: Statement] = [:]

  init(_ connection: Connection, _ memory: KeyMemory?) {
    self.connection = connection
    self.memory = memory
  }

  func add(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) { try run(Self.appending, key, row.number) }
  func remove(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) {
    try run(Self.appending, key, -row.number)
  }

  func erase(_ key: RowKey, row: PurchaseRowID) throws(StoreFault) {
    try run("DELETE FROM keys WHERE key = ?1 AND row = ?2", key, row.number)
    try run("DELETE FROM key_tail WHERE key = ?1 AND abs(row) = ?2", key, row.number)
  }

  private static let appending = """
    INSERT INTO key_tail (number, key, row) SELECT coalesce(max(number), 0) + 1, ?1, ?2 FROM key_tail
    """

  private func run(_ sql: String, _ key: RowKey, _ row: Int64) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      try statement(sql).run([.integer(key.number), .integer(row)])
    }
  }

  private func statement(_ sql: String) throws(SQLiteError) -> Statement {
    if let prepared = statements[sql] { return prepared }
    let prepared = try connection.prepare(sql)
    statements[sql] = prepared
    return prepared
  }

  func rows(_ key: RowKey, limit: Int) throws(StoreFault) -> [PurchaseRowID] {
    let number = key.number
    return try translated { () throws(SQLiteError) in
      // An open snapshot may be older than the memory, which lacks what has been moved since.
      let known = connection.isInTransaction ? nil : memory?.rows(number, limit: limit)
      let recent =
        if let known { known } else {
          try read("SELECT row FROM key_tail WHERE key = ?1 ORDER BY number DESC LIMIT ?2", number, limit)
        }
      let old = try read("SELECT row FROM keys WHERE key = ?1 ORDER BY row DESC LIMIT ?2", number, limit)
      return KeyRows.merged(recent, old, limit: limit)
    }
  }

  private func read(_ sql: String, _ number: Int64, _ limit: Int) throws(SQLiteError) -> [Int64] {
    try statement(sql).all([.integer(number), .integer(Int64(limit))]) { row throws(SQLiteError) in
      row.integer(0)
    }
  }

  func selection(_ lower: String, _ upper: String) -> String { KeyRows.selection(lower, upper) }
}

/// What both kinds of connections share.
enum KeyRows {
  /// - Parameters:
  ///   - recent: of the tail, newest first; negative rows are removed.
  ///   - indexed: of the index.
  /// - Returns: the largest rows first, each once.
  static func merged(_ recent: [Int64], _ indexed: [Int64], limit: Int) -> [PurchaseRowID] {
    if recent.isEmpty { return indexed.map { PurchaseRowID($0) } }
    // The newest entry of a row says whether it has the key.
    var decided: [Int64: Bool] = [:]
    for row in recent where decided[abs(row)] == nil { decided[abs(row)] = row > 0 }
    let rows = decided.filter(\.value).map(\.key) + indexed.filter { decided[$0] == nil }
    return rows.sorted(by: >).prefix(limit).map { PurchaseRowID($0) }
  }

  static func selection(_ lower: String, _ upper: String) -> String {
    ["keys", "key_tail"].map { "SELECT row FROM \($0) WHERE key BETWEEN \(lower) AND \(upper)" }
      .joined(separator: " UNION ALL ")
  }
}
