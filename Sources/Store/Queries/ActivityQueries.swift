// Recent activity, read from the ends of the tables: the cost does not depend on the database's size.

public import Domain

/// A delivery attempt with its receipt.
public struct RecentAttempt: Sendable, Equatable {
  public var app: AppSlug
  public var receiptID: ReceiptID?
  public var report: AttemptReport
}

/// How far the tables have grown; the difference of two values is the number of new rows.
public struct Growth: Sendable, Equatable {
  public var events: Int64 = 0
  public var contexts: Int64 = 0
  public var attempts: Int64 = 0

  public init() {}
}

extension StoreReader {
  /// The newest attempts, newest first, without their answers.
  public func recentAttempts(limit: Int) throws(StoreFault) -> [RecentAttempt] {
    try connection.prepare(
      """
      SELECT p.app, p.receipt_id, a.at, a.duration_ms, a.status, a.error, a.ambiguous, a.detail
      FROM attempts a JOIN purchases p ON p.row_id = a.purchase_row ORDER BY a.row_id DESC LIMIT ?1
      """
    ).all([.integer(Int64(limit))]) { row throws(StoreFault) in
      RecentAttempt(
        app: try row.text(0), receiptID: try row.optionalText(1),
        report: AttemptReport(
          startedAt: Timestamp(unixMilliseconds: row.integer(2)), duration: row.duration(3),
          status: row.optionalInteger(4), error: try row.optionalText(5), detail: try row.optionalText(7),
          isAmbiguous: row.flag(6), response: []))
    }
  }

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
