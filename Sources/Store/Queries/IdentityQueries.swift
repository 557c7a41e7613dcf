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
      SELECT 1 FROM purchases WHERE user_conflict = 1 AND app = ?1 AND receipt_id >= ?4
        AND corrected_by IS NULL AND copy_for = '' LIMIT ?3) AS found
    """,
    // A line of `other_names` begins with its standing.
    unknownReferences: """
    SELECT count(*) FROM (
      SELECT 1 FROM purchases WHERE app = ?1 AND state IN ('waiting', 'failed') AND reason = 'user'
        AND receipt_id >= ?4 AND (other_names LIKE ?5 OR other_names LIKE ?6) LIMIT ?3) AS found
    """,
    waitingForUser: """
    SELECT count(*) FROM (
      SELECT other_names FROM purchases WHERE app = ?1 AND state = 'waiting' AND reason = 'user'
        AND receipt_id >= ?4 AND receipt_id < ?7 LIMIT ?3) AS found
    WHERE other_names IS NULL OR NOT (other_names LIKE ?5 OR other_names LIKE ?6)
    """
  )

  /// What is counted in `IdentityCounts.days`: of receipts, when they were made; of purchases without one,
  /// when they last changed. In the order of the apps.
  public func identity(
    apps: [AppSlug], now: Timestamp
  ) throws(StoreFault) -> [(app: AppSlug, counts: IdentityCounts)] {
    try connection.snapshot { () throws(StoreFault) in
      let since = now - .days(IdentityCounts.days)
      let firstEvent = try firstRow(of: .events, from: since)
      var found: [(app: AppSlug, counts: IdentityCounts)] = []
      for app in apps {
        var counts = try purchaseCounts(app, since: since, now: now)
        let limit = Int(IdentityCounts.countMax)
        let events = try self.counts(
          ofApp: app, from: firstEvent, limits: [.foreign: limit, .otherMode: limit, .receipt: 1])
        counts.foreignEvents = Int64(events[.foreign] ?? 0)
        counts.otherModeEvents = Int64(events[.otherMode] ?? 0)
        counts.hasReceipts = events[.receipt] != nil
        found.append((app, counts))
      }
      return found
    }
  }

  private func purchaseCounts(
    _ app: AppSlug, since: Timestamp, now: Timestamp
  ) throws(StoreFault) -> IdentityCounts {
    let sql = Self.identitySQL
    let unknown = "\(NamedUser.Standing.unknown.rawValue) %"
    let counting = try connection.prepare(
      "SELECT (\(sql.unmatched)), (\(sql.conflicts)), (\(sql.unknownReferences)), (\(sql.waitingForUser))")
    let found = try counting.first([
      .text(app), .time(since), .integer(IdentityCounts.countMax), .text(ReceiptID.bound(at: since)),
      .text(unknown), .text("%\n\(unknown)"), .text(ReceiptID.bound(at: now - IdentityCounts.waitUsual)),
    ]) { row throws(StoreFault) in
      var counts = IdentityCounts()
      counts.unmatched = row.integer(0)
      counts.conflicts = row.integer(1)
      counts.unknownReferences = row.integer(2)
      counts.waitingForUser = row.integer(3)
      return counts
    }
    return found ?? IdentityCounts()
  }
}
