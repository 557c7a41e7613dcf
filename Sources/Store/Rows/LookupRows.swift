// The writer's statements on `look_ups`, `service` and `backfills`. The writer's thread.

internal import Domain

final class LookupRows {
  static let slice: Int64 = 500
  private static let never = Lookup.never.unixMilliseconds
  private static let endingFollowUpSQL = """
    DELETE FROM look_ups
    WHERE purchase_row = ?1 AND fetches > 0 AND ((tries = 0 AND due_at > ?2) OR due_at >= \(never))
    """

  /// By `look_ups_failed`. Those that were given up, too: they are tried once more.
  static let retryingSQL = """
    UPDATE look_ups SET due_at = ?3 WHERE purchase_row IN (
      SELECT purchase_row FROM look_ups
      WHERE app = ?1 AND processor = ?2 AND fetches > 0 AND tries > 0 AND due_at > ?3 LIMIT \(slice))
    """

  private let planning: StoreStatement
  private let fetching: StoreStatement
  private let fetchingAgain: StoreStatement
  private let fetched: StoreStatement
  private let followingUp: StoreStatement
  private let endingFollowUp: StoreStatement
  private let forgetting: StoreStatement
  private let dropping: StoreStatement
  private let replacing: StoreStatement
  private let moving: StoreStatement
  private let postponing: StoreStatement
  private let retrying: StoreStatement
  private let waiting: StoreStatement
  private let adding: StoreStatement
  private let bringingBack: StoreStatement
  private let servedAt: StoreStatement
  private let recordingService: StoreStatement
  private let addingBackfill: StoreStatement
  private let completingBackfill: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    planning = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (purchase_row) DO UPDATE SET tries = 0,
        due_at = CASE WHEN look_ups.fetches > 0 AND look_ups.due_at < ?4 THEN look_ups.due_at ELSE ?4 END
      """)
    fetching = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries, fetches)
      VALUES (?1, ?2, ?3, ?4, 0, 1)
      ON CONFLICT (purchase_row) DO UPDATE SET due_at = ?4, tries = 0, fetches = look_ups.fetches + 1
      """)
    fetchingAgain = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries, fetches)
      VALUES (?1, ?2, ?3, ?4, 0, 1)
      ON CONFLICT (purchase_row) DO UPDATE SET fetches = look_ups.fetches + 1,
        due_at = CASE WHEN look_ups.due_at < ?4 THEN look_ups.due_at ELSE ?4 END
      """)
    followingUp = try connection.prepare(Self.followingUpSQL)
    endingFollowUp = try connection.prepare(Self.endingFollowUpSQL)
    fetched = try connection.prepare(
      "UPDATE look_ups SET fetches = 0 WHERE purchase_row = ?1 AND fetches = ?2")
    forgetting = try connection.prepare("DELETE FROM look_ups WHERE purchase_row = ?1 AND fetches = 0")
    dropping = try connection.prepare("DELETE FROM look_ups WHERE purchase_row = ?1")
    replacing = try connection.prepare(
      """
      DELETE FROM look_ups WHERE purchase_row = ?2
        AND EXISTS (SELECT 1 FROM look_ups other WHERE other.purchase_row = ?1 AND other.fetches > 0)
      """)
    moving = try connection.prepare(
      "UPDATE look_ups SET purchase_row = ?2 WHERE purchase_row = ?1 AND fetches > 0")
    postponing = try connection.prepare(
      """
      UPDATE look_ups SET due_at = ?2, tries = tries + 1 WHERE purchase_row = ?1 AND fetches = ?4 AND (?4 > 0
        OR EXISTS (SELECT 1 FROM purchases WHERE row_id = ?1 AND state = 'waiting' AND reason = ?3))
      """)
    retrying = try connection.prepare(Self.retryingSQL)
    waiting = try connection.prepare(Self.waitingSQL)
    adding = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, processor, due_at, tries) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (purchase_row) DO NOTHING
      """)
    bringingBack = try connection.prepare(
      """
      UPDATE look_ups SET due_at = CASE WHEN due_at + ?3 > ?1 THEN due_at + ?3 ELSE ?1 END
      WHERE due_at > CASE WHEN fetches > 0 AND tries = 0 THEN ?4 ELSE ?2 END AND due_at < \(Self.never)
      """)
    servedAt = try connection.prepare("SELECT serves_at FROM service WHERE row_id = 1")
    recordingService = try connection.prepare(
      """
      INSERT INTO service (row_id, serves_at) VALUES (1, ?1)
      ON CONFLICT (row_id) DO UPDATE SET serves_at = ?1
      """)
    addingBackfill = try connection.prepare(
      """
      INSERT INTO backfills (app, processor, since) VALUES (?1, ?2, ?3)
      ON CONFLICT (app, processor)
        DO UPDATE SET since = CASE WHEN backfills.since < ?3 THEN backfills.since ELSE ?3 END
      """)
    completingBackfill = try connection.prepare(
      "DELETE FROM backfills WHERE app = ?1 AND processor = ?2 AND since >= ?3")
  }

  private static let waitingSQL = """
    SELECT row_id, receipt_id FROM purchases
    WHERE app = ?1 AND state = 'waiting' AND reason = ?2 AND last_cause IS NULL AND processor = ?5
      AND receipt_id > ?3
    ORDER BY receipt_id LIMIT ?4
    """

  /// A follow-up is a fetch that no event requires: due in the future, and not tried yet.
  private static let followingUpSQL = """
    INSERT INTO look_ups (purchase_row, app, processor, due_at, tries, fetches)
    VALUES (?1, ?2, ?3, ?4, 0, 1)
    ON CONFLICT (purchase_row) DO UPDATE SET
      due_at = CASE WHEN look_ups.fetches > 0 AND look_ups.due_at < ?4 THEN look_ups.due_at ELSE ?4 END,
      tries = CASE WHEN look_ups.fetches > 0 THEN look_ups.tries ELSE 0 END,
      fetches = CASE WHEN look_ups.fetches > 1 THEN look_ups.fetches ELSE 1 END
    """

  /// Plans a lookup of a purchase.
  func plan(row: PurchaseRowID, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try planning.run([.integer(row), .text(place.app), .text(place.processor), .time(due)])
  }

  /// Plans a fetch that an event requires, regardless of what the receipt waits for.
  func fetch(row: PurchaseRowID, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try fetching.run([.integer(row), .text(place.app), .text(place.processor), .time(due)])
  }

  /// Plans another fetch. Unlike `fetch`, it does not restart the pauses of one that failed.
  func fetchAgain(row: PurchaseRowID, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try fetchingAgain.run([.integer(row), .text(place.app), .text(place.processor), .time(due)])
  }

  /// Plans a fetch that no event requires. One that an event requires keeps its time, if that is earlier.
  func followUp(row: PurchaseRowID, of place: AppProcessor, at due: Timestamp) throws(StoreFault) {
    try followingUp.run([.integer(row), .text(place.app), .text(place.processor), .time(due)])
  }

  /// Removes a fetch that no event requires, and one that was given up.
  func endFollowUp(row: PurchaseRowID, now: Timestamp) throws(StoreFault) {
    try endingFollowUp.run([.integer(row), .time(now)])
  }

  /// Records that a purchase was fetched for this many events. It is fetched again if more came meanwhile.
  /// - Returns: whether no more came.
  @discardableResult
  func noteFetched(row: PurchaseRowID, _ fetches: Int64) throws(StoreFault) -> Bool {
    try fetched.count([.integer(row), .integer(fetches)]) > 0
  }

  /// Removes a lookup that the receipt no longer needs. A fetch that an event requires stays planned.
  func forget(row: PurchaseRowID) throws(StoreFault) { try forgetting.run([.integer(row)]) }

  /// Removes all planned lookups and fetches of a purchase.
  func drop(row: PurchaseRowID) throws(StoreFault) { try dropping.run([.integer(row)]) }

  /// Moves planned fetches to the remaining row after two rows were merged.
  func move(from old: PurchaseRowID, to new: PurchaseRowID) throws(StoreFault) {
    try replacing.run([.integer(old), .integer(new)])
    try moving.run([.integer(old), .integer(new)])
  }

  /// Reschedules a lookup after an answer. Changes nothing if the purchase has no lookup any more, or has one
  /// for another reason, which has its own first lookup.
  /// - Parameter fetches: the value of `DueLookup`.
  func postpone(
    row: PurchaseRowID, asked: Reason?, fetches: Int64, until due: Timestamp
  ) throws(StoreFault) {
    try postponing.run([.integer(row), .time(due), .optional(asked?.text), .integer(fetches)])
  }

  /// Makes fetches that failed due now, a slice at a time.
  /// - Returns: how many; less than `slice` for the last.
  func retry(_ place: AppProcessor, at now: Timestamp) throws(StoreFault) -> Int {
    try retrying.count([.text(place.app), .text(place.processor), .time(now)])
  }

  /// Plans lookups for receipts of an app and a processor that wait for a reason and have no lookup yet, a
  /// slice at a time.
  /// - Parameter after: the last receipt of the previous slice; empty for the first.
  /// - Returns: the last receipt of this slice; nil if there are no more.
  func planSlice(
    _ place: AppProcessor, reason: Reason, after: ReceiptID, at due: Timestamp
  ) throws(StoreFault) -> ReceiptID? {
    let found = try waiting.all(
      [.text(place.app), .text(reason.text), .text(after), .integer(Self.slice), .text(place.processor)]
    ) { row throws(StoreFault) in
      (row: row.integer(0) as PurchaseRowID, id: try row.text(1) as ReceiptID)
    }
    for receipt in found {
      try adding.run([
        .integer(receipt.row), .text(place.app), .text(place.processor), .time(due),
      ])
    }
    return found.count < Self.slice ? nil : found.last?.id
  }

  /// Moves lookups that a clock that ran ahead planned; none is due later than before.
  /// - Parameter step: the size of the clock step; nil if unknown: then what is planned impossibly late is
  ///   due now.
  func bringBack(to now: Timestamp, after step: Duration?) throws(StoreFault) {
    if let step, step >= .zero { return }
    let latest = step == nil ? now.advanced(by: Lookup.pause(attempts: .max, isUnknown: true)) : now
    let latestFollowUp = step == nil ? now.advanced(by: Lookup.followedFor) : now
    try bringingBack.run([
      .time(now), .time(latest), .duration(step ?? .zero - FollowClock.stepMax), .time(latestFollowUp),
    ])
  }

  /// When receiptd last recorded that it was serving; nil if never.
  func lastServed() throws(StoreFault) -> Timestamp? {
    try servedAt.first { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  func recordService(at now: Timestamp) throws(StoreFault) { try recordingService.run([.time(now)]) }

  /// Records that the events since then must be fetched.
  func addBackfill(_ place: AppProcessor, since: Timestamp) throws(StoreFault) {
    try addingBackfill.run([.text(place.app), .text(place.processor), .time(since)])
  }

  /// Records that the events from that moment on were fetched.
  func completeBackfill(_ place: AppProcessor, since: Timestamp) throws(StoreFault) {
    try completingBackfill.run([.text(place.app), .text(place.processor), .time(since)])
  }
}
