// Which files a receiptd serves, and whether the log of a run that did not end cleanly is lost. Thread-safe.
//
// SQLite takes a missing log (-wal) for an empty one, so a database that lost its log looks sound. And it
// makes a new index of the log (-shm) when that was removed, although another process still locks in the old
// one: then both write, and the database is destroyed. So receiptd publishes the identity of its files in its
// lock file, for receiptctl, and marks the database and the lock file until it has ended cleanly.

internal import Platform
internal import Store

/// The database, its log and the log's index, by device and inode.
struct ServedFiles: Equatable {
  static let suffixes = ["", "-wal", "-shm"]
  private static let heading = "open"

  private let identities: [String]

  /// The files at a path now. A missing one differs from any.
  init(at path: String) {
    identities = Self.suffixes.map { suffix in
      FileIdentity(path: path + suffix).map { "\($0.device):\($0.inode)" } ?? "missing"
    }
  }

  /// - Parameter record: the content of the lock file; empty after a clean end.
  init?(record: String) {
    let words = record.split(whereSeparator: \.isWhitespace).map(String.init)
    guard words.count == Self.suffixes.count + 1, words[0] == Self.heading else { return nil }
    identities = Array(words.dropFirst())
  }

  var record: String { ([Self.heading] + identities).joined(separator: " ") + "\n" }

  /// The first file that is not at the path any more.
  func missing(at path: String) -> String? {
    let present = Self(at: path).identities
    return zip(Self.suffixes, zip(identities, present)).first { $0.1.0 != $0.1.1 }.map { path + $0.0 }
  }

  /// Whether data may be lost with the log: the last run did not end cleanly, and what it committed was in a
  /// log that is not there. receiptd never leaves an empty log before a clean end.
  /// - Parameter record: the content of the lock file.
  static func isLogLost(_ path: String, record: String) -> Bool {
    let log = FileIdentity(path: path + "-wal")
    guard let file = FileIdentity(path: path), file.bytes > 0, (log?.bytes ?? 0) == 0 else { return false }
    let isSame = Self(record: record)?.identities.first == "\(file.device):\(file.inode)"
    return isSame || CleanEnd.isMissing(path)
  }
}

/// The mark in the database that says that it is, or was, in use. A copy that SQLite makes (VACUUM INTO) has
/// it, too; but no log belongs to that, because only a database in WAL mode has one.
enum CleanEnd {
  /// Whether the database file, read without its log, has the mark. Must be called before SQLite opens the
  /// database in this process.
  static func isMissing(_ path: String) -> Bool {
    // The bytes 18 and 19 say that it is in WAL mode (https://www.sqlite.org/fileformat2.html section 1.3.3).
    guard let header = try? FileReading.beginning(of: path, bytes: 20), header.count == 20, header[18] == 2,
      let connection = try? Connection(path: path, mode: .immutable, busyTimeout: .zero)
    else { return false }
    return isMissing(connection)
  }

  static func isMissing(_ connection: Connection) -> Bool {
    // A database of an older schema has no such table.
    (try? connection.integer("SELECT 1 FROM file_marks")) == 1
  }

  /// Marks the database, in the file itself unless a migration has just made a long log. Leaves a log that is
  /// not empty, also when the program ends without `end`.
  static func begin(_ connection: Connection) throws(SQLiteError) {
    let isMarked = isMissing(connection)
    connection.keepLogOnClose(true)
    try connection.execute(
      """
      INSERT INTO file_marks (row_id, changes) VALUES (1, 0)
      ON CONFLICT (row_id) DO UPDATE SET changes = changes + 1
      """)
    guard !isMarked, connection.logPages < StoreWriter.checkpointPages else { return }
    try connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
  }

  /// Removes the mark. If that fails, the next start needs the log.
  static func end(_ connection: Connection) throws(SQLiteError) {
    try connection.execute("DELETE FROM file_marks")
    connection.keepLogOnClose(false)
  }

  /// Makes a log that was truncated while the database is in use one that is not empty.
  static func keepLog(_ connection: Connection) throws(SQLiteError) {
    try connection.execute("UPDATE file_marks SET changes = changes + 1")
  }
}
