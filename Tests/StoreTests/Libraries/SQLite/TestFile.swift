// A database file in its own folder, and helpers to query it.

import FoundationEssentials
import SQLiteStore

/// A path for a database; deinit removes its folder.
final class TestFile {
  let folder: String
  var path: String { folder + "/test.db" }

  init() throws {
    folder = FileManager.default.temporaryDirectory.path + "/sqlite-tests-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// The system clears what cannot be removed.
  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func open(_ mode: Connection.Mode = .readWriteCreate, busy: Duration = .zero) throws(SQLiteError)
    -> Connection
  {
    try Connection(path: path, mode: mode, busyTimeout: busy)
  }

  /// Writes a file and returns its path.
  func write(_ text: String, to name: String) throws -> String {
    let path = "\(folder)/\(name)"
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }
}

/// A database in memory.
func memory() throws(SQLiteError) -> Connection {
  try Connection(path: ":memory:", mode: .readWriteCreate, busyTimeout: .zero)
}

/// The error of a call; nil when it succeeded.
func failure(_ body: () throws(SQLiteError) -> Void) -> SQLiteError? {
  do throws(SQLiteError) {
    try body()
    return nil
  } catch {
    return error
  }
}
