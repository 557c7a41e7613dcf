// Queries for alerts. Each reads stored counts only, so its cost does not depend on the number of receipts.

public import Domain

/// The number of one app's receipts that failed for one reason and cause.
public struct FailureCount: Sendable, Equatable {
  public var reason: String
  /// Why the last attempt failed; empty without an attempt.
  public var cause: String
  public var count: Int64
  /// When the oldest of them was made, if known.
  public var madeSince: Timestamp?
}

extension StoreReader {
  /// The notifications sent to all destinations.
  public func alerts() throws(StoreFault) -> [AlertRecord] {
    try connection.prepare(
      "SELECT destination, condition, app, firing, since, told_at, unanswered FROM alerts"
    ).all { row throws(StoreFault) in
      let app = try row.text(2)
      return AlertRecord(
        key: .init(
          destination: try row.text(0), condition: try row.text(1), app: app.isEmpty ? nil : AppSlug(app)),
        isFiring: row.integer(3) != 0, since: Timestamp(unixMilliseconds: row.integer(4)),
        notifiedAt: Timestamp(unixMilliseconds: row.integer(5)), isUnanswered: row.integer(6) != 0)
    }
  }

  /// The receipts of each app that are in the state `failed` now, by reason and cause.
  public func failedNow() throws(StoreFault) -> [AppSlug: [FailureCount]] {
    var groups: [AppSlug: [FailureCount]] = [:]
    try connection.prepare(
      """
      SELECT app, reason, last_cause, sum(count) FROM receipt_counts WHERE state = 'failed' AND count > 0
      GROUP BY app, reason, last_cause
      """
    ).forEach { row throws(StoreFault) in
      groups[try row.text(0), default: []].append(
        FailureCount(reason: try row.text(1), cause: try row.text(2), count: row.integer(3)))
    }
    return groups
  }

  /// How many receipts of each app are ready and not delivered now; apps without any are left out.
  public func pendingNow() throws(StoreFault) -> [AppSlug: Int64] {
    var pending: [AppSlug: Int64] = [:]
    try connection.prepare(
      "SELECT app, sum(count) FROM receipt_counts WHERE state = 'pending' AND count > 0 GROUP BY app"
    ).forEach { row throws(StoreFault) in pending[try row.text(0)] = row.integer(1) }
    return pending
  }

  static let recentFailuresSQL = """
    SELECT app, reason, last_cause, sum(count), min(made_since) FROM failure_counts WHERE minute >= ?1
    GROUP BY app, reason, last_cause
    """

  /// The receipts of each app that failed since then, to the minute, by reason and cause.
  public func recentFailures(since: Timestamp) throws(StoreFault) -> [AppSlug: [FailureCount]] {
    var groups: [AppSlug: [FailureCount]] = [:]
    try connection.prepare(Self.recentFailuresSQL)
      .forEach([.integer(since.unixMinute)]) {
        row throws(StoreFault) in
        groups[try row.text(0), default: []].append(
          FailureCount(
            reason: try row.text(1), cause: try row.text(2), count: row.integer(3),
            madeSince: row.timestamp(4)))
      }
    return groups
  }
}
