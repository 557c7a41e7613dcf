// One process to a database: two receiptds would both deliver, and a restore must meet nobody. Any thread.

public import Domain
public import Platform

/// Why a program does not get a database to itself.
public enum DatabaseRefusal: Error, Sendable {
  /// Somebody else has it. Without a name it is another name of the same file under which it is in use.
  case held(by: LockHolder?)
  /// What an operator has to decide.
  case refused(String)
  case system(SystemError)
}

/// A database that this process has to itself.
///
/// Two locks are held. The one on the database file itself keeps others out whatever path they came by; the
/// lock file beside it says who has it, so that receiptctl can wake receiptd. Both lie where the symbolic
/// links end, as SQLite's own log does.
public final class DatabaseLock: Sendable {
  /// The database file, without symbolic links.
  public let path: String
  /// What was left of a database that is not there, under its new names.
  public let setAside: [String]
  /// Nil where there was no database to lock.
  private let inode: InodeLock?
  private let file: FileLock

  private init(path: String, inode: InodeLock?, file: FileLock, setAside: [String] = []) {
    self.path = path
    self.inode = inode
    self.file = file
    self.setAside = setAside
  }

  /// The file whose lock says who serves a database.
  public static func lockPath(of databasePath: String) -> String {
    // Where the path leads nowhere, nobody serves it either.
    ((try? FilePath.resolved(databasePath)) ?? databasePath) + ".lock"
  }

  /// For receiptd. Must be called before SQLite opens the database in this process, and the lock must never
  /// be let go of (`keep`); see `InodeLock`.
  /// - Parameter makesNew: whether an empty database is made although there are files of an earlier one.
  public static func serve(
    _ databasePath: String, makesNew: Bool, now: Timestamp
  ) throws(DatabaseRefusal) -> DatabaseLock {
    let path = try resolved(databasePath)
    let remains = try remains(of: path, makesNew: makesNew)
    // The database first: where it is made here and this process dies at once, an empty file is all that is
    // left, and no lock file that would look like the remains of a database.
    let inode = try inodeLock(path, creates: true)
    let file = try fileLock(path, .serving)
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

  /// For `receiptctl db restore`; the database need not be there.
  public static func replace(_ databasePath: String) throws(DatabaseRefusal) -> DatabaseLock {
    let path = try resolved(databasePath)
    // What is no database, or may not be opened, is looked at by whoever replaces it.
    let isThere = FileIdentity(path: path) != nil && FileWriting.accessFault(path) == nil
    let inode = isThere ? try inodeLock(path, creates: false) : nil
    let file = try fileLock(path, .replacing)
    return DatabaseLock(path: path, inode: inode, file: file)
  }

  /// Removes the lock file when this lock made it and there is no database: a lock file alone looks like the
  /// remains of a database that was lost. To be called before a `replace` without success is let go of.
  public func abandon() {
    let lockPath = path + ".lock"
    guard file.isNew, file.isFile(at: lockPath), FileIdentity(path: path) == nil else { return }
    FileWriting.remove(lockPath)
  }

  /// Runs `body` while nobody has the database open through receiptctl.
  /// - Throws: `LockFailure.held` when somebody has; whatever `body` throws.
  @discardableResult
  public func keepingUsersOut<Result>(_ body: () throws -> Result) throws -> Result {
    try file.keepingUsersOut(body)
  }

  private static let kept = Monitor<[DatabaseLock]>([])

  /// Holds the lock until the process ends, whatever becomes of the value: connections may be closed later
  /// than it, and to close its descriptor before them would drop SQLite's locks.
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

  /// What is beside the place of a database.
  private static let companions = ["-wal", "-shm", ".lock", ".reserve"]

  /// Which files of a database are beside its path.
  public static func companions(of databasePath: String) -> [String] {
    let path = (try? FilePath.resolved(databasePath)) ?? databasePath
    return companions.map { path + $0 }.filter { FileIdentity(path: $0) != nil }
  }

  /// Looks whether the database was moved or removed.
  /// - Returns: which files of an earlier database there are, by their endings; none where there is a
  ///   database.
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
    // An empty file and its lock are what a first start leaves that was killed in its first moment.
    if database != nil { remains.removeAll { $0 == ".lock" } }
    guard !remains.isEmpty, !makesNew else { return remains }
    if let holder = FileLock.holder(path: path + ".lock") { throw .held(by: holder) }
    let names = remains.map { path + $0 }.joined(separator: ", ")
    throw .refused(
      "there is no database at \(path), but files of one are there (\(names)): it was moved or removed. "
        + "Put it "
        + "back, or go back to a backup with: receiptctl db restore FILE. To begin with an empty database "
        + "instead, start once with: sudo -u receiptd receiptd --new-database")
  }
}
