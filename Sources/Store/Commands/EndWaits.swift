// Waits that ran out.

public import Domain
public import SQLite

/// Decides again about every receipt whose wait has run out, a slice at a time.
public struct EndWaits: StoreCommand {
  static let slice: Int64 = 200

  public init() {}

  /// When to come again; nil when nothing waits.
  public func apply(to store: StoreSession) throws(SQLiteError) -> Timestamp? {
    for record in try store.purchases.overdue(now: store.now, limit: Self.slice) {
      var settled = record
      try store.settle(&settled, before: record)
      if settled == record { try postpone(record, in: store) }
    }
    return try store.purchases.nextWait()
  }

  /// Nothing decides about it now (its app is no longer configured): it stays waiting, and is looked at again
  /// in an hour.
  private func postpone(_ record: PurchaseRecord, in store: StoreSession) throws(SQLiteError) {
    var postponed = record
    postponed.receipt?.waitUntil = store.now.advanced(byMilliseconds: StoreSession.reconsiderMilliseconds)
    try store.purchases.update(postponed, from: record)
  }
}
