// How many receipts were delivered and failed in each hour. Every number is a stored count.

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

extension StoreReader {
  static let minutesOfAnHour: Int64 = 60
  static let deliveriesSQL = """
    SELECT app, sum(delivered), sum(failed) FROM delivery_counts
    WHERE minute >= ?1 AND minute < ?2 GROUP BY app
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
}
