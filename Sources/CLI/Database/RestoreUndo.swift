// Undoes a `db restore` that fails or that a signal stops. Thread-safe.

internal import Platform
internal import SQLiteStore

/// Removes a restore's files from the disk, unless the database was already replaced.
final class RestoreUndo: Sendable {
  /// The result of a stop request.
  enum Outcome {
    /// Everything is as it was before the restore.
    case undone
    /// The database is being replaced, or was just replaced: the rest takes a moment, and the report says
    /// what to do next.
    case notNow
  }

  private enum Stage {
    case preparing, undone, replacing, replaced
  }

  private let state = Monitor(Stage.preparing)
  private let lock: DatabaseLock

  init(_ lock: DatabaseLock) { self.lock = lock }

  /// The path of the copy until it replaces the database.
  static func copyPath(of databasePath: String) -> String { databasePath + ".restore" }

  /// Includes the files that SQLite keeps beside a database (https://www.sqlite.org/tempfiles.html).
  static func removeCopy(of databasePath: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
      FileWriting.remove(copyPath(of: databasePath) + suffix)
    }
  }

  /// Removes the copy, and the lock file if nothing else would be left.
  /// Does nothing once the database is being replaced.
  @discardableResult func run() -> Outcome {
    state.withLock { stage in
      switch stage {
      case .replacing, .replaced: return .notNow
      // Only once: the files may now belong to another restore.
      case .undone: return .undone
      case .preparing:
        stage = .undone
        Self.removeCopy(of: lock.path)
        lock.abandon()
        return .undone
      }
    }
  }

  /// Runs `body`, which replaces the database, and delays stop signals until it returns. If it throws, the
  /// old database is in place.
  func withoutStop(_ body: () throws -> Void) throws {
    // A signal that came first has removed the copy, and the process is about to end.
    let mayGoOn = state.withLock { stage in
      guard stage == .preparing else { return false }
      stage = .replacing
      return true
    }
    guard mayGoOn else { throw SystemError.interrupted }
    do {
      try body()
      state.withLock { $0 = .replaced }
    } catch {
      state.withLock { $0 = .preparing }
      throw error
    }
  }
}
