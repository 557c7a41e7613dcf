// Whose an app's purchases are: what an operator should know of them, counted to a maximum, so that the cost
// does not depend on the size of the database.

public import Domain
internal import Formats

/// What an app's purchases of the last days lack, or contradict. Counts end at `countMax`.
public struct IdentityCounts: Sendable, Equatable {
  public static let countMax: Int64 = 1000
  /// The last days that are counted.
  public static let days: Int64 = 7
  /// A receipt may wait that long for its user before it counts: another event or the app often says it.
  static let waitUsual: Duration = .minutes(10)

  /// Paid purchases that may be the app's, name no user and so have no receipt.
  public var unmatched: Int64 = 0
  /// Receipts whose sources name different users, without those that were corrected.
  public var conflicts: Int64 = 0
  /// Receipts that lack a user, and whose checkout's reference is no known user.
  public var unknownReferences: Int64 = 0
  /// Receipts that have waited for a user for longer than usual, and whose checkout has no such reference,
  /// among the first `countMax` that wait.
  public var waitingForUser: Int64 = 0
  /// Events about other sales of the merchant.
  public var foreignEvents: Int64 = 0
  /// Events of the mode, live or test, that the app does not take.
  public var otherModeEvents: Int64 = 0
  /// Whether any event made a receipt or belongs to one.
  public var hasReceipts = false

  public init() {}
}

extension StoreReader {
  static let identitySQL = (
    unmatched: """
    SELECT count(*) FROM (
      SELECT 1 FROM purchases WHERE unmatched = 1 AND app = ?1 AND updated_at >= ?2 LIMIT ?3) AS found
    """,
    conflicts: """
    SELECT count(*) FROM (
      SELECT 1 FROM purchases WHERE user_conflict = 1 AND app = ?1 AND receipt_id >= ?2
        AND corrected_by IS NULL AND copy_for = '' LIMIT ?3) AS found
    """,
    // A line of `other_names` begins with its standing.
    unknownReferences: """
    SELECT count(*) FROM (
      SELECT 1 FROM purchases WHERE app = ?1 AND state IN ('waiting', 'failed') AND reason = 'user'
        AND receipt_id >= ?2 AND (other_names LIKE ?4 OR other_names LIKE ?5) LIMIT ?3) AS found
    """,
    waitingForUser: """
    SELECT count(*) FROM (
      SELECT other_names FROM purchases WHERE app = ?1 AND state = 'waiting' AND reason = 'user'
        AND receipt_id >= ?2 AND receipt_id < ?6 LIMIT ?3) AS found
    WHERE other_names IS NULL OR NOT (other_names LIKE ?4 OR other_names LIKE ?5)
    """
  )

  /// What is counted in `IdentityCounts.days`: of receipts, when they were made; of purchases without one,
  /// when they last changed.
  public func identity(app: AppSlug, now: Timestamp) throws(StoreFault) -> IdentityCounts {
    let since = now - .days(IdentityCounts.days)
    let (sql, limit) = (Self.identitySQL, StoreValue.integer(IdentityCounts.countMax))
    let bound = StoreValue.text(ReceiptID.bound(at: since))
    func count(_ sql: String, _ values: [StoreValue]) throws(StoreFault) -> Int64 {
      try connection.prepare(sql).first(values) { row throws(StoreFault) in row.integer(0) } ?? 0
    }
    var counts = IdentityCounts()
    counts.unmatched = try count(sql.unmatched, [.text(app), .time(since), limit])
    counts.conflicts = try count(sql.conflicts, [.text(app), bound, limit])
    let unknown = "\(NamedUser.Standing.unknown.rawValue) %"
    let names: [StoreValue] = [.text(app), bound, limit, .text(unknown), .text("%\n\(unknown)")]
    counts.unknownReferences = try count(sql.unknownReferences, names)
    let usual = StoreValue.text(ReceiptID.bound(at: now - IdentityCounts.waitUsual))
    counts.waitingForUser = try count(sql.waitingForUser, names + [usual])
    var filter = EventFilter()
    (filter.app, filter.since) = (app, since)
    func count(_ outcome: EventOutcome) throws(StoreFault) -> Int64 {
      filter.outcome = outcome
      return Int64(try events(filter, limit: Int(IdentityCounts.countMax)).count)
    }
    counts.foreignEvents = try count(.foreign)
    counts.otherModeEvents = try count(.otherMode)
    filter.outcome = .receipt
    counts.hasReceipts = try !events(filter, limit: 1).isEmpty
    return counts
  }
}
