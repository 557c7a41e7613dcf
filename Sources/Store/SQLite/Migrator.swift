// Migrates an older schema in one transaction, all or nothing (R10).

enum Migrator {
  /// - Parameters:
  ///   - migrations: every version's SQL, oldest first.
  ///   - finish: what SQL cannot do; called after the last one, if there was any.
  static func migrate(
    _ connection: Connection, from version: Int, to migrations: [String],
    finish: (Connection) throws(SQLiteError) -> Void = { _ in }
  ) throws(SQLiteError) {
    guard version < migrations.count else { return }
    try connection.transaction { () throws(SQLiteError) in
      for sql in migrations[version...] { try connection.execute(sql) }
      try finish(connection)
      try connection.execute("PRAGMA application_id = \(Database.applicationID)")
      try connection.execute("PRAGMA user_version = \(migrations.count)")
    }
  }
}
