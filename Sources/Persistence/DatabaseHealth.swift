// Whether the database is still the file that was opened, and whether it is damaged. Any thread; whoever asks
// looks at the disk, which costs two calls of stat(2).

public import Platform
public import Presentation
public import Store

/// What is known of the database's files.
public final class DatabaseHealth: Sendable {
  private struct State {
    /// Each file with what it was when it was opened.
    var files: [(path: String, identity: FileIdentity)] = []
    var moved: String?
    var damage: String?
  }

  private let state = Monitor(State())
  private let log: Log

  public init(log: Log) { self.log = log }

  /// The files are those of the database that the writer has just opened: the log is there by then.
  public func watch(_ path: String) {
    let files = [path, path + "-wal"].compactMap { path in
      FileIdentity(path: path).map { (path: path, identity: $0) }
    }
    state.withLock { $0.files = files }
  }

  /// Whether what is stored now will be found again: looked at before each commit, and every few seconds.
  public func isInPlace() -> Bool {
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
            + "gone, stop receiptd and restore a backup: receiptctl db restore FILE", ["file": moved])
      } else {
        log.warning("the database file is back; storing again")
      }
    }
    return moved == nil
  }

  /// SQLite found damage, in whatever statement it was.
  public func note(_ error: StoreFault) { noteDamage(error.description) }

  /// - Parameter what: without anything that is stored (R7).
  func noteDamage(_ what: String) {
    let isNews = state.withLock { state in
      defer { state.damage = state.damage ?? what }
      return state.damage == nil
    }
    guard isNews else { return }
    log.error(
      "the database is damaged. What is lost, and what to do: receiptctl db check", ["found": what])
  }

  /// What is wrong now; damage lasts until the next start.
  public func unreadiness() -> [ReadinessReason] {
    let isInPlace = isInPlace()
    let isDamaged = state.withLock { $0.damage != nil }
    return (isInPlace ? [] : [.databaseMoved]) + (isDamaged ? [.databaseDamaged] : [])
  }
}
