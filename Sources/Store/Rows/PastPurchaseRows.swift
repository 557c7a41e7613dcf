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
  /// The ids that the open transaction has looked for, and whether there is such a purchase; nil for an
  /// engine that reads without a round trip.
  private var asked: [ObjectID: Set<AppProcessor>]?

  init(_ connection: StoreConnection) throws(StoreFault) {
    asked = connection.engine.readAhead == nil ? nil : [:]
    any = try connection.prepare("SELECT 1 FROM past_purchases WHERE row_id > 0 LIMIT 1")
    known = try connection.prepare(
      "SELECT 1 FROM past_purchases WHERE object_id = ?1 AND app = ?2 AND processor = ?3")
    inserting = try connection.prepare(
      """
      INSERT INTO past_purchases (object_id, app, processor, until) VALUES (?1, ?2, ?3, ?4)
      ON CONFLICT (object_id, app, processor)
        DO UPDATE SET until = CASE WHEN past_purchases.until > ?4 THEN past_purchases.until ELSE ?4 END
      """)
    deleting = try connection.prepare(
      """
      DELETE FROM past_purchases WHERE row_id IN
        (SELECT row_id FROM past_purchases WHERE until < ?1 ORDER BY until LIMIT ?2)
      """)
  }

  /// Called at the start of each transaction: another process may have deleted receipts.
  func begin() throws(StoreFault) {
    if asked != nil { isInUse = true }
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
        if let places = asked?[name] {
          if places.contains(AppProcessor(app, purchase.processor)) { return true }
          continue
        }
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
    forgetKnown()
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

  /// Called at the start of a transaction, and after a change.
  func forgetKnown() { asked?.removeAll(keepingCapacity: true) }

  func reads(objects: Set<ObjectID>) -> [BulkRead] {
    [
      BulkRead(
        "object_id, app, processor", of: "past_purchases", where: "object_id", in: objects.map { .text($0) })
    ]
  }

  /// Notes that these are being read. `add` follows for those that are found.
  func expect(objects: Set<ObjectID>) {
    guard asked != nil else { return }
    for object in objects { asked?[object] = [] }
  }

  /// Notes a row that was read ahead.
  func add(_ row: StoreRow) throws(StoreFault) {
    let place = AppProcessor(try row.text(1), try row.text(2))
    asked?[try row.text(0), default: []].insert(place)
  }
}
