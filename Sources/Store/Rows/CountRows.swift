// Counts and numbers: receipts by group, deliveries by minute, the next purchase row. Changes are collected
// during a transaction and written once at its end, because the commands of a batch change the same few rows.
// The writer's thread.

internal import Domain
internal import Formats

final class CountRows {
  /// A receipt's group in the lists.
  struct Group: Hashable {
    var app: AppSlug
    var processor: ProcessorName
    var state: String
    /// Empty if there is no reason.
    var reason: String
    /// Why the last attempt failed; empty if it did not.
    var cause = ""
  }

  /// The failed receipts of one app with one reason.
  private struct Failure: Hashable {
    var app: AppSlug
    var reason: String
    var cause: String
  }

  /// How long deliveries are counted by minute: a week, and one more day to read the counts.
  static let deliveryCountsKept: Duration = .days(8)

  private var changes: [Group: Int64] = [:]
  /// How many receipts entered a group of failures.
  private var entered: [Group: Int64] = [:]
  private var ends: [AppSlug: (delivered: Int64, failed: Int64)] = [:]
  private var failures: [Failure: (count: Int64, madeSince: Int64)] = [:]
  private var nextPurchase: Int64 = 1
  private let readAhead: (any ReadAhead)?
  private var isNumberUsed = false

  private let readingNext: StoreStatement
  private let writingNext: StoreStatement
  private let counting: StoreStatement
  private let countingEnds: StoreStatement
  private let countingFailures: StoreStatement
  private let forgettingEnds: StoreStatement
  private let forgettingFailures: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    readAhead = connection.engine.readAhead
    readingNext = try connection.prepare("SELECT next FROM sequences WHERE name = 'purchases'")
    writingNext = try connection.prepare("UPDATE sequences SET next = ?1 WHERE name = 'purchases'")
    counting = try connection.prepare(
      """
      INSERT INTO receipt_counts (app, state, reason, last_cause, processor, count, entered)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (app, state, reason, last_cause, processor)
          DO UPDATE SET count = receipt_counts.count + excluded.count,
            entered = receipt_counts.entered + excluded.entered
      """)
    countingEnds = try connection.prepare(
      """
      INSERT INTO delivery_counts (minute, app, delivered, failed) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (minute, app) DO UPDATE
        SET delivered = delivery_counts.delivered + excluded.delivered,
          failed = delivery_counts.failed + excluded.failed
      """)
    countingFailures = try connection.prepare(
      """
      INSERT INTO failure_counts (minute, app, reason, last_cause, count, made_since)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (minute, app, reason, last_cause)
        DO UPDATE SET count = failure_counts.count + excluded.count,
          made_since = CASE WHEN failure_counts.made_since < excluded.made_since
            THEN failure_counts.made_since ELSE excluded.made_since END
      """)
    forgettingEnds = try connection.prepare("DELETE FROM delivery_counts WHERE minute < ?1")
    forgettingFailures = try connection.prepare("DELETE FROM failure_counts WHERE minute < ?1")
  }

  /// Called at the start of a transaction. Discards changes of a transaction that was rolled back, and reads
  /// what another process may have changed.
  func begin() throws(StoreFault) {
    changes.removeAll(keepingCapacity: true)
    entered.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    failures.removeAll(keepingCapacity: true)
    isNumberUsed = false
    guard readAhead == nil else { return }
    nextPurchase = try readingNext.first { row throws(StoreFault) in row.integer(0) } ?? 1
  }

  /// Returns the row for a new purchase. Rows are never reused.
  func makePurchaseRow() throws(StoreFault) -> PurchaseRowID {
    if let readAhead { return PurchaseRowID(try readAhead.makeRow(.purchases)) }
    isNumberUsed = true
    nextPurchase += 1
    return PurchaseRowID(nextPurchase - 1)
  }

  /// Counts a receipt that was created, changed or deleted, by its groups before and after.
  /// - Parameter madeAt: when the receipt was made; required if it may fail.
  func move(from old: Group?, to new: Group?, madeAt: Timestamp? = nil) {
    guard old != new else { return }
    if let old { changes[old, default: 0] -= 1 }
    guard let new else { return }
    changes[new, default: 0] += 1
    if new.state == ReceiptState.failed.rawValue { entered[new, default: 0] += 1 }
    let hasEnded = new.state != old?.state
    if hasEnded, new.state == ReceiptState.delivered.rawValue {
      ends[new.app, default: (0, 0)].delivered += 1
    }
    guard new.state == ReceiptState.failed.rawValue else { return }
    if hasEnded { ends[new.app, default: (0, 0)].failed += 1 }
    // One that fails for another reason now is among those of that reason.
    let made = madeAt?.unixMilliseconds ?? 0
    let failure = Failure(app: new.app, reason: new.reason, cause: new.cause)
    let known = failures[failure] ?? (0, made)
    failures[failure] = (known.count + 1, min(known.madeSince, made))
  }

  /// Writes the collected changes. Called right before the commit.
  func end(now: Timestamp) throws(StoreFault) {
    if isNumberUsed { try writingNext.run([.integer(nextPurchase)]) }
    for (group, change) in changes where change != 0 || entered[group] != nil {
      try counting.run([
        .text(group.app), .text(group.state), .text(group.reason), .text(group.cause),
        .text(group.processor), .integer(change), .integer(entered[group] ?? 0),
      ])
    }
    let minute = now.unixMinute
    for (app, count) in ends {
      try countingEnds.run([
        .integer(minute), .text(app), .integer(count.delivered), .integer(count.failed),
      ])
    }
    for (failure, found) in failures {
      try countingFailures.run([
        .integer(minute), .text(failure.app), .text(failure.reason), .text(failure.cause),
        .integer(found.count), .integer(found.madeSince),
      ])
    }
  }

  /// Deletes the delivery counts of expired minutes.
  func forgetDeliveries(now: Timestamp) throws(StoreFault) {
    let since = now - Self.deliveryCountsKept
    let minute = since.unixMinute
    try forgettingEnds.run([.integer(minute)])
    try forgettingFailures.run([.integer(minute)])
  }
}

extension Timestamp {
  /// The number of whole minutes since 1970, by which deliveries are counted.
  var unixMinute: Int64 { unixMilliseconds / 60_000 }
}

extension CountRows.Group {
  /// - Returns: nil without a receipt.
  init?(_ record: PurchaseRecord) {
    guard let receipt = record.receipt else { return nil }
    self.init(
      app: record.app, processor: record.purchase.key.processor, state: receipt.state.rawValue,
      reason: receipt.reason?.text ?? "", cause: receipt.lastCause?.text ?? "")
  }
}
