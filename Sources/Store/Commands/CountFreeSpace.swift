// How much the database file can take in without growing.

public import SQLite

/// Counts the pages of the database that nothing stands on any more
/// (https://www.sqlite.org/pragma.html#pragma_freelist_count).
public struct CountFreeSpace: StoreCommand {
  public init() {}

  /// In bytes.
  public func apply(to store: StoreSession) throws(SQLiteError) -> Int64 {
    let pages = try store.connection.integer("PRAGMA freelist_count") ?? 0
    return pages * (try store.connection.integer("PRAGMA page_size") ?? 0)
  }
}
