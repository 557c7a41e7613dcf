// Groups of failed receipts. Each is one stored count; its trend is counted.

public import Domain

extension StoreReader {
  static let failureGroupsSQL = """
    SELECT r.app, r.processor, r.reason, r.last_cause, r.count, r.entered,
      a.entered, a.owner, a.note, a.actor, a.at
    FROM receipt_counts r LEFT JOIN acknowledgements a ON a.app = r.app AND a.processor = r.processor
      AND a.reason = r.reason AND a.last_cause = r.last_cause
    WHERE r.state = 'failed' AND r.count > 0 AND \(FailureChoice.condition("r"))
    ORDER BY CASE WHEN a.entered >= r.entered THEN 1 ELSE 0 END, r.count DESC,
      r.app, r.reason, r.last_cause, r.processor
    LIMIT ?5
    """

  /// Groups of failed receipts without their times: those that need attention first, then the largest.
  public func failureGroups(
    _ filter: FailureChoice = FailureChoice(), limit: Int = .max
  ) throws(StoreFault) -> [FailureGroup] {
    try connection.prepare(Self.failureGroupsSQL).all(filter.values + [.integer(Int64(limit))]) {
      row throws(StoreFault) in
      let cause = try row.text(3)
      var group = FailureGroup(
        app: try row.text(0), processor: try row.text(1), reason: try row.text(2),
        cause: cause.isEmpty ? nil : cause, count: row.integer(4), entered: row.integer(5))
      if let entered = row.optionalInteger(6), let at = row.timestamp(10) {
        group.acknowledgement = FailureAcknowledgement(
          entered: entered, owner: try row.text(7), note: try row.text(8), actor: try row.text(9), at: at)
      }
      return group
    }
  }

  /// The same with the times of the oldest and the newest receipt.
  public func failures(
    _ filter: FailureChoice = FailureChoice(), limit: Int
  ) throws(StoreFault) -> [FailureGroup] {
    var groups = try failureGroups(filter, limit: limit)
    for index in groups.indices {
      let times = try times(of: CountRows.Group(groups[index]), ReceiptFilter().bounds)
      (groups[index].oldest, groups[index].newest) = (times?.oldest, times?.newest)
    }
    return groups
  }

  static let trendHours = 24
  /// An hour with more is drawn as one with this many, so that a flood is counted as fast as a few.
  static let trendMax = 1000

  /// The counts of all hours: one round trip a group. `?6` and those after it begin the hours. The hours are
  /// a table, because PostgreSQL would plan a subquery for each.
  static let trendSQL = """
    SELECT hours.column1, (SELECT count(*) FROM (SELECT 1 FROM purchases
        WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND last_cause IS ?4 AND processor = ?5
          AND receipt_id >= hours.column2 AND receipt_id < hours.column3
        ORDER BY reason, last_cause, receipt_id LIMIT \(trendMax)) AS made)
    FROM (VALUES \(trendRows)) AS hours
    """
  private static let trendRows = (0..<trendHours).map { "(\($0), ?\(6 + $0), ?\(7 + $0))" }
    .joined(separator: ", ")

  /// How many receipts of a group were made in each of the last 24 hours, oldest first; the last has not
  /// ended.
  public func trend(of group: FailureGroup, now: Timestamp) throws(StoreFault) -> [Int64] {
    let hour = Int64(3_600_000)
    let end = (now.unixMilliseconds / hour + 1) * hour
    let bounds = (0...Int64(Self.trendHours)).map { number in
      let start = end - (Int64(Self.trendHours) - number) * hour
      return StoreValue.text(ReceiptID.bound(at: Timestamp(unixMilliseconds: start)))
    }
    var counts = [Int64](repeating: 0, count: Self.trendHours)
    try connection.prepare(Self.trendSQL).forEach(Self.values(of: CountRows.Group(group)) + bounds) {
      row throws(StoreFault) in counts[Int(clamping: row.integer(0))] = row.integer(1)
    }
    return counts
  }
}

extension CountRows.Group {
  init(_ group: FailureGroup) {
    self.init(
      app: group.app, processor: group.processor, state: ReceiptState.failed.rawValue, reason: group.reason,
      cause: group.cause ?? "")
  }
}
