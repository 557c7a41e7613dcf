// The statements on `look_ups`, `service` and `backfills` that the writer uses. The writer's thread.

internal import Domain

final class LookUpRows {
  static let slice: Int64 = 500

  private let planning: StoreStatement
  private let forgetting: StoreStatement
  private let postponing: StoreStatement
  private let waiting: StoreStatement
  private let adding: StoreStatement
  private let bringingBack: StoreStatement
  private let servedAt: StoreStatement
  private let serving: StoreStatement
  private let owing: StoreStatement
  private let filled: StoreStatement

  init(_ connection: StoreConnection) throws(StoreFault) {
    planning = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, due_at, tries) VALUES (?1, ?2, ?3, 0)
      ON CONFLICT (purchase_row) DO UPDATE SET due_at = ?3, tries = 0
      """)
    forgetting = try connection.prepare("DELETE FROM look_ups WHERE purchase_row = ?1")
    postponing = try connection.prepare(
      """
      UPDATE look_ups SET due_at = ?2, tries = tries + 1 WHERE purchase_row = ?1
        AND EXISTS (SELECT 1 FROM purchases WHERE row_id = ?1 AND state = 'waiting' AND reason = ?3)
      """)
    waiting = try connection.prepare(
      """
      SELECT row_id, receipt_id FROM purchases
      WHERE app = ?1 AND state = 'waiting' AND reason = ?2 AND last_cause IS NULL AND receipt_id > ?3
      ORDER BY receipt_id LIMIT ?4
      """)
    adding = try connection.prepare(
      """
      INSERT INTO look_ups (purchase_row, app, due_at, tries) VALUES (?1, ?2, ?3, 0)
      ON CONFLICT (purchase_row) DO NOTHING
      """)
    bringingBack = try connection.prepare("UPDATE look_ups SET due_at = ?1 WHERE due_at > ?2")
    servedAt = try connection.prepare("SELECT serves_at FROM service WHERE row_id = 1")
    serving = try connection.prepare(
      """
      INSERT INTO service (row_id, serves_at) VALUES (1, ?1)
      ON CONFLICT (row_id) DO UPDATE SET serves_at = ?1
      """)
    owing = try connection.prepare(
      """
      INSERT INTO backfills (app, since) VALUES (?1, ?2)
      ON CONFLICT (app) DO UPDATE SET since = min(since, ?2)
      """)
    filled = try connection.prepare("DELETE FROM backfills WHERE app = ?1 AND since >= ?2")
  }

  /// Asks about a purchase at a moment.
  func plan(row: Int64, app: String, at due: Timestamp) throws(StoreFault) {
    try planning.run([.integer(row), .text(app), .time(due)])
  }

  func forget(row: Int64) throws(StoreFault) { try forgetting.run([.integer(row)]) }

  /// After an answer. Nothing changes when the purchase is not asked about any more, or waits for something
  /// else by now: that has its own first question.
  func postpone(row: Int64, asked: Reason, until due: Timestamp) throws(StoreFault) {
    try postponing.run([.integer(row), .time(due), .text(asked.text)])
  }

  /// Asks about receipts of an app that wait for a reason and are not asked about yet, a slice at a time.
  /// - Parameter after: the receipt that the slice before ended with; empty for the first.
  /// - Returns: the receipt that this slice ended with; nil when there are no more.
  func planSlice(
    app: String, reason: Reason, after: String, at due: Timestamp
  ) throws(StoreFault) -> String? {
    let found = try waiting.all(
      [.text(app), .text(reason.text), .text(after), .integer(Self.slice)]
    ) { row throws(StoreFault) in (row: row.integer(0), id: try row.text(1)) }
    for receipt in found { try adding.run([.integer(receipt.row), .text(app), .time(due)]) }
    return found.count < Self.slice ? nil : found.last?.id
  }

  /// What was planned by a clock that ran ahead is asked now.
  func bringBack(to now: Timestamp) throws(StoreFault) {
    let latest = now.advanced(byMilliseconds: LookUp.pauseMilliseconds(tries: .max, isUnknown: true))
    try bringingBack.run([.time(now), .time(latest)])
  }

  /// When receiptd last said that it serves; nil when it never did.
  func lastServed() throws(StoreFault) -> Timestamp? {
    try servedAt.first { row throws(StoreFault) in row.timestamp(0) } ?? nil
  }

  func serve(at now: Timestamp) throws(StoreFault) { try serving.run([.time(now)]) }

  /// An app's events since then are to be fetched.
  func owe(app: String, since: Timestamp) throws(StoreFault) { try owing.run([.text(app), .time(since)]) }

  /// They were, from that moment on.
  func fill(app: String, since: Timestamp) throws(StoreFault) { try filled.run([.text(app), .time(since)]) }
}
