// Inspects a copy of a database, of this schema or an older one, before it is used. One thread at a time.

public import Domain
internal import Migrations
public import Store

/// A database file that no program has open.
public final class BackupFile {
  private let connection: Connection
  /// Its schema version, at most this program's.
  public let version: Int

  /// - Throws: `missing`, `foreign`, `ofDevelopment`, `newerSchema`, or SQLite's error.
  public init(path: String) throws(StoreError) {
    do throws(SQLiteError) {
      connection = try Connection(path: path, mode: .readOnly, busyTimeout: .zero)
    } catch {
      throw error.kind == .cannotOpen ? .missing : .fault(StoreFault(error))
    }
    let mark: Int64
    do throws(SQLiteError) {
      version = Int(try connection.integer("PRAGMA user_version") ?? 0)
      mark = try connection.integer("PRAGMA application_id") ?? 0
    } catch {
      throw error.kind == .corrupt ? .foreign : .fault(StoreFault(error))
    }
    if let fault = Database.fault(mark: mark, version: version) { throw fault }
  }

  /// Whether the file has this program's schema version.
  public var isCurrent: Bool { version == Migrations.currentVersion }

  /// The findings of SQLite's integrity check; empty when there are none. Reads the whole file.
  /// - Parameter progress: called with the share that is done, 0…1.
  public func faults(progress: (Double) -> Void = { _ in }) throws(StoreFault) -> [String] {
    try translated { () throws(SQLiteError) in
      try IntegrityCheck(connection: connection).run(progress: progress).all
    }
  }

  /// Makes a running check or copy fail with the kind `interrupted`. Called from any thread.
  public var interrupt: @Sendable () -> Void {
    let interrupter = connection.interrupter
    return { interrupter.interrupt() }
  }

  /// Whether bodies need a dictionary that this program does not have. A file that was made of a damaged one
  /// may be the best there is.
  public func lacksDictionaries() throws(StoreFault) -> Bool {
    let reader = StoreReader(StoreConnection(SQLiteConnection(connection)))
    return try !reader.unknownDictionaries().isEmpty
  }

  /// When the newest event was received; nil when there are no events.
  public func lastEventAt() throws(StoreFault) -> Timestamp? {
    try translated { () throws(SQLiteError) in
      try connection.integer("SELECT received_at FROM events ORDER BY row_id DESC LIMIT 1")
        .map(Timestamp.init(unixMilliseconds:))
    }
  }

  /// The number of receipts that are still to be delivered.
  public func countPending() throws(StoreFault) -> Int64 {
    try translated { () throws(SQLiteError) in
      try connection.integer("SELECT sum(count) FROM receipt_counts WHERE state = 'pending'") ?? 0
    }
  }

  /// The jobs that would continue after a restore.
  public func activeJobs() throws(StoreFault) -> [HaltedJob] {
    try translated { () throws(SQLiteError) in try HaltedJob.all(connection) }
  }

  /// About how large a copy becomes.
  public func usedBytes() throws(StoreFault) -> Int64 {
    try translated { () throws(SQLiteError) in try connection.usedBytes() }
  }

  /// Copies the database into a new file.
  public func copy(to path: String) throws(StoreFault) {
    try translated { () throws(SQLiteError) in try connection.copy(to: path) }
  }
}

/// A job that a restore halts, because the backup does not contain what the job did after the backup was
/// made.
public struct HaltedJob: Sendable, Equatable {
  public let id: String
  /// Whether the job was paused and can be resumed. A job that was still choosing receipts is cancelled.
  public let canGoOn: Bool

  /// Reads columns directly, because the schema may be older.
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
  /// Pauses the running jobs of a database that is not open, and cancels jobs that were still choosing
  /// receipts.
  /// - Returns: the halted jobs.
  public static func haltJobs(path: String, now: Timestamp) throws(StoreFault) -> [HaltedJob] {
    try translated { () throws(SQLiteError) in
      try halted(Connection(path: path, mode: .readWrite, busyTimeout: .zero), now)
    }
  }

  private static func halted(_ connection: Connection, _ now: Timestamp) throws(SQLiteError) -> [HaltedJob] {
    try connection.transaction { () throws(SQLiteError) in
      if CleanEnd.isMissing(connection) { try CleanEnd.end(connection) }
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

  /// Whether opening this database starts with a migration, which takes time on a large database.
  public static func isMigrationDue(path: String) -> Bool {
    // Opening the database reports any fault.
    guard let backup = try? BackupFile(path: path) else { return false }
    return !backup.isCurrent
  }

  /// Moves the log into its database, so that the database file alone is complete. No other connection may be
  /// open.
  /// - Returns: false if another connection kept the log from being moved completely.
  public static func moveWholeLog(path: String) throws(StoreFault) -> Bool {
    try translated { () throws(SQLiteError) in
      let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(1))
      if CleanEnd.isMissing(connection) { try CleanEnd.end(connection) }
      // The first column says whether another connection blocked the checkpoint
      // (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
      return try connection.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 0
    }
  }
}
