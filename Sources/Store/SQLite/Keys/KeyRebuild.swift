// Makes the tables of keys from the rows, which are the truth: after a migration, and in a restored file,
// which may have been made of a damaged one.

internal import Domain
public import Store

public enum KeyRebuild {
  /// The tables that are made.
  static let tables: Set<String> = ["keys", "recent_keys", "key_tail"]
  /// How many keys are sorted at once: they need 16 bytes each.
  private static let batch = 1_000_000

  /// Makes the index of a file that nothing else uses; a file of an older schema has none.
  /// - Parameter onStart: gets what interrupts the work from another thread; then it throws `interrupted`,
  ///   and the file is as before.
  public static func run(
    path: String, onStart: (@escaping @Sendable () -> Void) -> Void = { _ in }
  ) throws(StoreFault) {
    try translated { () throws(SQLiteError) in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .zero)
      let interrupter = connection.interrupter
      onStart { interrupter.interrupt() }
      let names = Set(try connection.tableNames())
      guard tables.isSubset(of: names) else { return }
      try connection.transaction { () throws(SQLiteError) in try run(connection) }
    }
  }

  /// Empties the tables and fills `keys`. In the open transaction.
  package static func run(_ connection: Connection) throws(SQLiteError) {
    for table in tables.sorted() { try connection.execute("DELETE FROM \(table)") }
    let inserting = try connection.prepare("INSERT OR IGNORE INTO keys (key, row) VALUES (?1, ?2)")
    var entries: [KeyEntry] = []
    func write() throws(SQLiteError) {
      entries.sort { ($0.key, $0.row) < ($1.key, $1.row) }
      for entry in entries { try inserting.run([.integer(entry.key), .integer(entry.row)]) }
      entries.removeAll(keepingCapacity: true)
    }
    func add(_ keys: [RowKey], _ row: Int64) throws(SQLiteError) {
      for key in keys { entries.append(KeyEntry(key: key.number, row: row)) }
      if entries.count >= batch { try write() }
    }
    try connection.prepare(
      "SELECT row_id, app, object_id, session_id, customer_id, user_id, other_names FROM purchases"
    ).forEach { row throws(SQLiteError) in
      let keys = RowKey.keys(
        app: AppSlug(try row.text(1)), object: ObjectID(try row.text(2)),
        session: try row.optionalText(3).map { SessionID($0) },
        customer: try row.optionalText(4).map { CustomerID($0) },
        users: NamesColumn.users(try row.optionalText(5).map { UserID($0) }, others: try row.optionalText(6)))
      try add(keys, row.integer(0))
    }
    try connection.prepare("SELECT row_id, app, user_id, digest FROM contexts").forEach {
      row throws(SQLiteError) in
      let keys = RowKey.keys(
        app: AppSlug(try row.text(1)), contextOf: UserID(try row.text(2)), digest: row.blob(3))
      try add(keys, row.integer(0))
    }
    try write()
  }
}
