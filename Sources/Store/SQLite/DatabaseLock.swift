// Limits a database to one process: two receiptds would both deliver, and a restore needs exclusive access.
// Thread-safe.

public import Domain
public import Platform

/// Why a program cannot lock a database.
public enum DatabaseRefusal: Error, Sendable {
  /// Another process holds the lock; nil if the file is in use under another name.
  case held(by: LockHolder?)
  /// An operator has to decide.
  case refused(String)
  case system(SystemError)
}

/// A database that this process has locked.
///
/// It holds two locks. The lock on the database file excludes other processes whichever path they use. The
/// lock file beside it names the holder, so that receiptctl can wake receiptd. Both are at the resolved path,
/// as SQLite's log is.
public final class DatabaseLock: Sendable {
  /// The database file, without symbolic links.
  public let path: String
  /// The remains of a missing database, under their new names.
  public let setAside: [String]
  /// Nil if there was no database to lock.
  private let inode: InodeLock?
  private let file: FileLock

  private init(path: String, inode: InodeLock?, file: FileLock, setAside: [String] = []) {
    self.path = path
    self.inode = inode
    self.file = file
    self.setAside = setAside
  }

  /// The lock file that names the process serving a database.
  public static func lockPath(of databasePath: String) -> String {
    // No process serves a path that cannot be resolved.
    ((try? FilePath.resolved(databasePath)) ?? databasePath) + ".lock"
  }

  /// For receiptd. Must be called before SQLite opens the database in this process, and the lock must be held
  /// until the process ends (`keep`); see `InodeLock`.
  /// - Parameters:
  ///   - makesNew: whether to create an empty database although files of an earlier one exist.
  ///   - acceptsLostLog: whether to go on without the log of a run that did not end cleanly.
  public static func serve(
    _ databasePath: String, makesNew: Bool, acceptsLostLog: Bool = false, now: Timestamp
  ) throws(DatabaseRefusal) -> DatabaseLock {
    let path = try resolved(databasePath)
    let remains = try remains(of: path, makesNew: makesNew)
    // Locks the database first: if the process dies after creating it, only an empty file remains, and no
    // lock file that would look like the remains of a lost database.
    let inode = try inodeLock(path, creates: true)
    let file = try fileLock(path, .serving)
    try checkLog(path, record: file.record, acceptsLostLog: acceptsLostLog)
    var setAside: [String] = []
    if makesNew {
      for suffix in ["-wal", "-shm"] where remains.contains(suffix) {
        let aside = "\(path).before-new-database-\(now.unixMilliseconds / 1000)\(suffix)"
        do throws(SystemError) {
          try FileWriting.rename(path + suffix, to: aside)
        } catch {
          throw .system(error)
        }
        setAside.append(aside)
      }
    }
    return DatabaseLock(path: path, inode: inode, file: file, setAside: setAside)
  }

  /// For `receiptctl db restore`. The database need not exist.
  public static func replace(_ databasePath: String) throws(DatabaseRefusal) -> DatabaseLock {
    let path = try resolved(databasePath)
    // The caller examines a file that is not a database or cannot be opened.
    let isThere = FileIdentity(path: path) != nil && FileWriting.accessFault(path) == nil
    let inode = isThere ? try inodeLock(path, creates: false) : nil
    let file = try fileLock(path, .replacing)
    return DatabaseLock(path: path, inode: inode, file: file)
  }

  private static func checkLog(
    _ path: String, record: String, acceptsLostLog: Bool
  ) throws(DatabaseRefusal) {
    let isLost = ServedFiles.isLogLost(path, record: record)
    if isLost, !acceptsLostLog { throw .refused(lostLog(path)) }
    guard isLost || !acceptsLostLog else {
      throw .refused("nothing is missing beside \(path); --without-log is for a lost log, so leave it out")
    }
  }

  private static func lostLog(_ path: String) -> String {
    "the log of the database is lost: receiptd did not end cleanly, and \(path)-wal, which has its last "
      + "commits, is missing or empty. Put it back, without a -shm, or go back to a backup with: "
      + "receiptctl db restore FILE. To go on without those commits, start once with: "
      + "sudo -u receiptd receiptd --without-log, and fetch the events that are missing then with: "
      + "receiptctl events backfill"
  }

