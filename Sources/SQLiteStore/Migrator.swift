// Brings an older schema up to date, inside one transaction: either all of it is there, or none (R10).

internal import SQLite

enum Migrator {
  /// - Parameter migrations: every version's SQL, oldest first.
  static func migrate(_ connection: Connection, from version: Int, to migrations: [String])
    throws(SQLiteError)
  {
    guard version < migrations.count else { return }
    try connection.transaction { () throws(SQLiteError) in
      for sql in migrations[version...] { try connection.execute(sql) }
      try connection.execute("PRAGMA application_id = \(Database.applicationID)")
      try connection.execute("PRAGMA user_version = \(migrations.count)")
    }
  }
}
