// The wall clock went back: what was planned while it was ahead would come late by as much.

internal import Domain
public import SQLite

/// Brings what was written in what is now the future back to now: receipts keep the pause that they were
/// given then, waits begin again, and contexts can be found. What was written at a time that has been is left
/// alone.
public struct FollowClockBack: StoreCommand {
  public init() {}

  /// How many receipts were brought back.
  public func apply(to store: StoreSession) throws(SQLiteError) -> Int {
    try store.contexts.bringBack(to: store.now)
    let apps = try store.purchases.bringBack(to: store.now)
    for app in apps { store.changes.dueAt[app] = store.now }
    store.changes.waitUntil = store.now
    return apps.count
  }
}
