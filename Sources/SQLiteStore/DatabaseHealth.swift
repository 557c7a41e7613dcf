// Whether the database is still the file that was opened, and whether it is damaged. Any thread; whoever asks
// looks at the disk, which costs two calls of stat(2).

internal import Platform
internal import Store

/// What is known of the database's files.
final class DatabaseHealth: Sendable {
  private struct State {
    /// Each file with what it was when it was opened.
    var files: [(path: String, identity: FileIdentity)] = []
    var moved: String?
    var damage: String?
  }

  private let state = Monitor(State())
  private let log: Log

  init(log: Log) { self.log = log }

  /// The files are those of the database that the writer has just opened: the log is there by then.
  func watch(_ path: String) {
    let files = [path, path + "-wal"].compactMap { path in
      FileIdentity(path: path).map { (path: path, identity: $0) }
    }
    state.withLock { $0.files = files }
  }

  /// Whether what is stored now will be found again: looked at before each commit, and every few seconds.
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
            + "gone, stop receiptd and restore a backup: receiptctl db restore FILE", ["file": moved])
      } else {
        log.warning("the database file is back; storing again")
      }
    }
    return moved == nil
  }

  /// SQLite found damage, in whatever statement it was.
  func note(_ error: StoreFault) { noteDamage(error.description) }

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
  var troubles: [StoreTrouble] {
    let isInPlace = isInPlace()
    let isDamaged = state.withLock { $0.damage != nil }
    return (isInPlace ? [] : [.moved]) + (isDamaged ? [.damaged] : [])
  }
}
