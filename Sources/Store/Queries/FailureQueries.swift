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
  static let oldestOfGroupSQL = """
    SELECT created_at FROM purchases WHERE app = ?1 AND state = ?2 AND reason IS ?3
      AND last_cause IS ?4 AND processor = ?5
    ORDER BY reason, last_cause, receipt_id LIMIT 1
    """
  static let newestOfGroupSQL = """
    SELECT created_at FROM purchases WHERE app = ?1 AND state = ?2 AND reason IS ?3
      AND last_cause IS ?4 AND processor = ?5
    \(newestFirst) LIMIT 1
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
      let reason: StoreValue = groups[index].reason.isEmpty ? .null : .text(groups[index].reason)
      let values: [StoreValue] = [
        .text(groups[index].app), .text(ReceiptState.failed.rawValue), reason, .optional(groups[index].cause),
        .text(groups[index].processor),
      ]
      func moment(_ sql: String) throws(StoreFault) -> Timestamp? {
        try connection.prepare(sql).first(values) { row throws(StoreFault) in row.timestamp(0) } ?? nil
      }
      groups[index].oldest = try moment(Self.oldestOfGroupSQL)
      groups[index].newest = try moment(Self.newestOfGroupSQL)
    }
    return groups
  }
}
