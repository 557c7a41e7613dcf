// What the pages of apps need: each statement reads stored counts only.

public import Domain

extension StoreReader {
  static let countsOfAppSQL = """
    SELECT processor, state, sum(count) FROM receipt_counts WHERE app = ?1 GROUP BY processor, state
    """
  static let loudFailuresSQL = """
    SELECT r.app, sum(r.entered - coalesce(a.entered, r.entered - r.count))
    FROM receipt_counts r LEFT JOIN acknowledgements a ON a.app = r.app AND a.processor = r.processor
      AND a.reason = r.reason AND a.last_cause = r.last_cause
    WHERE r.state = 'failed' AND r.count > 0 AND coalesce(a.entered, -1) < r.entered
      AND r.app = coalesce(?1, r.app)
    GROUP BY r.app
    """

  /// The receipts of one app by processor and state.
  public func counts(app: AppSlug) throws(StoreFault) -> [ProcessorName: [ReceiptState: Int64]] {
    var counts: [ProcessorName: [ReceiptState: Int64]] = [:]
    try connection.prepare(Self.countsOfAppSQL).forEach([.text(app)]) { row throws(StoreFault) in
      let state = ReceiptState(rawValue: try row.text(1)) ?? .failed
      counts[try row.text(0), default: [:]][state] = row.integer(2)
    }
    return counts
  }

  /// The apps with failures that an operator should look at: how many receipts are in groups that nobody has
  /// acknowledged, or have failed since. An app without such failures is left out.
  public func loudFailures(app: AppSlug? = nil) throws(StoreFault) -> [AppSlug: Int64] {
    var failures: [AppSlug: Int64] = [:]
    try connection.prepare(Self.loudFailuresSQL).forEach([.optional(app)]) { row throws(StoreFault) in
      failures[try row.text(0)] = row.integer(1)
    }
    return failures
  }
}
