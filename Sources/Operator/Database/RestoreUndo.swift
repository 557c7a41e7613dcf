// What a `db restore` that fails, or is stopped by a signal, must take back. Any thread.

internal import Platform
internal import Relay
internal import SQLiteStore

/// Undoes what a restore left on the disk, as long as the database was not replaced.
final class RestoreUndo: Sendable {
  /// What a stop of the process means now.
  enum Outcome {
    /// All is as it was before the restore.
    case undone
    /// The database is being replaced, or has just been: the rest takes a moment, and its report says what to
    /// do next.
    case notNow
  }

  private enum Stage {
    case preparing, undone, replacing, replaced
  }

  private let state = Monitor(Stage.preparing)
  private let lock: DatabaseLock

  init(_ lock: DatabaseLock) { self.lock = lock }

  /// Where the copy is until it takes the database's place.
  static func copyPath(of databasePath: String) -> String { databasePath + ".restore" }

  /// With what SQLite keeps beside a file (https://www.sqlite.org/tempfiles.html).
  static func removeCopy(of databasePath: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] {
      FileWriting.remove(copyPath(of: databasePath) + suffix)
    }
  }

  /// Removes the copy, and the lock file where it would be all that is left.
  /// Once the database is being replaced it does nothing.
  @discardableResult func run() -> Outcome {
    state.withLock { stage in
      switch stage {
      case .replacing, .replaced: return .notNow
      // Once is enough: by now the files may be another restore's.
      case .undone: return .undone
      case .preparing:
        stage = .undone
        Self.removeCopy(of: lock.path)
        lock.abandon()
        return .undone
      }
    }
  }

  /// Runs `body`, which replaces the database: no signal stops the process meanwhile. When it throws, the
  /// database is the one that it was.
  func withoutStop(_ body: () throws -> Void) throws {
    // If a signal came first the process is about to end, and the copy is gone.
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
