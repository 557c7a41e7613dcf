// Opens the database: reads back each setting, checks the schema version, and migrates if allowed (R1, R10).

internal import Migrations
package import Store

/// How a program opens the database.
public enum DatabaseRole: Sendable {
  /// receiptd: creates the database, migrates it, writes.
  case owner
  /// receiptctl: writes only to a database of its own schema version, and never migrates.
  case guest
  /// Only reads.
  case reader
}

/// Opens databases of this project.
public enum Database {
  /// "Rrly": marks the file as this project's (https://www.sqlite.org/pragma.html#pragma_application_id).
  static let applicationID: Int64 = 0x5272_6C79
  /// "RRly": the mark of development versions, whose schemas had other numbers.
  private static let developmentID: Int64 = 0x5252_6C79
  /// How long a writer waits for another process's short transaction.
  static let busyTimeout: Duration = .seconds(10)

  /// - Parameter onDamage: called whenever SQLite reports damage on this connection.
  /// - Returns: a connection with every setting in force and the schema at this program's version.
  package static func open(
    path: String, role: DatabaseRole, onDamage: (@Sendable (StoreFault) -> Void)? = nil
  ) throws(StoreError) -> Connection {
    let opened: Result<Connection, StoreError>
    do throws(SQLiteError) {
      opened = try prepare(path: path, role: role, onDamage: onDamage)
    } catch {
      throw error.kind == .cannotOpen && role != .owner ? .missing : .fault(StoreFault(error))
    }
    return try opened.get()
  }

  private static func prepare(
    path: String, role: DatabaseRole, onDamage: (@Sendable (StoreFault) -> Void)?
  ) throws(SQLiteError) -> Result<Connection, StoreError> {
    let mode: Connection.Mode =
      switch role {
      case .owner: .readWriteCreate
      case .guest: .readWrite
      case .reader: .readOnly
      }
    let connection = try Connection(path: path, mode: mode, busyTimeout: busyTimeout)
    if let onDamage { connection.onDamage = { onDamage(StoreFault($0)) } }
    let found = try connection.integer("PRAGMA application_id") ?? 0
    let version = Int(try connection.integer("PRAGMA user_version") ?? 0)
    let isEmpty = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
    if let fault = check(role, found: found, version: version, isEmpty: isEmpty) { return .failure(fault) }
    if let fault = try configure(connection, role: role) { return .failure(fault) }
    if role == .owner {
      try Migrator.migrate(connection, from: version, to: Migrations.sqlite)
      try connection.execute("PRAGMA secure_delete = ON")
    }
    return .success(connection)
  }

  /// Why no role may use a file with this mark and version.
  static func fault(mark: Int64, version: Int) -> StoreError? {
    if mark == developmentID { return .ofDevelopment }
    if mark != applicationID { return .foreign }
    let known = Migrations.currentVersion
    return version > known ? .newerSchema(found: version, known: known) : nil
  }

  private static func check(_ role: DatabaseRole, found: Int64, version: Int, isEmpty: Bool) -> StoreError? {
    let known = Migrations.currentVersion
    if isEmpty { return role == .owner ? nil : .missing }
    if let fault = fault(mark: found, version: version) { return fault }
    if version < known, role != .owner { return .olderSchema(found: version, known: known) }
    return nil
  }

  /// Sets what durability and consistency depend on, and reads it back, because SQLite ignores unknown
  /// settings.
  private static func configure(_ connection: Connection, role: DatabaseRole) throws(SQLiteError)
    -> StoreError?
  {
    try connection.execute("PRAGMA foreign_keys = ON")
    guard try connection.integer("PRAGMA foreign_keys") == 1 else { return .unsafeSetting("foreign_keys") }
    // A negative cache size is in KiB. A reader gets the same pages from the kernel's cache.
    try connection.execute("PRAGMA cache_size = \(role == .owner ? -3072 : -512)")
    guard role != .reader else { return nil }
    guard try connection.text("PRAGMA journal_mode = WAL") == "wal" else {
      return .unsafeSetting("journal_mode")
    }
    // The pragma returns "wal" even if SQLite could not read a page and left the file unchanged. The mode is
    // known after the next read of the file. A power loss can undo a commit in another mode (R1).
    _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
    guard try connection.text("PRAGMA journal_mode") == "wal" else { return .unsafeSetting("journal_mode") }
    // FULL (2) syncs the log at each commit; NORMAL can lose the last commits at a power loss (R1).
    try connection.execute("PRAGMA synchronous = FULL")
    guard try connection.integer("PRAGMA synchronous") == 2 else { return .unsafeSetting("synchronous") }
    // The daemon's writer runs checkpoints itself; see `LogUpkeep`.
    let isOwner = role == .owner
    // The last connection to close deletes the log, and receiptd's next start could not tell that from a
    // loss.
    if !isOwner, CleanEnd.isMissing(connection) { connection.keepLogOnClose(true) }
    // Deleted content is overwritten in the file (https://www.sqlite.org/pragma.html#pragma_secure_delete):
    // what a program leaves behind when it moves or compresses a user's data, no later erasure finds. A
    // migration does not overwrite whole pages, because dropping an index would then take minutes.
    try connection.execute("PRAGMA secure_delete = \(isOwner ? "FAST" : "ON")")
    try connection.execute("PRAGMA wal_autocheckpoint = \(isOwner ? 0 : StoreWriter.checkpointPages)")
    if isOwner { connection.watchLog() }
    // SQLite truncates the log to this size (bytes) after a checkpoint.
    try connection.execute("PRAGMA journal_size_limit = 67108864")
    return nil
  }
}

// MARK: - Migrator

// Migrates an older schema in one transaction, all or nothing (R10).

enum Migrator {
  /// - Parameter migrations: every version's SQL, oldest first.
  static func migrate(
    _ connection: Connection, from version: Int, to migrations: [String]
  ) throws(SQLiteError) {
    guard version < migrations.count else { return }
    try connection.transaction { () throws(SQLiteError) in
      for sql in migrations[version...] { try connection.execute(sql) }
      try connection.execute("PRAGMA application_id = \(Database.applicationID)")
      try connection.execute("PRAGMA user_version = \(migrations.count)")
    }
  }
}
