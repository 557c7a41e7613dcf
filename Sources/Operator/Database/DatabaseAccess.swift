// How receiptctl comes to the database without meeting a restore: a file that is exchanged while somebody has
// it open would take what they write with it, and its last connection would delete the log of the new one
// (https://www.sqlite.org/howtocorrupt.html, section 2.4). Any thread.

internal import Platform
internal import Relay
internal import SQLiteStore
internal import Store
internal import Terminal

/// What one command holds of the database. It must outlive the command's connections.
final class DatabaseAccess: Sendable {
  private let use = Monitor<FileUse?>(nil)

  /// The database, for connections of this command; nobody replaces it until the command ends.
  func engine(_ databasePath: String, writes: Bool) throws(OperatorFault) -> any StoreEngine {
    SQLiteEngine(guest: try open(databasePath, writes: writes))
  }

  /// Who serves or replaces the database at a path; nil when nobody does, or when this person may not know.
  static func holder(_ databasePath: String) -> LockHolder? {
    FileLock.holder(path: DatabaseLock.lockPath(of: databasePath))
  }

  /// Which files of a database are beside its path.
  static func companions(of databasePath: String) -> [String] {
    DatabaseLock.companions(of: databasePath)
  }

  /// Says that this program has the database open, from now on.
  /// - Parameter writes: whether it is to be changed; not while somebody replaces it.
  /// - Returns: the path to open, without symbolic links.
  func open(_ databasePath: String, writes: Bool) throws(OperatorFault) -> String {
    // What is not there, or may not be opened, is said by who opens it.
    guard let path = try? FilePath.resolved(databasePath), let file = FileIdentity(path: path),
      FileWriting.accessFault(path) == nil
    else { return databasePath }
    let lockPath = DatabaseLock.lockPath(of: path)
    let holder = Self.holder(path)
    if writes, let holder, holder.purpose == .replacing { throw Self.isReplaced(by: holder) }
    if file.links > 1, holder == nil { try checkOtherNames(path) }
    guard use.withLock({ $0 == nil }) else { return path }
    // SQLite would take receiptd's log for that of the other file, and delete it at the end.
    if let holder, holder.purpose == .serving, InodeLock.isHeld(path: path) == false {
      throw OperatorFault(
        .tryAgain,
        "receiptd (\(holder.place)) serves another file than the one that is at "
          + "\(DisplayText.clean(path)) now; move its own file back (mv, not cp), or stop receiptd first")
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
      "receiptctl db restore\(who) is replacing the database; nothing was changed, try again when it "
        + "has ended"
    )
  }

  /// SQLite's log is named after the name that the database was opened by; with two names there are two logs,
  /// and each of them destroys what the other one says.
  private func checkOtherNames(_ path: String) throws(OperatorFault) {
    // Before SQLite has it open here: see `InodeLock`.
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
      // Then SQLite will say why.
    }
  }
}
