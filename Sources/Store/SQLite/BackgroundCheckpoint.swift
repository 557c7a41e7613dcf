// Checkpoints that run beside the writer: they copy the log into the database and sync it while commits go
// on, so no commit waits for them. Pages written during a pass are left to the writer, because only the
// writer can restart the log. One thread at a time.

public import Store

/// Moves the log into the database on its own connection.
public final class BackgroundCheckpoint {
  private let connection: Connection
  /// How many log pages the last pass left: pages committed while it ran, and pages newer than the oldest
  /// reader's snapshot.
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

  /// Copies the log's present content into the database, and syncs it.
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
    // SQLite syncs the database only after a complete checkpoint (https://www.sqlite.org/wal.html#ckpt).
    // Without this call the writer would wait for the whole sync. Whether it was complete is not known here:
    // commits during the pass do not count in `all`.
    try connection.sync()
    return Int(clamping: moved)
  }
}

/// Runs passes in the background; see `LogUpkeep`.
public protocol BackgroundCheckpoints: Sendable {
  /// Begins a pass. Must not be called while a pass is running.
  func begin()
  /// Returns a pass's result once; nil while the pass is running.
  func popResult() -> Result<Int, StoreFault>?
}
