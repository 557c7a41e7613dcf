// Events and contexts, as operators ask for them. Newest first, by key.

public import Domain
public import SQLite

/// Which events to list; what is nil does not restrict.
public struct EventFilter: Sendable, Equatable {
  public var app: String?
  public var type: String?
  public var outcome: EventOutcome?
  public var since: Timestamp?
  public var until: Timestamp?
  /// The row of the event with which the page before ended; ids will not do, for several apps may get one
  /// event.
  public var after: Int64?
  var purchaseRow: Int64?

  public init() {}

  var conditions: [(sql: String, value: Value)] {
    var conditions: [(String, Value)] = []
    func add(_ sql: String, _ value: Value?) { if let value { conditions.append((sql, value)) } }
    add("e.app = ?", app.map(Value.text))
    add("e.type = ?", type.map(Value.text))
    add("e.outcome = ?", outcome.map { .text($0.rawValue) })
    add("e.received_at >= ?", since.map { .time($0) })
    add("e.received_at < ?", until.map { .time($0) })
    add("e.purchase_row = ?", purchaseRow.map(Value.integer))
    add("e.row_id < ?", after.map(Value.integer))
    return conditions
  }
}

/// A context, as operators see it.
public struct ContextSummary: Sendable, Equatable {
  public var id: String
  public var app: String
  public var userID: String
  public var blob: ContextBlob
  public var receivedAt: Timestamp
  public var postedAt: Timestamp
  public var expiresAt: Timestamp
  public var receiptID: String?
  public var state: CheckoutStatus.State
}

/// Which contexts to list; what is nil does not restrict.
public struct ContextFilter: Sendable, Equatable {
  public var app: String?
  public var userID: String?
  public var since: Timestamp?
  public var until: Timestamp?
  /// Where the page before ended.
  public var after: String?

  public init() {}
}

extension StoreReader {
  /// - Returns: at most `limit` events, newest first.
  public func events(_ filter: EventFilter, limit: Int) throws(SQLiteError) -> [EventSummary] {
    try connection.prepare(Self.sql(filter))
      .all(filter.conditions.map(\.value) + [.integer(Int64(limit))], Self.eventSummary)
  }

  static func sql(_ filter: EventFilter) -> String {
    let conditions = filter.conditions.map(\.sql).joined(separator: " AND ")
    return """
      SELECT e.event_id, e.app, e.processor, e.type, e.outcome, e.received_at, p.receipt_id, e.row_id
      FROM events e LEFT JOIN purchases p ON p.row_id = e.purchase_row
      \(conditions.isEmpty ? "" : "WHERE " + conditions)
      ORDER BY e.row_id DESC LIMIT ?
      """
  }

  /// The row of an event; nil when there is none. Without an app the newest of several, so that a page
  /// repeats an event rather than leaving one out.
  public func row(ofEvent id: String, app: String?) throws(SQLiteError) -> Int64? {
    try connection.prepare("SELECT max(row_id) FROM events WHERE event_id = ?1 AND app = coalesce(?2, app)")
      .first([.text(id), .optional(app)]) { row throws(SQLiteError) in row.optionalInteger(0) } ?? nil
  }

  private static func eventSummary(_ row: Row) throws(SQLiteError) -> EventSummary {
    EventSummary(
      row: row.integer(7), id: try row.text(0), app: try row.text(1), processor: try row.text(2),
      type: try row.text(3),
      outcome: try row.text(4), receivedAt: Timestamp(unixMilliseconds: row.integer(5)),
      receiptID: try row.optionalText(6))
  }

  /// The events with this id (one per app that got it), each with its raw bytes.
  public func events(id: String) throws(SQLiteError) -> [(summary: EventSummary, body: [UInt8])] {
    try connection.prepare(
      """
      SELECT e.event_id, e.app, e.processor, e.type, e.outcome, e.received_at, p.receipt_id, e.row_id, e.body
      FROM events e LEFT JOIN purchases p ON p.row_id = e.purchase_row WHERE e.event_id = ?1 ORDER BY e.row_id
      """
    ).all([.text(id)]) { row throws(SQLiteError) in (try Self.eventSummary(row), row.blob(8)) }
  }

  /// - Returns: at most `limit` contexts, newest first.
  public func contexts(
    _ filter: ContextFilter, now: Timestamp, limit: Int
  ) throws(SQLiteError) -> [ContextSummary] {
    var conditions: [(String, Value)] = []
    func add(_ sql: String, _ value: Value?) { if let value { conditions.append((sql, value)) } }
    add("c.app = ?", filter.app.map(Value.text))
    add("c.user_id = ?", filter.userID.map(Value.text))
    add("c.received_at >= ?", filter.since.map { .time($0) })
    add("c.received_at < ?", filter.until.map { .time($0) })
    add("c.id < ?", filter.after.map(Value.text))
    let condition = conditions.map(\.0).joined(separator: " AND ")
    return try contexts(
      condition, conditions.map(\.1) + [.integer(Int64(limit))], now: now, tail: "ORDER BY c.id DESC LIMIT ?")
  }

  /// A context by its id.
  public func context(
    id: String, now: Timestamp = Timestamp(unixMilliseconds: 0)
  ) throws(SQLiteError) -> ContextSummary? {
    try contexts("c.id = ?", [.text(id)], now: now, tail: "").first
  }

  private func contexts(
    _ condition: String, _ values: [Value], now: Timestamp, tail: String
  ) throws(SQLiteError) -> [ContextSummary] {
    let sql = """
      SELECT c.id, c.app, c.user_id, c.ply_context, c.price_id, c.received_at, c.posted_at, c.expires_at,
        p.row_id, p.receipt_id, p.state, p.reason
      FROM contexts c LEFT JOIN purchases p ON p.row_id = c.purchase_row
      \(condition.isEmpty ? "" : "WHERE \(condition)") \(tail)
      """
    return try connection.prepare(sql).all(values) { row throws(SQLiteError) in
      let receiptState = try row.optionalText(10).flatMap(ReceiptState.init)
      let reason = try row.optionalText(11).map(Reason.init)
      return ContextSummary(
        id: try row.text(0), app: try row.text(1), userID: try row.text(2),
        blob: ContextBlob(text: try row.text(3), priceID: try row.optionalText(4)),
        receivedAt: Timestamp(unixMilliseconds: row.integer(5)),
        postedAt: Timestamp(unixMilliseconds: row.integer(6)),
        expiresAt: Timestamp(unixMilliseconds: row.integer(7)), receiptID: try row.optionalText(9),
        state: .init(
          isClaimed: !row.isNull(8), isExpired: row.integer(7) <= now.unixMilliseconds, receiptState, reason))
    }
  }
}
