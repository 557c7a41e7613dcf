// A database file in its own folder, and helpers to query it.

import SQLiteStore
import TestSupport

/// A path for a database.
struct DatabaseFile {
  private let directory: TestFolder
  var folder: String { directory.path }
  var path: String { directory.file("test.db") }

  init() throws { directory = try TestFolder() }

  /// Writes another file beside it, and returns its path.
  func write(_ text: String, to name: String) throws -> String { try directory.write(text, to: name) }

  func open(_ mode: Connection.Mode = .readWriteCreate, busy: Duration = .zero) throws(SQLiteError)
    -> Connection
  {
    try Connection(path: path, mode: mode, busyTimeout: busy)
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
