// Retention: what is older than the configuration says goes, a slice at a time.

public import Domain
public import SQLite

/// Deletes one slice of one table.
public struct Retain: StoreCommand {
  public var table: RetentionTable
  /// What is older may go.
  public var cutoff: Timestamp
  /// Where the last slice ended; 0 for the first.
  public var afterRow: Int64
  /// Otherwise it only counts what would go.
  public var deletes: Bool

  public init(table: RetentionTable, cutoff: Timestamp, afterRow: Int64, deletes: Bool = true) {
    self.table = table
    self.cutoff = cutoff
    self.afterRow = afterRow
    self.deletes = deletes
  }

  public struct Outcome: Sendable, Equatable {
    public var deleted: Int
    /// Where the next slice begins; nil when nothing older is left.
    public var nextRow: Int64?
  }

  public func apply(to store: StoreSession) throws(SQLiteError) -> Outcome {
    let candidates = try store.retention.scan(table, after: afterRow)
    var deleted = 0
    for candidate in candidates where candidate.mayGo && candidate.at < cutoff {
      deleted += 1
      guard deletes else { continue }
      if table == .receipts {
        if let record = try store.purchases.find(row: candidate.row) {
          try store.pastPurchases.remember(record, now: store.now)
        }
        try store.purchases.delete(row: candidate.row)
      } else {
        try store.retention.delete(candidate.row, from: table)
      }
    }
    // Rows that a clock which ran ahead has dated say nothing about those behind them.
    let isYoung = candidates.allSatisfy { $0.at >= cutoff && $0.at <= store.now }
    let isLast = candidates.count < RetentionRows.slice || isYoung
    return Outcome(deleted: deleted, nextRow: isLast ? nil : candidates.last?.row)
  }
}

/// Deletes a slice of the purchases that never got a receipt; they are kept as long as events are.
public struct RetainNoted: StoreCommand {
  public var cutoff: Timestamp

  public init(cutoff: Timestamp) { self.cutoff = cutoff }

  public func apply(to store: StoreSession) throws(SQLiteError) {
    try store.retention.deleteNoted(before: cutoff)
    try store.pastPurchases.delete(before: store.now, limit: RetentionRows.slice)
    try store.counts.forgetDeliveries(now: store.now)
  }
}
