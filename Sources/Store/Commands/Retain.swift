// Retention: deletes rows older than the configuration allows, a slice at a time.

public import Domain

/// Deletes one slice of one table.
public struct Retain: StoreCommand, Equatable {
  public var table: RetentionTable
  /// The time before which rows may be deleted.
  public var cutoff: Timestamp
  /// The last row of the previous slice; 0 for the first.
  public var afterRow: Int64
  /// If false, only counts what would be deleted.
  public var deletes: Bool

  public init(table: RetentionTable, cutoff: Timestamp, afterRow: Int64, deletes: Bool = true) {
    self.table = table
    self.cutoff = cutoff
    self.afterRow = afterRow
    self.deletes = deletes
  }

  public struct Outcome: Sendable, Equatable {
    public var deleted: Int
    /// The row with which the next slice continues; nil if no older rows are left.
    public var nextRow: Int64?
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let candidates = try store.retention.scan(table, after: afterRow)
    let old = candidates.lazy.filter { $0.mayGo && $0.at < cutoff }.map(\.row)
    if deletes { try delete(Array(old), in: store) }
    let deleted = old.count
    // A timestamp in the future, from a clock that ran ahead, says nothing about later rows.
    let isYoung = candidates.allSatisfy { $0.at >= cutoff && $0.at <= store.now }
    let isLast = candidates.count < table.slice || isYoung
    return Outcome(deleted: deleted, nextRow: isLast ? nil : candidates.last?.row)
  }

  private func delete(_ rows: [Int64], in store: StoreSession) throws(StoreFault) {
    guard table == .receipts else {
      try store.retention.delete(rows, from: table)
      return store.forgetKnown()
    }
    try store.customers.delete(before: cutoff, limit: RetainNoted.slice)
    try store.purchases.load(rows)
    for row in rows {
      guard let record = try store.purchases.findToRemove(row: PurchaseRowID(row)) else { continue }
      try store.pastPurchases.remember(record, for: store.repeatPeriod(of: record), now: store.now)
      try store.purchases.delete(record)
    }
  }
}

/// Deletes a slice of the purchases that never got a receipt; they are kept as long as events. Purchases that
/// ended are kept at least as long as their events may come again, because a late event must still find that
/// no receipt is due.
public struct RetainNoted: StoreCommand, Equatable {
  static let slice: Int64 = 500

  public var cutoff: Timestamp

  public init(cutoff: Timestamp) { self.cutoff = cutoff }

  public struct Outcome: Sendable, Equatable {
    public var deleted: Int
    /// Whether there may be more to delete.
    public var hasMore: Bool
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let repeats = store.now - store.repeatPeriodMax
    defer { store.forgetKnown() }
    var deleted = try store.retention.deleteNoted(ended: false, before: cutoff, limit: Self.slice)
    deleted += try store.retention.deleteNoted(
      ended: true, before: min(cutoff, repeats), limit: Self.slice - deleted)
    return Outcome(deleted: Int(deleted), hasMore: deleted == Self.slice)
  }
}

/// Deletes a slice of the data with a fixed retention: the ids of purchases whose receipts are deleted, the
/// ids of contexts that were not posted in time, and counts by minute.
public struct RetainPast: StoreCommand {
  public init() {}

  public func apply(to store: StoreSession) throws(StoreFault) -> RetainNoted.Outcome {
    try store.counts.forgetDeliveries(now: store.now)
    try store.latencies.rollUp(now: store.now)
    try store.forgetResolvedFailures()
    let deleted = try store.pastPurchases.delete(before: store.now, limit: RetainNoted.slice)
    let awaited = try store.awaited.delete(before: store.now, limit: RetainNoted.slice)
    return RetainNoted.Outcome(deleted: Int(deleted), hasMore: max(deleted, awaited) == RetainNoted.slice)
  }
}

/// One slice of a retention pass over any kind of data: deletes what is old. Its outcome says what follows.
public enum RetentionSlice: StoreCommand, Equatable {
  case noted(RetainNoted)
  case past
  case jobs(RetainJobs)
  case rows(Retain)

  public struct Outcome: Sendable, Equatable {
    public var deleted: Int
    /// The next slice of the same kind; nil if no older rows are left.
    public var next: RetentionSlice?
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    switch self {
    case .noted(let command):
      let outcome = try command.apply(to: store)
      return Outcome(deleted: outcome.deleted, next: outcome.hasMore ? self : nil)
    case .past:
      let outcome = try RetainPast().apply(to: store)
      return Outcome(deleted: outcome.deleted, next: outcome.hasMore ? self : nil)
    case .jobs(let command):
      // The number of rows is not counted.
      return Outcome(deleted: 0, next: try command.apply(to: store) ? self : nil)
    case .rows(var command):
      let outcome = try command.apply(to: store)
      guard let row = outcome.nextRow else { return Outcome(deleted: outcome.deleted, next: nil) }
      command.afterRow = row
      return Outcome(deleted: outcome.deleted, next: .rows(command))
    }
  }

  /// The name of the data, for the log.
  public var name: String {
    switch self {
    case .noted: "purchases without a receipt"
    case .past: "past_purchases"
    case .jobs: "jobs"
    case .rows(let command): command.table.rawValue
    }
  }
}
