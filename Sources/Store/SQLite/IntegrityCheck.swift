// SQLite's integrity check, one table after another, so that its progress can be shown. One thread; another
// one may interrupt it.

/// Checks all pages of a database (https://www.sqlite.org/pragma.html#pragma_integrity_check).
struct IntegrityCheck {
  /// The share of the last step, which reads the pages again, but not the entries of indexes.
  private static let lastShare = 0.2

  /// What is wrong.
  struct Result {
    /// The tables with findings about them or their indexes, and these findings.
    var tables: [(name: String, faults: [String])] = []
    /// Findings about pages of no table.
    var others: [String] = []

    var all: [String] { tables.flatMap(\.faults) + others }
  }

  let connection: Connection

  /// - Parameter progress: called with the share that is done, 0…1.
  /// - Throws: also when the list of tables cannot be read.
  func run(progress: (Double) -> Void = { _ in }) throws(SQLiteError) -> Result {
    var result = Result()
    let tables = try connection.tableNames()
    let sizes = tables.map(size)
    let total = sizes.reduce(0, +)
    var done = 0.0
    for (table, size) in zip(tables, sizes) {
      let faults = try Self.faults("PRAGMA integrity_check('\(table)')", connection)
      if !faults.isEmpty { result.tables.append((table, faults)) }
      done += size
      progress(done / total * (1 - Self.lastShare))
    }
    // The check of a table does not look at pages that belong to none.
    let known = Set(result.all)
    result.others = try Self.faults("PRAGMA quick_check", connection).filter { !known.contains($0) }
    progress(1)
    return result
  }

  /// Returns the findings of a check, including damage that ended it.
  static func faults(_ pragma: String, _ connection: Connection) throws(SQLiteError) -> [String] {
    do throws(SQLiteError) {
      return try connection.prepare(pragma).all { row throws(SQLiteError) in try row.text(0) }
        .filter { $0 != "ok" }
        // One row of the result may contain several findings.
        .flatMap { $0.split(separator: "\n").map(String.init) }
    } catch {
      guard error.kind == .corrupt else { throw error }
      return [error.description]
    }
  }

  /// About how long the check of a table takes, compared with other tables: by its greatest row id.
  private func size(_ table: String) -> Double {
    // A table without row ids, or a damaged one, counts as a small one.
    let rows = try? connection.integer("SELECT max(rowid) FROM \"\(table)\"")
    return Double(max(0, rows ?? 0)) + 100
  }
}

extension Connection {
  /// The size of the pages that are not free (https://www.sqlite.org/pragma.html#pragma_freelist_count).
  func usedBytes() throws(SQLiteError) -> Int64 {
    let pages = (try integer("PRAGMA page_count") ?? 0) - (try integer("PRAGMA freelist_count") ?? 0)
    return pages * (try integer("PRAGMA page_size") ?? 0)
  }
}
