// Checkpoints beside the writer: what has to be copied from the log into the database is copied and synced
// while commits go on, so that none of them waits for it. Only the rest that came meanwhile is left to the
// writer, which alone can restart the log. One thread at a time.

internal import SQLite
public import Store

/// A connection of its own that moves the log into the database.
public final class BackgroundCheckpoint {
  private let connection: Connection
  /// How many of the log's pages the last pass had to leave: what was stored while it ran, and what is newer
  /// than the state of the database that the oldest reader reads.
  public private(set) var pagesLeft = 0

  /// - Parameter path: a database that a writer has opened.
  public init(
    path: String, onDamage: @escaping @Sendable (StoreFault) -> Void = { _ in }
  ) throws(StoreFault) {
    do throws(StoreError) {
      connection = try Database.open(path: path, role: .guest, onDamage: onDamage)
    } catch .fault(let fault) {
      throw fault
    } catch {
      throw StoreFault(.cannotOpen, operation: "open database", reason: error.description)
    }
  }

  /// Copies what the log holds now into the database, and syncs it.
  /// - Returns: how many of the log's pages are in the database.
  public func pass() throws(StoreFault) -> Int {
    try translated { () throws(SQLiteError) in try checkpoint() }
  }

  private func checkpoint() throws(SQLiteError) -> Int {
    let (all, moved) =
      try connection.prepare("PRAGMA wal_checkpoint(PASSIVE)").first { row throws(SQLiteError) in
        (row.integer(1), row.integer(2))
      } ?? (0, 0)
    pagesLeft = Int(clamping: all - moved)
    // SQLite syncs a database only when it has the whole log (https://www.sqlite.org/wal.html#ckpt); the
    // writer would have to wait for all of it then.
    try connection.sync()
    return Int(clamping: moved)
  }
}

/// Whoever makes passes in the background; see `LogUpkeep`.
public protocol BackgroundCheckpoints: Sendable {
  /// Begins a pass. Called when none is under way.
  func begin()
  /// What came of the pass, once; nil while it is under way.
  func takeResult() -> Result<Int, StoreFault>?
}
