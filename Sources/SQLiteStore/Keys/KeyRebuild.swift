// Makes the index of keys from the rows of `purchases`, which are the truth: after a migration, and in a
// restored file, which may have been made of a damaged one.

internal import Domain
package import SQLite
public import Store

public enum KeyRebuild {
  /// The tables that are made.
  static let tables: Set<String> = ["keys", "key_tail"]
  /// How many keys are sorted at once: they need 16 bytes each.
  private static let batch = 1_000_000

  /// Makes the index of a file that nothing else uses; a file of an older schema has none.
  public static func run(path: String) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
      let names = Set(try connection.tableNames())
      guard tables.isSubset(of: names) else { return }
      try connection.transaction { () throws(SQLiteError) in try run(connection) }
    }
  }

  /// Empties the index and fills it. In the open transaction.
  package static func run(_ connection: Connection) throws(SQLiteError) {
    try connection.execute("DELETE FROM keys; DELETE FROM key_tail")
    let inserting = try connection.prepare("INSERT OR IGNORE INTO keys (key, row) VALUES (?1, ?2)")
    var entries: [KeyGeneration.Entry] = []
    func write() throws(SQLiteError) {
      entries.sort { ($0.key, $0.row) < ($1.key, $1.row) }
      for entry in entries { try inserting.run([.integer(entry.key), .integer(entry.row)]) }
      entries.removeAll(keepingCapacity: true)
    }
    try connection.prepare(
      "SELECT row_id, app, object_id, session_id, customer_id, user_id FROM purchases"
    ).forEach { row throws(SQLiteError) in
      let keys = RowKey.keys(
        app: AppSlug(try row.text(1)), object: ObjectID(try row.text(2)),
        session: try row.optionalText(3).map { SessionID($0) },
        customer: try row.optionalText(4).map { CustomerID($0) },
        user: try row.optionalText(5).map { UserID($0) })
      for key in keys { entries.append(.init(key: key.number, row: row.integer(0))) }
      if entries.count >= batch { try write() }
    }
    try write()
  }
}
