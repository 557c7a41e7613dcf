// Operators' queries of contexts. Newest first: row ids are in order of arrival.

public import Domain

/// A context as displayed to operators.
public struct ContextSummary: Sendable, Equatable {
  public var id: ContextID
  public var app: AppSlug
  public var userID: UserID
  public var blob: ContextBlob
  public var receivedAt: Timestamp
  public var postedAt: Timestamp
  public var expiresAt: Timestamp
  /// Whether a purchase has it.
  public var isClaimed: Bool
  public var receiptID: ReceiptID?
  public var state: CheckoutStatus.State
}

/// Which contexts to list; a nil property does not restrict the list.
public struct ContextFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var userID: UserID?
  public var since: Timestamp?
  public var until: Timestamp?
  /// The last context of the previous page.
  public var after: ContextID?

  public init() {}
}

extension StoreReader {
  /// The rows of a filter are greater than `after` and less than `before`.
  func rows(_ filter: ContextFilter) throws(StoreFault) -> (after: Int64, before: Int64) {
    // An id begins with its creation time.
    func bound(_ moment: Timestamp) -> StoreValue {
      .text(ContextID.bound(at: moment))
    }
    func row(_ sql: String, _ value: StoreValue) throws(StoreFault) -> Int64? {
      try connection.prepare("SELECT row_id FROM contexts WHERE id \(sql) LIMIT 1")
        .first([value]) { row throws(StoreFault) in row.integer(0) }
    }
    var rows = (after: Int64(0), before: Int64.max)
    if let since = filter.since { rows.after = try row("< ?1 ORDER BY id DESC", bound(since)) ?? 0 }
    if let until = filter.until { rows.before = try row(">= ?1 ORDER BY id", bound(until)) ?? .max }
    // If this context was deleted meanwhile, the page begins at the next newer one.
    if let after = filter.after {
      rows.before = min(rows.before, try row(">= ?1 ORDER BY id", .text(after)) ?? .max)
    }
    return rows
  }

  /// Most users have few contexts, whose rows are listed. The plus keeps SQLite from scanning all rows, or
  /// an app's, instead.
  static func select(_ filter: ContextFilter, hasContent: Bool = true) -> String {
    let row = filter.userID == nil ? "c.row_id" : "+c.row_id"
    var conditions = ["\(row) > ?1", "\(row) < ?2"]
    if filter.userID != nil {
      conditions.append("c.row_id IN (SELECT value FROM json_each(?8)) AND c.user_id = ?3")
    }
    if filter.app != nil { conditions.append(filter.userID == nil ? "c.app = ?4" : "+c.app = ?4") }
    if filter.since != nil { conditions.append("c.received_at >= ?5") }
    if filter.until != nil { conditions.append("c.received_at < ?6") }
    let columns = columns(hasContent: hasContent)
    return "\(columns) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(row) DESC LIMIT ?7"
  }

  private static func columns(hasContent: Bool = true) -> String {
    """
    SELECT c.id, c.app, c.user_id, \(hasContent ? "c.ply_context" : "''"), c.price_id, c.received_at,
      c.posted_at, c.expires_at, p.row_id, p.receipt_id, p.state, p.reason,
      \(hasContent ? "c.frame, c.dictionary" : "NULL, NULL")
    FROM contexts c LEFT JOIN purchases p ON p.row_id = c.purchase_row
    """
  }

  /// - Parameter hasContent: whether what the apps posted is read, which no list shows; else it is empty.
  /// - Returns: at most `limit` contexts, newest first.
  public func contexts(
    _ filter: ContextFilter, now: Timestamp, limit: Int, hasContent: Bool = true
  ) throws(StoreFault) -> [ContextSummary] {
    try connection.snapshot { () throws(StoreFault) in
      let rows = try rows(filter)
      var values: [StoreValue] = [
        .integer(rows.after), .integer(rows.before), .optional(filter.userID), .optional(filter.app),
        filter.since.map { .time($0) } ?? .null, filter.until.map { .time($0) } ?? .null,
        .integer(Int64(limit)),
      ]
      if let user = filter.userID { values.append(try connection.engine.keys.list(.contextUser, user)) }
      return try connection.prepare(Self.select(filter, hasContent: hasContent)).all(values) {
        row throws(StoreFault) in
        try context(row, now: now)
      }
    }
  }

  /// A context by its id.
  public func context(
    id: ContextID, now: Timestamp = Timestamp(unixMilliseconds: 0)
  ) throws(StoreFault) -> ContextSummary? {
    try connection.prepare("\(Self.columns()) WHERE c.id = ?1").first([.text(id)]) { row throws(StoreFault) in
      try context(row, now: now)
    }
  }

  private func context(_ row: StoreRow, now: Timestamp) throws(StoreFault) -> ContextSummary {
    let receiptState = try row.optionalText(10).flatMap(ReceiptState.init)
    let reason = try row.optionalText(11).map(Reason.init)
    return ContextSummary(
      id: try row.text(0), app: try row.text(1), userID: try row.text(2),
      blob: ContextBlob(text: try ContextRows.text(row, at: 3, frame: 12), priceID: try row.optionalText(4)),
      receivedAt: Timestamp(unixMilliseconds: row.integer(5)),
      postedAt: Timestamp(unixMilliseconds: row.integer(6)),
      expiresAt: Timestamp(unixMilliseconds: row.integer(7)), isClaimed: !row.isNull(8),
      receiptID: try row.optionalText(9),
      state: .init(
        isClaimed: !row.isNull(8), isExpired: row.integer(7) <= now.unixMilliseconds, receiptState, reason))
  }
}