  /// For a program that does not lock the database: why it must not open the files at a path; nil if it may.
  /// Must be called before SQLite opens the database in this process.
  /// - Parameter isServed: whether receiptd serves the database.
  public static func obstacle(_ path: String, isServed: Bool) -> String? {
    let record = FileLock.record(path: path + ".lock") ?? ""
    guard isServed else { return ServedFiles.isLogLost(path, record: record) ? lostLog(path) : nil }
    guard let missing = ServedFiles(record: record)?.missing(at: path) else { return nil }
    return
      "\(missing) is not the file that receiptd uses: it was moved, removed or replaced. Move receiptd's own "
      + "file back (mv, not cp); if it is gone, restart receiptd, which stores what it has: "
      + "systemctl restart receiptd"
  }

  /// Marks the database as in use, and publishes which files are served.
  func noteStart(_ connection: Connection) throws(SQLiteError) {
    do throws(SQLiteError) {
      try CleanEnd.begin(connection)
    } catch {
      // On a full disk receiptd starts, and stores nothing until there is space.
      guard error.kind == .full else { throw error }
    }
    file.write(ServedFiles(at: path).record)
  }

  var isFileInPlace: Bool { file.isFile(at: path + ".lock") }

  /// Notes that everything is in the database file.
  public func noteEnd() { file.write("") }

  /// Removes the lock file if this lock created it and there is no database: a lock file alone looks like the
  /// remains of a lost database. Must be called before a failed `replace` is released.
  public func abandon() {
    let lockPath = path + ".lock"
    guard file.isNew, file.isFile(at: lockPath), FileIdentity(path: path) == nil else { return }
    FileWriting.remove(lockPath)
  }

  /// Runs `body` while no receiptctl has the database open.
  /// - Throws: `LockFailure.held` if a receiptctl has it open; errors of `body`.
  @discardableResult
  public func keepingUsersOut<Result>(_ body: () throws -> Result) throws -> Result {
    try file.keepingUsersOut(body)
  }

  private static let kept = Monitor<[DatabaseLock]>([])

  /// Holds the lock until the process ends, even if this value is released. Connections may be closed later,
  /// and closing the lock's descriptor before them would drop SQLite's locks.
  public func keep() { Self.kept.withLock { $0.append(self) } }

  private static func resolved(_ path: String) throws(DatabaseRefusal) -> String {
    do throws(SystemError) {
      return try FilePath.resolved(path)
    } catch {
      throw .system(error)
    }
  }

  private static func inodeLock(_ path: String, creates: Bool) throws(DatabaseRefusal) -> InodeLock {
    do throws(LockFailure) {
      return try InodeLock(path: path, creates: creates)
    } catch {
      switch error {
      case .held: throw .held(by: FileLock.holder(path: path + ".lock"))
      case .system(let error): throw .system(error)
      }
    }
  }

  private static func fileLock(_ path: String, _ purpose: LockPurpose) throws(DatabaseRefusal) -> FileLock {
    do throws(LockFailure) {
      return try FileLock(path: path + ".lock", purpose: purpose)
    } catch {
      switch error {
      case .held(let holder): throw .held(by: holder)
      case .system(let error): throw .system(error)
      }
    }
  }

  /// The suffixes of the files beside a database.
  private static let companions = ["-wal", "-shm", ".lock", ".reserve"]

  /// Returns the existing files beside a database.
  public static func companions(of databasePath: String) -> [String] {
    let path = (try? FilePath.resolved(databasePath)) ?? databasePath
    return companions.map { path + $0 }.filter { FileIdentity(path: $0) != nil }
  }

  /// Checks whether the database was moved or removed.
  /// - Returns: the suffixes of files that an earlier database left; empty if there is a database.
  private static func remains(of path: String, makesNew: Bool) throws(DatabaseRefusal) -> [String] {
    let database = FileIdentity(path: path)
    guard (database?.bytes ?? 0) == 0 else {
      guard !makesNew else {
        throw .refused(
          "there is a database at \(path); --new-database is for a start without one, so leave it out")
      }
      return []
    }
    var remains = companions.filter { FileIdentity(path: path + $0) != nil }
    // A first start that was killed at once leaves an empty file and its lock.
    if database != nil { remains.removeAll { $0 == ".lock" } }
    guard !remains.isEmpty, !makesNew else { return remains }
    if let holder = FileLock.holder(path: path + ".lock") { throw .held(by: holder) }
    let names = remains.map { path + $0 }.joined(separator: ", ")
    throw .refused(
      "there is no database at \(path), but files of one are there (\(names)): it was moved or removed. "
        + "Put it back, or go back to a backup with: receiptctl db restore FILE. To begin with an empty "
        + "database instead, start once with: sudo -u receiptd receiptd --new-database")
  }
}
