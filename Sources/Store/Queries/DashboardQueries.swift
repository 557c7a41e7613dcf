// The dashboard's other queries, besides single receipts and lists. Every number comes from an index or a
// stored count.

public import Domain

/// How many receipts were delivered or failed in a period.
public struct DeliveryCount: Sendable, Equatable {
  public var delivered: Int64
  public var failed: Int64

  public init(delivered: Int64 = 0, failed: Int64 = 0) {
    self.delivered = delivered
    self.failed = failed
  }

  public static func + (left: Self, right: Self) -> Self {
    func sum(_ left: Int64, _ right: Int64) -> Int64 {
      let (sum, overflow) = left.addingReportingOverflow(right)
      return overflow ? .max : sum
    }
    return Self(delivered: sum(left.delivered, right.delivered), failed: sum(left.failed, right.failed))
  }
}

/// Failed receipts of one app and processor with the same reason and cause.
public struct FailureGroup: Sendable, Equatable {
  public var app: AppSlug
  public var processor: ProcessorName
  public var reason: String
  /// Why the last attempt failed; nil without an attempt.
  public var cause: String?
  public var count: Int64
  /// When the oldest and the newest receipt were made.
  public var oldest: Timestamp?
  public var newest: Timestamp?
}

extension StoreReader {
  static let minutesOfAnHour: Int64 = 60
  static let deliveriesSQL = """
    SELECT app, sum(delivered), sum(failed) FROM delivery_counts
    WHERE minute >= ?1 AND minute < ?2 GROUP BY app
    """
  static let oldestOfGroupSQL = """
    SELECT created_at FROM purchases WHERE app = ?1 AND state = ?2 AND reason IS ?3
      AND last_cause IS ?4 AND processor = ?5
    ORDER BY receipt_id LIMIT 1
    """
  static let newestOfGroupSQL = """
    SELECT created_at FROM purchases WHERE app = ?1 AND state = ?2 AND reason IS ?3
      AND last_cause IS ?4 AND processor = ?5
    ORDER BY receipt_id DESC LIMIT 1
    """

  /// Counts deliveries and failures in one hour, by app.
  /// - Parameter hour: hours since 1970. The counts are kept for eight days.
  public func deliveries(inHour hour: Int64) throws(StoreFault) -> [AppSlug: DeliveryCount] {
    let (first, overflow) = hour.multipliedReportingOverflow(by: Self.minutesOfAnHour)
    guard !overflow, first < Int64.max - Self.minutesOfAnHour else { return [:] }
    var counts: [AppSlug: DeliveryCount] = [:]
    try connection.prepare(Self.deliveriesSQL)
      .forEach([.integer(first), .integer(first + Self.minutesOfAnHour)]) { row throws(StoreFault) in
        counts[try row.text(0)] = DeliveryCount(delivered: row.integer(1), failed: row.integer(2))
      }
    return counts
  }

  /// Groups of failed receipts, the largest first.
  public func failures(
    app: AppSlug? = nil, processor: ProcessorName? = nil, reason: String? = nil, cause: String? = nil,
    limit: Int
  ) throws(StoreFault) -> [FailureGroup] {
    var groups = try connection.prepare(
      """
      SELECT app, reason, last_cause, count, processor FROM receipt_counts
      WHERE state = 'failed' AND count > 0 AND app = coalesce(?1, app) AND reason = coalesce(?2, reason)
        AND last_cause = coalesce(?4, last_cause) AND processor = coalesce(?5, processor)
      ORDER BY count DESC, app, reason, last_cause, processor LIMIT ?3
      """
    ).all([
      .optional(app), .optional(reason), .integer(Int64(limit)), .optional(cause), .optional(processor),
    ]) { row throws(StoreFault) in
      let cause = try row.text(2)
      return FailureGroup(
        app: try row.text(0), processor: try row.text(4), reason: try row.text(1),
        cause: cause.isEmpty ? nil : cause, count: row.integer(3))
    }
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
