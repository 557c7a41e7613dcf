// Receipts, as operators ask for them. Lists are read newest first by key, so a page costs the same wherever
// it begins.

public import Domain
public import SQLite

/// Which receipts to list; what is nil does not restrict.
public struct ReceiptFilter: Sendable, Equatable {
  public var app: String?
  public var state: ReceiptState?
  public var userID: String?
  public var reason: String?
  public var objectID: String?
  public var importID: String?
  /// Made at or after.
  public var since: Timestamp?
  /// Made before.
  public var until: Timestamp?
  /// Only those that come after this receipt id in the list: where the page before ended.
  public var after: String?

  public init() {}

  var conditions: [(sql: String, value: Value)] {
    var conditions: [(String, Value)] = []
    func add(_ sql: String, _ value: Value?) { if let value { conditions.append((sql, value)) } }
    add("p.app = ?", app.map(Value.text))
    // The second half is what the partial index needs to be used.
    add(
      "p.state = ?\(state == .delivered ? "" : " AND p.state <> 'delivered'")",
      state.map { .text($0.rawValue) })
    add("p.user_id = ?", userID.map(Value.text))
    add("p.reason = ?", reason.map(Value.text))
    add("p.object_id = ?", objectID.map(Value.text))
    add("p.import_id = ?", importID.map(Value.text))
    add("p.created_at >= ?", since.map { .time($0) })
    add("p.created_at < ?", until.map { .time($0) })
    add("p.receipt_id < ?", after.map(Value.text))
    return conditions
  }
}

/// A try, as the log has it.
public struct LoggedAttempt: Sendable, Equatable {
  public var number: Int64
  public var report: AttemptReport
}

/// An event, without its bytes.
public struct EventSummary: Sendable, Equatable {
  /// Its place in the list.
  public var row: Int64
  public var id: String
  public var app: String
  public var processor: String
  public var type: String
  public var outcome: String
  public var receivedAt: Timestamp
  /// The receipt that it belongs to.
  public var receiptID: String?
}

/// Everything about one receipt.
public struct ReceiptDetail: Sendable, Equatable {
  public var record: PurchaseRecord
  public var attempts: [LoggedAttempt]
  public var events: [EventSummary]
  public var context: ContextSummary?
}

extension StoreReader {
  /// - Returns: at most `limit` receipts, newest first.
  public func receipts(_ filter: ReceiptFilter, limit: Int) throws(SQLiteError) -> [PurchaseRecord] {
    try connection.prepare(Self.sql(filter))
      .all(filter.conditions.map(\.value) + [.integer(Int64(limit))], PurchaseRow.record)
  }

  static func sql(_ filter: ReceiptFilter) -> String {
    let columns = PurchaseRow.columns.map { "p.\($0)" }.joined(separator: ", ")
    return """
      SELECT \(columns) FROM purchases p
      WHERE p.receipt_id IS NOT NULL\(filter.conditions.map { " AND \($0.sql)" }.joined())
      ORDER BY p.receipt_id DESC LIMIT ?
      """
  }

  /// How many receipts a filter names, by reason, with the oldest and the newest.
  public func summary(of filter: ReceiptFilter) throws(SQLiteError) -> [ReceiptGroup] {
    let conditions = filter.conditions
    let sql = """
      SELECT p.state, coalesce(p.reason, ''), count(*), min(p.created_at), max(p.created_at) FROM purchases p
      WHERE p.receipt_id IS NOT NULL\(conditions.map { " AND \($0.sql)" }.joined())
      GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2
      """
    return try connection.prepare(sql).all(conditions.map(\.value)) { row throws(SQLiteError) in
      ReceiptGroup(
        state: try row.text(0), reason: try row.text(1), count: row.integer(2),
        oldest: Timestamp(unixMilliseconds: row.integer(3)),
        newest: Timestamp(unixMilliseconds: row.integer(4)))
    }
  }

  /// A receipt by its id.
  public func receipt(id: String) throws(SQLiteError) -> PurchaseRecord? {
    try connection.prepare("SELECT \(PurchaseRow.columnList) FROM purchases WHERE receipt_id = ?1")
      .first([.text(id)], PurchaseRow.record)
  }

  /// Everything about a receipt; nil when there is none with this id.
  public func detail(receipt id: String) throws(SQLiteError) -> ReceiptDetail? {
    guard let record = try receipt(id: id) else { return nil }
    let attempts = try connection.prepare(
      """
      SELECT number, at, duration_ms, status, error, ambiguous, response FROM attempts
      WHERE purchase_row = ?1 ORDER BY number
      """
    ).all([.integer(record.rowID)]) { row throws(SQLiteError) in
      LoggedAttempt(
        number: row.integer(0),
        report: AttemptReport(
          startedAt: Timestamp(unixMilliseconds: row.integer(1)), durationMilliseconds: row.integer(2),
          status: row.optionalInteger(3), error: try row.optionalText(4), isAmbiguous: row.flag(5),
          response: row.blob(6)))
    }
    var filter = EventFilter()
    filter.purchaseRow = record.rowID
    let events = try events(filter, limit: 1000)
    var context: ContextSummary?
    if let id = record.purchase.contextID { context = try self.context(id: id) }
    return ReceiptDetail(record: record, attempts: attempts, events: events.reversed(), context: context)
  }
}

/// Receipts of one state and reason.
public struct ReceiptGroup: Sendable, Equatable {
  public var state: String
  /// Empty where there is none.
  public var reason: String
  public var count: Int64
  public var oldest: Timestamp
  public var newest: Timestamp
}
