// How an app's contexts and receipts joined, by hour. Every number is a stored count.

public import Domain
internal import Formats

extension StoreReader {
  /// The counts as the rows have them: app, hour since 1970, kind and number. Reads most of the rows.
  package static let joinsOfRowsSQL = """
    SELECT app, created_at / 3600000 AS hour, \(joinOutcomeSQL) AS kind, count(*) AS count
    FROM purchases WHERE \(joinOutcomeSQL) IS NOT NULL GROUP BY 1, 2, 3
    UNION ALL
    SELECT app, received_at / 3600000, '\(JoinRows.ContextCount.received.rawValue)', count(*) FROM contexts
    GROUP BY 1, 2
    UNION ALL
    SELECT app, received_at / 3600000, '\(JoinRows.ContextCount.unclaimed.rawValue)', count(*)
    FROM contexts WHERE purchase_row IS NULL GROUP BY 1, 2
    """

  /// `JoinOutcome` of a row of `purchases`; NULL for none.
  static let joinOutcomeSQL = """
    CASE WHEN object_id LIKE '\(Purchase.erasedPrefix)%' OR copy_for <> '' THEN NULL
         WHEN (observations & \(Observations.soldByStore.rawValue)) <> 0 THEN NULL
         WHEN ready_at IS NULL AND (state IS NOT 'waiting' OR reason IS NOT '\(Reason.context.text)')
           THEN NULL
         WHEN context_disputed <> 0 THEN '\(JoinOutcome.disputed.rawValue)'
         WHEN ply_context IS NULL AND context_at IS NULL THEN '\(JoinOutcome.none.rawValue)'
         WHEN context_source IS NOT \(Purchase.ContextSource.guess.rawValue)
           THEN '\(JoinOutcome.exact.rawValue)'
         WHEN context_candidates = 1 AND price_mismatch = 0 THEN '\(JoinOutcome.user.rawValue)'
         ELSE '\(JoinOutcome.guessed.rawValue)' END
    """

  /// The differences between the stored counts and the rows.
  func miscountedJoins() throws(StoreFault) -> [String] {
    try connection.prepare(
      """
      SELECT app, hour, kind FROM (
        SELECT app, hour, kind, count FROM join_counts
        UNION ALL
        SELECT app, hour, kind, -count FROM (\(Self.joinsOfRowsSQL)) AS counted) AS compared
      GROUP BY app, hour, kind HAVING sum(count) <> 0
      """
    ).all { row throws(StoreFault) in
      "the count of joins is wrong: \(try row.text(0)), hour \(row.integer(1) as Int64), \(try row.text(2))"
    }
  }

  static let joinsSQL = """
    SELECT hour / ?4, kind, sum(count) FROM join_counts WHERE app = ?1 AND hour >= ?2 AND hour < ?3
    GROUP BY 1, 2 HAVING sum(count) <> 0
    """

  /// - Parameters:
  ///   - hours: hours since 1970.
  ///   - period: the length of a period in hours.
  /// - Returns: by the number of the period since 1970; periods without a count are left out.
  private func joins(
    app: AppSlug, hours: Range<Int64>, period: Int64
  ) throws(StoreFault) -> [Int64: JoinTally] {
    var found: [Int64: JoinTally] = [:]
    try connection.prepare(Self.joinsSQL).forEach([
      .text(app), .integer(hours.lowerBound), .integer(hours.upperBound), .integer(period),
    ]) { row throws(StoreFault) in
      let (number, kind, count) = (row.integer(0) as Int64, try row.text(1), row.integer(2) as Int64)
      if let outcome = JoinOutcome(rawValue: kind) {
        found[number, default: JoinTally()].receipts[outcome] = count
      } else if kind == JoinRows.ContextCount.received.rawValue {
        found[number, default: JoinTally()].contexts = count
      } else {
        found[number, default: JoinTally()].unclaimed = count
      }
    }
    return found
  }

  /// How an app's contexts and receipts joined in its last periods, the oldest first; periods without any are
  /// there, too. Receipts count when they were created, contexts when they were first posted.
  /// - Parameter hours: the length of a period. Periods begin at midnight in UTC, and each this many hours.
  public func joins(
    app: AppSlug, last count: Int64, periodsOf hours: Int64, now: Timestamp
  ) throws(StoreFault) -> [JoinPeriod] {
    let end = now.unixHour / hours + 1
    let first = end - count
    let found = try joins(app: app, hours: first * hours..<end * hours, period: hours)
    return (first..<end).map { number in
      JoinPeriod(
        start: Timestamp(unixMilliseconds: 0) + .hours(number * hours), tally: found[number] ?? JoinTally())
    }
  }

  /// The sum of an app's last hours, the present one among them.
  /// - Parameter newer: the hours after them that are left out.
  public func joinTally(
    app: AppSlug, last hours: Int64, before newer: Int64 = 0, now: Timestamp
  ) throws(StoreFault) -> JoinTally {
    let end = now.unixHour + 1 - newer
    return try joins(app: app, hours: end - hours..<end, period: .max).values.reduce(JoinTally(), +)
  }

  /// The last hours of an app whose contexts no longer join, by the rule of `JoinHealth`; nil for any other.
  public func unjoined(app: AppSlug, now: Timestamp) throws(StoreFault) -> JoinTally? {
    let recent = try joinTally(app: app, last: JoinHealth.recentHours, now: now)
    // Only an app that may be broken is compared with its last days.
    guard recent[.none] >= JoinHealth.unjoinedMin, recent.unclaimed >= JoinHealth.unjoinedMin else {
      return nil
    }
    let earlier = try joinTally(
      app: app, last: JoinHealth.earlierHours, before: JoinHealth.recentHours, now: now)
    return JoinHealth.isBroken(recent: recent, earlier: earlier) ? recent : nil
  }
}

/// How an app's contexts and receipts joined in one period.
public struct JoinPeriod: Sendable, Equatable {
  /// Its begin, in UTC.
  public var start: Timestamp
  public var tally: JoinTally
}
