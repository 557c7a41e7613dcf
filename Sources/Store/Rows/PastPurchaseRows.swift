// The ids of purchases whose receipt retention deleted while the processor may still send their events: such
// a purchase must not get a second receipt (R2, R3). With the default retention there are none. The writer's
// thread.

internal import Domain

final class PastPurchaseRows {
  private let any: StoreStatement
  private let known: StoreStatement
  private let inserting: StoreStatement
  private let deleting: StoreStatement
  /// Whether there are any; otherwise nothing is looked up.
  private var isInUse = false

  init(_ connection: StoreConnection) throws(StoreFault) {
    any = try connection.prepare("SELECT 1 FROM past_purchases WHERE row_id > 0 LIMIT 1")
    known = try connection.prepare(
      "SELECT 1 FROM past_purchases WHERE object_id = ?1 AND app = ?2 AND processor = ?3")
    inserting = try connection.prepare(
      """
      INSERT INTO past_purchases (object_id, app, processor, until) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (object_id, app, processor) DO UPDATE SET until = max(until, ?4)
      """)
    deleting = try connection.prepare(
      """
      DELETE FROM past_purchases WHERE row_id IN
        (SELECT row_id FROM past_purchases WHERE until < ?1 ORDER BY until LIMIT ?2)
      """)
  }

  /// Called at the start of each transaction: another process may have deleted receipts.
  func begin() throws(StoreFault) {
    if !isInUse { isInUse = try any.first([]) { _ throws(StoreFault) in true } ?? false }
  }

  /// Invalidates the cache after a rollback.
  func invalidate() { isInUse = false }

  /// Whether a purchase's receipt was deleted.
  func contains(
    _ purchase: PurchaseKey, sessionID: SessionID? = nil, app: AppSlug, _ erasures: ErasureRows
  ) throws(StoreFault) -> Bool {
    guard isInUse else { return false }
    for id in [purchase.id, sessionID.map(ObjectID.init)].compactMap(\.self) {
      // An erased user's ids were replaced by hashes.
      for name in [id, erasures.token(id, app: app)].compactMap(\.self) {
        let key: [StoreValue] = [.text(name), .text(app), .text(purchase.processor)]
        if try known.first(key, { _ throws(StoreFault) in true }) != nil { return true }
      }
    }
    return false
  }

  /// Stores the ids of a purchase whose receipt is about to be deleted.
  /// - Parameter repeatPeriod: how long its events may come again.
  func remember(
    _ record: PurchaseRecord, for repeatPeriod: Duration, now: Timestamp
  ) throws(StoreFault) {
    let until = record.updatedAt.advanced(by: repeatPeriod)
    guard record.receipt != nil, until > now else { return }
    isInUse = true
    let processor = StoreValue.text(record.purchase.key.processor)
    for id in Set([record.purchase.key.id, record.purchase.sessionID.map(ObjectID.init)].compactMap(\.self)) {
      try inserting.run([.text(id), .text(record.app), processor, .time(until)])
    }
  }

  /// Deletes ids whose events cannot come again.
  /// - Returns: how many ids were deleted.
  func delete(before now: Timestamp, limit: Int64) throws(StoreFault) -> Int64 {
    guard isInUse else { return 0 }
    return Int64(try deleting.count([.time(now), .integer(limit)]))
  }
}
