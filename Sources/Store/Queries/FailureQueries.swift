// Groups of failed receipts. Each is one stored count.

internal import Domain

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
      let group = CountRows.Group(
        app: groups[index].app, processor: groups[index].processor, state: ReceiptState.failed.rawValue,
        reason: groups[index].reason, cause: groups[index].cause ?? "")
      let times = try times(of: group, ReceiptFilter().bounds)
      (groups[index].oldest, groups[index].newest) = (times?.oldest, times?.newest)
    }
    return groups
  }
}
