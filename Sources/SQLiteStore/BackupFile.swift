// A copy of a database, looked at before anything rests on it: of this schema or an older one. One thread.

public import Domain
internal import Migrations
internal import SQLite
public import Store

/// A database file that nobody works with.
public final class BackupFile {
  private let connection: Connection
  /// Its schema, at most this program's own.
  public let version: Int

  /// - Throws: `missing`, `foreign`, `newerSchema`, or what SQLite says of it.
  public init(path: String) throws(StoreError) {
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readOnly, busyTimeoutMilliseconds: 0)
    } catch {
      throw error.kind == .cannotOpen ? .missing : .fault(StoreFault(error))
    }
    do throws(SQLiteError) {
      version = Int(try connection.integer("PRAGMA user_version") ?? 0)
      guard try connection.integer("PRAGMA application_id") == Database.applicationID else {
        throw SQLiteError(kind: .corrupt, code: 26, operation: "open backup")
      }
    } catch {
      throw error.kind == .corrupt ? .foreign : .fault(StoreFault(error))
    }
    guard version <= Migrations.currentVersion else {
      throw .newerSchema(found: version, known: Migrations.currentVersion)
    }
  }

  /// Whether this program's schema is in it.
  public var isCurrent: Bool { version == Migrations.currentVersion }

  /// What SQLite's own check finds; empty when it is sound. Reads all of it.
  public func faults() throws(StoreFault) -> [String] {
    try translated { () throws(SQLiteError) in
      try connection.prepare("PRAGMA integrity_check").all { row throws(SQLiteError) in try row.text(0) }
        .filter { $0 != "ok" }
    }
  }

  /// When the last event in it was received; nil when there is none.
  public func lastEventAt() throws(StoreFault) -> Timestamp? {
    try translated { () throws(SQLiteError) in
      try connection.integer("SELECT received_at FROM events ORDER BY row_id DESC LIMIT 1")
        .map(Timestamp.init(unixMilliseconds:))
    }
  }

  /// How many receipts are in it that are still to be delivered.
  public func countPending() throws(StoreFault) -> Int64 {
    try translated { () throws(SQLiteError) in
      try connection.integer("SELECT sum(count) FROM receipt_counts WHERE state = 'pending'") ?? 0
    }
  }

  /// The jobs that would go on in it.
  public func activeJobs() throws(StoreFault) -> [HaltedJob] {
    try translated { () throws(SQLiteError) in try HaltedJob.all(connection) }
  }

  /// Writes a copy into a new file.
  public func copy(to path: String) throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.copy(to: path) }
  }
}

/// A job of a backup that must not go on by itself: what it did after the backup was made is not known in it.
public struct HaltedJob: Sendable, Equatable {
  public let id: String
  /// Whether it is paused and can be resumed; one whose receipts were still being chosen is cancelled.
  public let canGoOn: Bool

  /// Raw, because the schema may be an older one.
  fileprivate static func all(_ connection: Connection) throws(SQLiteError) -> [HaltedJob] {
    let hasJobs = try connection.integer(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'jobs'")
    guard hasJobs == 1 else { return [] }
    return try connection.prepare(
      """
      SELECT id, state = 'running' FROM jobs
      WHERE ended_at IS NULL AND (state = 'running' OR state = 'preparing') ORDER BY row_id
      """
    ).all { row throws(SQLiteError) in HaltedJob(id: try row.text(0), canGoOn: row.flag(1)) }
  }
}

extension Database {
  /// Pauses the running jobs of a database that nobody has open, and cancels those that had not begun.
  /// - Returns: which ones.
  public static func haltJobs(path: String, now: Timestamp) throws(StoreFault) -> [HaltedJob] {
    try translated { () throws(SQLiteError) in
      try halted(Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 0), now)
    }
  }

  private static func halted(_ connection: Connection, _ now: Timestamp) throws(SQLiteError) -> [HaltedJob] {
    try connection.transaction { () throws(SQLiteError) in
      let jobs = try HaltedJob.all(connection)
      guard !jobs.isEmpty else { return jobs }
      try connection.prepare("UPDATE jobs SET state = 'paused', updated_at = ?1 WHERE state = 'running'")
        .run([.integer(now.unixMilliseconds)])
      try connection.prepare(
        """
        UPDATE jobs SET state = 'cancelled', updated_at = ?1, ended_at = ?1,
          note = 'the database was restored before it began'
        WHERE state = 'preparing'
        """
      ).run([.integer(now.unixMilliseconds)])
      return jobs
    }
  }

  /// Whether opening this database begins with bringing its schema up to date, which takes time where it is
  /// large.
  public static func isMigrationDue(path: String) -> Bool {
    // Whatever is wrong with it is told when it is opened.
    guard let backup = try? BackupFile(path: path) else { return false }
    return !backup.isCurrent
  }

  /// Moves what is left of a log into its database, so that the file alone is all of it. Nobody else may have
  /// it open.
  /// - Returns: whether all of it could be moved; not so while somebody else reads.
  public static func moveWholeLog(path: String) throws(StoreFault) -> Bool {
    try translated { () throws(SQLiteError) in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeoutMilliseconds: 1000)
      // The first column says whether another connection prevented it
      // (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
      return try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }
  }
}
