// Short answers about many receipts, for bulk verbs and numbers. None of them reads a body.

public import Domain
public import SQLite

/// As much of a receipt as a bulk verb needs.
public struct ReceiptOutline: Sendable, Equatable {
  public var id: String
  public var app: String
  public var state: ReceiptState
  public var reason: Reason?
  public var createdAt: Timestamp

  public init(id: String, app: String, state: ReceiptState, reason: Reason?, createdAt: Timestamp) {
    self.id = id
    self.app = app
    self.state = state
    self.reason = reason
    self.createdAt = createdAt
  }
}

extension StoreReader {
  /// The most ids that one question may name; SQLite takes 32 766 values
  /// (https://www.sqlite.org/limits.html).
  public static let idsMax = 500

  /// - Returns: at most `limit` receipts, newest first.
  public func outlines(_ filter: ReceiptFilter, limit: Int) throws(SQLiteError) -> [ReceiptOutline] {
    let conditions = filter.conditions
    let sql = """
      SELECT p.receipt_id, p.app, p.state, p.reason, p.created_at FROM purchases p
      WHERE p.receipt_id IS NOT NULL\(conditions.map { " AND \($0.sql)" }.joined())
      ORDER BY p.receipt_id DESC LIMIT ?
      """
    return try connection.prepare(sql)
      .all(conditions.map(\.value) + [.integer(Int64(limit))], Self.outline)
  }

  /// The receipts with these ids, in no order; unknown ids are left out.
  /// - Parameter ids: at most `idsMax`; what comes after them is not looked at.
  public func outlines(ids: [String]) throws(SQLiteError) -> [ReceiptOutline] {
    let ids = ids.prefix(Self.idsMax)
    guard !ids.isEmpty else { return [] }
    let places = Array(repeating: "?", count: ids.count).joined(separator: ", ")
    let sql =
      "SELECT receipt_id, app, state, reason, created_at FROM purchases WHERE receipt_id IN (\(places))"
    return try connection.prepare(sql).all(ids.map(Value.text), Self.outline)
  }

  private static func outline(_ row: Row) throws(SQLiteError) -> ReceiptOutline {
    ReceiptOutline(
      id: try row.text(0), app: try row.text(1), state: ReceiptState(rawValue: try row.text(2)) ?? .failed,
      reason: try row.optionalText(3).map(Reason.init), createdAt: Timestamp(unixMilliseconds: row.integer(4))
    )
  }

  /// How many of an app's receipts were delivered at that moment or later.
  public func delivered(app: String, since: Timestamp) throws(SQLiteError) -> Int64 {
    try connection.prepare("SELECT count(*) FROM purchases WHERE app = ?1 AND delivered_at >= ?2")
      .first([.text(app), .time(since)]) { row throws(SQLiteError) in row.integer(0) } ?? 0
  }

  /// How many rows each table has that grows. Reads all of their keys.
  public func rowCounts() throws(SQLiteError) -> [(table: String, rows: Int64)] {
    var counts: [(String, Int64)] = []
    for table in ["contexts", "events", "purchases", "attempts"] {
      counts.append((table, try connection.integer("SELECT count(*) FROM \(table)") ?? 0))
    }
    return counts
  }
}
