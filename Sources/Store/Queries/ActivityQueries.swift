// Recent activity, read from the ends of the tables: the cost does not depend on the database's size.

public import Domain

/// How far the tables have grown; the difference of two values is the number of new rows.
public struct Growth: Sendable, Equatable {
  public var events: Int64 = 0
  public var contexts: Int64 = 0
  public var attempts: Int64 = 0

  public init() {}
}

extension StoreReader {
  /// When the oldest purchase that is still kept was first known; nil if there is none.
  public func oldestPurchaseAt() throws(StoreFault) -> Timestamp? {
    try connection.prepare("SELECT first_seen_at FROM purchases ORDER BY row_id LIMIT 1").first {
      row throws(StoreFault) in Timestamp(unixMilliseconds: row.integer(0))
    }
  }

  /// The present growth of the tables.
  public func growth() throws(StoreFault) -> Growth {
    var growth = Growth()
    growth.events = try lastRow(of: .events)
    growth.contexts = try lastRow(of: .contexts)
    growth.attempts = try lastRow(of: .attempts)
    return growth
  }
}
