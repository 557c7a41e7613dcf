// The writer's statements on `announcements`: the paid purchases without a user of which an app's webhook
// shall learn. Statements are prepared on their first use. The writer's thread.

internal import Domain
internal import Formats

final class AnnouncementRows {
  /// An announcement that was not accepted yet.
  struct Open {
    /// When the receipt began to lack its user.
    var since: Timestamp
    var dueAt: Timestamp
    /// Attempts that began.
    var attempts: Int64
  }

  private let adding: StoreStatement
  private let finding: StoreStatement
  private let beginning: StoreStatement
  private let postponing: StoreStatement
  private let dropping: StoreStatement
  private let retrying: StoreStatement
  private let bringingBack: StoreStatement

  init(_ connection: StoreConnection) {
    adding = connection.prepareOnUse(
      """
      INSERT INTO announcements (purchase_row, app, since, due_at, attempts) VALUES (?1, ?2, ?3, ?4, 0)
      ON CONFLICT (purchase_row) DO NOTHING
      """)
    finding = connection.prepareOnUse(
      "SELECT since, due_at, attempts FROM announcements WHERE purchase_row = ?1")
    beginning = connection.prepareOnUse(
      "UPDATE announcements SET due_at = ?2, attempts = attempts + 1 WHERE purchase_row = ?1")
    postponing = connection.prepareOnUse("UPDATE announcements SET due_at = ?2 WHERE purchase_row = ?1")
    dropping = connection.prepareOnUse("DELETE FROM announcements WHERE purchase_row = ?1")
    retrying = connection.prepareOnUse(
      "UPDATE announcements SET due_at = ?2 WHERE app = ?1 AND attempts > 0 AND due_at > ?2")
    // `announcements_due` begins with the app, so the condition names all apps.
    bringingBack = connection.prepareOnUse(
      """
      UPDATE announcements SET since = CASE WHEN since > ?1 THEN ?1 ELSE since END,
        due_at = CASE WHEN due_at + ?3 > ?1 THEN due_at + ?3 ELSE ?1 END
      WHERE app IN (SELECT app FROM receipt_counts) AND due_at > ?2
      """)
  }

  /// Notes that a purchase shall be announced, unless that is noted already.
  func add(_ record: PurchaseRecord, since: Timestamp, dueAt: Timestamp) throws(StoreFault) {
    try adding.run([.integer(record.rowID), .text(record.app), .time(since), .time(dueAt)])
  }

  func find(_ row: PurchaseRowID) throws(StoreFault) -> Open? {
    try finding.first([.integer(row)]) { row throws(StoreFault) in
      Open(
        since: Timestamp(unixMilliseconds: row.integer(0)),
        dueAt: Timestamp(unixMilliseconds: row.integer(1)), attempts: row.integer(2))
    }
  }

  /// Notes that an attempt begins, and when the next one is due.
  func begin(_ row: PurchaseRowID, nextAt dueAt: Timestamp) throws(StoreFault) {
    try beginning.run([.integer(row), .time(dueAt)])
  }

  /// Makes one due later, without an attempt.
  func postpone(_ row: PurchaseRowID, until dueAt: Timestamp) throws(StoreFault) {
    try postponing.run([.integer(row), .time(dueAt)])
  }

  /// Makes those of an app that were attempted due now.
  func retry(_ app: AppSlug, at now: Timestamp) throws(StoreFault) {
    try retrying.run([.text(app), .time(now)])
  }

  /// The longest pause between two attempts that a start believes.
  private static let longestPause: Duration = .days(1)

  /// Moves those that a clock that ran ahead planned; none is due later than before.
  /// - Parameter step: as `LookupRows.bringBack` has it.
  func bringBack(to now: Timestamp, after step: Duration?) throws(StoreFault) {
    if let step, step >= .zero { return }
    let latest = step == nil ? now + Self.longestPause : now
    try bringingBack.run([
      .time(now), .time(latest), .duration(step ?? .zero - FollowClock.stepMax),
    ])
  }

  func drop(_ row: PurchaseRowID) throws(StoreFault) { try dropping.run([.integer(row)]) }
}
