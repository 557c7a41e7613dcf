// How receiptctl opens the database without a conflict with a restore. If a file is replaced while a process
// has it open, that process's writes are lost, and its last connection deletes the new file's log
// (https://www.sqlite.org/howtocorrupt.html, section 2.4). Thread-safe.

internal import Config
internal import Platform
internal import PostgresStore
internal import SQLiteStore
internal import Store
internal import Terminal

/// One command's hold on the database. It must outlive the command's connections.
final class DatabaseAccess: Sendable {
  private let use = Monitor<FileUse?>(nil)

  /// The database, for connections of this command; no restore replaces a file until the command ends.
  /// - Parameter durability: which servers may be used.
  func engine(
    _ place: DatabasePlace, durability: DatabaseDurability, writes: Bool
  ) throws -> any StoreEngine {
    switch place {
    case .file(let path): SQLiteEngine(guest: try open(path, writes: writes))
    case .postgres(let url):
      try PostgresEngine(
        Self.text(of: url), isOwner: false, application: OperatorProgram.name,
        allowsUnsafe: durability == .lossy)
    }
  }

  /// The URL with its password, for a connection.
  static func text(of url: DatabaseURL) throws(OperatorFault) -> String {
    do throws(Fault) {
      return try url.reveal()
    } catch {
      throw OperatorFault(
        .configuration,
        "\(error.description). receiptctl needs the URL, too: run it as the user that receiptd runs as, with "
          + "the same environment")
    }
  }

  /// The process that serves or replaces the database at a path; nil when there is none, or when this user
  /// may not see it.
  static func holder(_ databasePath: String) -> LockHolder? {
    FileLock.holder(path: DatabaseLock.lockPath(of: databasePath))
  }

  /// The database's files that exist beside its path.
  static func companions(of databasePath: String) -> [String] {
    DatabaseLock.companions(of: databasePath)
  }

  /// The earlier databases that restores and `--new-database` have set aside beside a database, with their
  /// logs.
  static func setAside(_ databasePath: String) -> [String] {
    let path = (try? FilePath.resolved(databasePath)) ?? databasePath
    return FilePath.beginning(with: path + ".before-")
  }

  /// Locks the database against replacement until this object is released.
  /// - Parameter writes: whether the caller writes to it; fails while a restore replaces it.
  /// - Returns: the path to open, without symbolic links.
  func open(_ databasePath: String, writes: Bool) throws(OperatorFault) -> String {
    // If the file is missing or cannot be opened, opening it reports that.
    guard let path = try? FilePath.resolved(databasePath), let file = FileIdentity(path: path),
      FileWriting.accessFault(path) == nil
    else { return databasePath }
    let lockPath = DatabaseLock.lockPath(of: path)
    let holder = Self.holder(path)
    if writes, let holder, holder.purpose == .replacing { throw Self.isReplaced(by: holder) }
    if file.links > 1, holder == nil { try checkOtherNames(path) }
    guard use.withLock({ $0 == nil }) else { return path }
    // SQLite would treat receiptd's log as that of the file at this path, and delete it on close.
    if let holder, holder.purpose == .serving, InodeLock.isHeld(path: path) == false {
      throw OperatorFault(
        .tryAgain,
        "receiptd (\(holder.place)) serves another file than the one that is at "
          + "\(DisplayText.clean(path)) now; move its own file back (mv, not cp), or stop receiptd first")
    }
    // A restore replaces the files anyway.
    if holder?.purpose != .replacing,
      let obstacle = DatabaseLock.obstacle(path, isServed: holder?.purpose == .serving)
    {
      throw OperatorFault(.refused, DisplayText.clean(obstacle))
    }
    do throws(LockFailure) {
      let acquired = try FileUse(path: lockPath)
      use.withLock { $0 = acquired }
    } catch {
      switch error {
      case .held: throw Self.isReplaced(by: holder)
      case .system(let error):
        throw OperatorFault(
          .refused,
          "cannot open \(DisplayText.clean(lockPath)) (\(error.reason)); run receiptctl as the user "
            + "that receiptd "
            + "runs as, for instance: sudo -u receiptd receiptctl …")
      }
    }
    return path
  }

  private static func isReplaced(by holder: LockHolder?) -> OperatorFault {
    let who = holder.map { " (\($0.place))" } ?? ""
    return OperatorFault(
      .tryAgain,
      "receiptctl db restore or db copy\(who) is using the database; nothing was changed, try again when it "
        + "has ended"
    )
  }

  /// SQLite derives the log's name from the name by which the database was opened; two names have two logs,
  /// and each destroys the changes of the other.
  private func checkOtherNames(_ path: String) throws(OperatorFault) {
    // Before SQLite opens it in this process: see `InodeLock`.
    guard use.withLock({ $0 == nil }) else { return }
    do throws(LockFailure) {
      let lock = try InodeLock(path: path, creates: false)
      withExtendedLifetime(lock) {}
    } catch .held {
      throw OperatorFault(
        .tryAgain,
        "receiptd serves \(DisplayText.clean(path)) under another name (a hard link); put that one into the "
          + "configuration, and remove this one. All of them: find / -xdev -samefile "
          + "\(DisplayText.clean(path))"
      )
    } catch {
      // SQLite reports the fault when it opens the file.
    }
  }
}
