// A database of a copy, with what keeps other programs from using it meanwhile. One thread.

internal import Config
internal import Platform
internal import PostgresStore
internal import SQLiteStore
internal import Store
internal import Terminal

/// An open database that no receiptd serves.
final class CopyHold {
  /// The path without symbolic links, or the URL without its passwords.
  let name: String
  /// Nil when it is closed.
  private(set) var engine: (any CopyEngine)?
  private let lock: DatabaseLock?

  /// - Parameter isTarget: whether it is made if it is missing.
  init(_ place: DatabasePlace, _ durability: DatabaseDurability, isTarget: Bool) throws {
    do {
      switch place {
      case .file(let path):
        let lock = try Self.lock(path, isTarget: isTarget)
        (name, self.lock) = (lock.path, lock)
        engine = try SQLiteCopyEngine(path: lock.path, isTarget: isTarget)
      case .postgres(let url):
        (name, lock) = (url.description, nil)
        engine = try PostgresCopyEngine(
          DatabaseAccess.text(of: url), isTarget: isTarget, application: OperatorProgram.name,
          allowsUnsafe: durability == .lossy)
      }
    } catch let error as StoreError {
      throw OperatorFault(error, place)
    }
  }

  /// Closing the lock drops the locks of SQLite's connections, so these are closed first.
  deinit { engine = nil }

  /// Runs `body` while no other receiptctl has the file open.
  func alone<Result>(_ body: () throws -> Result) throws -> Result {
    guard let lock else { return try body() }
    do {
      return try lock.keepingUsersOut(body)
    } catch LockFailure.held {
      throw DatabaseRestore.isInUse
    }
  }

  private static func lock(_ path: String, isTarget: Bool) throws -> DatabaseLock {
    if let fault = FileWriting.accessFault(path) {
      guard isTarget, fault.isMissingFile else { throw OperatorFault(.missing, path: path) }
      try create(path)
    }
    return try DatabaseRestore.lock(path)
  }

  private static func create(_ path: String) throws {
    let shown = DisplayText.clean(path)
    let remains = DatabaseAccess.companions(of: path).map(DisplayText.clean).joined(separator: ", ")
    guard remains.isEmpty else {
      throw OperatorFault(
        .refused,
        "there is no database at \(shown), but files of one are there (\(remains)): it was moved or removed. "
          + "Choose another path, or remove these files")
    }
    do throws(SystemError) {
      try FileWriting.create(path, mode: 0o600)
      FileWriting.copyOwner(of: FileWriting.folder(of: path), for: path)
    } catch {
      throw OperatorFault(
        .refused, "cannot write \(shown) (\(error.reason)); choose a folder that you may write to")
    }
  }
}
