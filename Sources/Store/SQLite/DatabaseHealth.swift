// Whether the database is still the file that was opened, and whether it is damaged. Thread-safe. Each check
// of the files costs three calls of stat(2).

internal import Platform
internal import Store

/// The state of the database's files.
final class DatabaseHealth: Sendable {
  private struct State {
    /// Each file with its identity when it was opened.
    var files: [(path: String, identity: FileIdentity)] = []
    var moved: String?
    var damage: String?
    var lacksLockFile = false
  }

  private let state = Monitor(State())
  private let log: Log

  init(log: Log) { self.log = log }

  /// Records the files of the database that the writer has just opened. The log and its index must exist
  /// by then.
  func watch(_ path: String) {
    let files = ServedFiles.suffixes.map { path + $0 }.compactMap { path in
      FileIdentity(path: path).map { (path: path, identity: $0) }
    }
    state.withLock { $0.files = files }
  }

  /// Whether the next start will find what is stored now. Called before each commit, and every few seconds.
  func isInPlace() -> Bool {
    let (isChanged, moved) = state.withLock { state in
      let moved = state.files.first { file in
        !(FileIdentity(path: file.path)?.isSameFile(as: file.identity) ?? false)
      }?.path
      defer { state.moved = moved }
      return ((state.moved == nil) != (moved == nil), moved)
    }
    if isChanged {
      if let moved {
        log.error(
          "the database file was moved or removed: nothing is stored until it is back. Put it back; if it is "
            + "gone and its name ends in -wal or -shm, restart receiptd, which stores what it has; if the "
            + "database itself is gone, stop receiptd and restore a backup: receiptctl db restore FILE",
          ["file": moved])
      } else {
        log.warning("the database file is back; storing again")
      }
    }
    return moved == nil
  }

  /// Logs that the lock file is missing, without which receiptctl does not see that receiptd runs.
  func checkLockFile(_ lock: DatabaseLock?) {
    guard let lock else { return }
    let lacks = !lock.isFileInPlace
    let isNews = state.withLock { state in
      defer { state.lacksLockFile = lacks }
      return lacks && !state.lacksLockFile
    }
    guard isNews else { return }
    log.error(
      "the lock file was moved or removed, so receiptctl does not see that receiptd runs. Put it back, or "
        + "restart receiptd", ["file": lock.path + ".lock"])
  }

  /// Records damage that SQLite reported for any statement.
  func note(_ error: StoreFault) { noteDamage(error.description) }

  /// - Parameter what: must contain no stored data (R7).
  func noteDamage(_ what: String) {
    let isNews = state.withLock { state in
      defer { state.damage = state.damage ?? what }
      return state.damage == nil
    }
    guard isNews else { return }
    log.error(
      "the database is damaged. To see the damage and what to do: receiptctl db check", ["found": what])
  }

  /// The present faults. Damage lasts until the next start.
  var troubles: [StoreTrouble] {
    let isInPlace = isInPlace()
    let isDamaged = state.withLock { $0.damage != nil }
    return (isInPlace ? [] : [.moved]) + (isDamaged ? [.damaged] : [])
  }
}
