// The whole content of a database as text, and the states that must never occur. One thread.

import SQLiteStore
import Store

/// Every row of every table, without the random key of the dashboard, which each migration makes again.
struct Snapshot: Equatable {
  private(set) var rows: [String: [String]] = [:]

  init(of connection: Connection) throws {
    let tables = try connection.prepare(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite_stat%' AND name <> 'admin_key' ORDER BY 1
      """
    ).all { row throws(SQLiteError) in try row.text(0) }
    for table in tables {
      let columns = try connection.prepare("SELECT name FROM pragma_table_info(?1)").all([.text(table)]) {
        row throws(SQLiteError) in "quote(\"\(try row.text(0))\")"
      }
      rows[table] = try connection.prepare(
        "SELECT \(columns.joined(separator: " || ',' || ")) FROM \"\(table)\" ORDER BY 1"
      ).all { row throws(SQLiteError) in try row.text(0) }
    }
  }

  /// A short description of the differences.
  func difference(from other: Snapshot) -> String {
    for table in Set(rows.keys).union(other.rows.keys).sorted() where rows[table] != other.rows[table] {
      let (mine, theirs) = (Set(rows[table] ?? []), Set(other.rows[table] ?? []))
      let shown = { (rows: Set<String>) in rows.sorted().prefix(3).map { String($0.prefix(120)) } }
      return "\(table): \(shown(mine.subtracting(theirs))) instead of \(shown(theirs.subtracting(mine)))"
    }
    return "none"
  }
}

enum Promises {
  /// States that must never occur, as SQL that counts them.
  static let faults: [(name: String, sql: String)] = [
    (
      "R2: two receipts of one purchase that were made ready",
      """
      SELECT count(*) FROM (SELECT 1 FROM purchases WHERE body IS NOT NULL
        GROUP BY app, copy_for, substr(object_id, instr(object_id, '_')) HAVING count(*) > 1)
      """
    ),
    (
      "R5: a purchase with a context of another app, user or purchase",
      """
      SELECT count(*) FROM purchases p JOIN contexts c ON c.id = p.context_id
      WHERE (c.purchase_row IS NOT p.row_id AND NOT p.context_disputed AND p.copy_for = '') OR c.app <> p.app
        OR c.user_id IS NOT p.user_id
      """
    ),
    (
      "R4: a count that is not the number of receipts",
      """
      SELECT count(*) FROM (
        SELECT app, state, coalesce(reason, ''), coalesce(last_cause, ''), processor, count(*) FROM purchases
          WHERE state IS NOT NULL GROUP BY 1, 2, 3, 4, 5
        EXCEPT SELECT app, state, reason, last_cause, processor, count FROM receipt_counts)
      """
    ),
  ]

  /// The faults of a database: by SQLite's integrity check, by the promises, and by the acknowledgements.
  static func faults(in connection: Connection, _ ledger: Ledger.State) throws -> [String] {
    var found = try connection.prepare("PRAGMA integrity_check").all { row throws(SQLiteError) in
      try row.text(0)
    }.filter { $0 != "ok" }
    try connection.prepare("PRAGMA foreign_key_check").forEach { row throws(SQLiteError) in
      found.append("a row of \(try row.text(0)) refers to nothing")
    }
    for fault in faults {
      if try connection.integer(fault.sql) != 0 { found.append(fault.name) }
    }
    return try found + ledger.faults(in: connection)
  }
}
