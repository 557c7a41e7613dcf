// Short queries over many receipts, for bulk commands and counts. They read no bodies.

public import Domain

/// The parts of a receipt that a bulk command needs.
public struct ReceiptOutline: Sendable, Equatable {
  public var row: PurchaseRowID
  public var id: ReceiptID
  public var app: AppSlug
  public var state: ReceiptState
  public var reason: Reason?
  public var createdAt: Timestamp
  /// Why the last attempt failed.
  public var cause: Reason?
}

extension StoreReader {
  /// The maximum number of ids in one query.
  public static let idsMax = 500

  /// - Returns: at most `limit` receipts, newest first. With a condition that no index has, only those of one
  ///   page; see `receiptPage`.
  public func outlines(_ filter: ReceiptFilter, limit: Int) throws(StoreFault) -> [ReceiptOutline] {
    try outlinePage(filter, limit: limit).entries
  }

  /// A page of a list, as `receiptPage`.
  func outlinePage(
    _ filter: ReceiptFilter, limit: Int
  ) throws(StoreFault) -> ListPage<ReceiptOutline, ReceiptID> {
    try connection.snapshot { () throws(StoreFault) in
      let page = try placePage(filter, limit: limit)
      return page.with(try outlines(rows: page.entries.map(\.row)))
    }
  }

  /// The receipts with these ids, in no particular order; unknown ids are left out.
  /// - Parameter ids: at most `idsMax`; more are ignored.
  public func outlines(ids: [ReceiptID]) throws(StoreFault) -> [ReceiptOutline] {
    let ids = Set(ids.prefix(Self.idsMax))
    return try outlines(rows: ids.compactMap(\.purchaseRow))
      .filter { ids.contains($0.id) }
  }

  private func outlines(rows: [PurchaseRowID]) throws(StoreFault) -> [ReceiptOutline] {
    let outline = """
      SELECT receipt_id, app, state, reason, created_at, row_id, last_cause
      FROM purchases WHERE state IS NOT NULL
      """
    return try read(rows, outline, row: \.row, Self.outline)
  }

  private static func outline(_ row: StoreRow) throws(StoreFault) -> ReceiptOutline {
    ReceiptOutline(
      row: row.integer(5), id: try row.text(0), app: try row.text(1),
      state: ReceiptState(rawValue: try row.text(2)) ?? .failed,
      reason: try row.optionalText(3).map(Reason.init),
      createdAt: Timestamp(unixMilliseconds: row.integer(4)), cause: try row.optionalText(6).map(Reason.init))
  }

  static let deliveredSQL = "SELECT app, sum(delivered) FROM delivery_counts WHERE minute >= ?1 GROUP BY app"

  /// How many receipts of each app were delivered since then, to the minute. The counts are kept for eight
  /// days, and are read once for all apps.
  public func delivered(since: Timestamp) throws(StoreFault) -> [AppSlug: Int64] {
    var counts: [AppSlug: Int64] = [:]
    try connection.prepare(Self.deliveredSQL).forEach([.integer(since.unixMinute)]) {
      row throws(StoreFault) in counts[try row.text(0)] = row.integer(1)
    }
    return counts
  }

  /// The newest row id of a table; 0 if it is empty.
  public func lastRow(of table: RetentionTable) throws(StoreFault) -> Int64 {
    try connection.integer("SELECT max(row_id) FROM \(table.rawValue)") ?? 0
  }

  /// The number of rows in each growing table. Reads all of their keys.
  public func rowCounts() throws(StoreFault) -> [(table: String, rows: Int64)] {
    var counts: [(String, Int64)] = []
    for table in ["contexts", "events", "purchases", "attempts"] {
      counts.append((table, try connection.integer("SELECT count(*) FROM \(table)") ?? 0))
    }
    return counts
  }
}
