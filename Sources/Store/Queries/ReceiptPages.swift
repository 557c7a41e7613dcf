// Where the receipts of a list stand, newest first. A page costs the same wherever it begins and however many
// receipts there are: what names few receipts (a user, an object, an import) is looked up by its own index;
// all other lists are put together from the groups of app, state and reason, each of which is an index in
// order.

public import Domain
public import SQLite

/// One receipt's place in the lists.
struct ReceiptPlace {
  var id: String
  var row: Int64
}

extension ReceiptFilter {
  /// What names few receipts.
  fileprivate var narrow: (sql: String, value: Value)? {
    if let objectID { return ("object_id = ?", .text(objectID)) }
    if let importID { return ("import_id = ?", .text(importID)) }
    if let userID { return ("user_id = ?", .text(userID)) }
    return nil
  }

  /// All of it, for the few that `narrow` names.
  fileprivate var conditions: [(sql: String, value: Value)] {
    var conditions: [(String, Value)] = []
    func add(_ sql: String, _ value: Value?) { if let value { conditions.append((sql, value)) } }
    add("object_id = ?", objectID.map(Value.text))
    add("import_id = ?", importID.map(Value.text))
    add("user_id = ?", userID.map(Value.text))
    add("app = ?", app.map(Value.text))
    add("state = ?", state.map { .text($0.rawValue) })
    add("reason = ?", reason.map(Value.text))
    add("receipt_id > ?", .text(bounds.lower))
    add("receipt_id < ?", .text(bounds.upper))
    return conditions
  }

  /// Between which ids the receipts lie: an id begins with the time at which its receipt was made.
  fileprivate var bounds: (lower: String, upper: String) {
    let prefix = Identifier.receiptPrefix
    let lower = since.map { Identifier.bound(prefix: prefix, at: $0) } ?? ""
    // Behind every id: `~` sorts after all of its characters.
    var upper = until.map { Identifier.bound(prefix: prefix, at: $0) } ?? "~"
    if let after, after.utf8.lexicographicallyPrecedes(upper.utf8) { upper = after }
    return (lower, upper)
  }

  fileprivate func includes(_ group: CountRows.Group) -> Bool {
    (app == nil || app == group.app) && (state == nil || state?.rawValue == group.state)
      && (reason == nil || reason == group.reason)
  }
}

extension StoreReader {
  static let groupSQL = """
    SELECT receipt_id, row_id FROM purchases
    WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND receipt_id > ?4 AND receipt_id < ?5
    ORDER BY receipt_id DESC LIMIT ?6
    """

  /// - Returns: at most `limit` places, newest first.
  func places(_ filter: ReceiptFilter, limit: Int) throws(SQLiteError) -> [ReceiptPlace] {
    guard limit > 0 else { return [] }
    if filter.narrow != nil { return try fewPlaces(filter, limit: limit) }
    let reading = try connection.prepare(Self.groupSQL)
    let upper = filter.bounds.upper
    var lower = filter.bounds.lower
    var found: [ReceiptPlace] = []
    for (group, _) in try groups(filter) {
      let more = try reading.all(
        Self.values(of: group) + [.text(lower), .text(upper), .integer(Int64(limit))],
        Self.place)
      guard !more.isEmpty else { continue }
      found = Array((found + more).sorted { $1.id.utf8.lexicographicallyPrecedes($0.id.utf8) }.prefix(limit))
      // What is older than a whole page need not be read from the groups that follow.
      if found.count == limit, let last = found.last { lower = last.id }
    }
    return found
  }

  private static func place(_ row: Row) throws(SQLiteError) -> ReceiptPlace {
    ReceiptPlace(id: try row.text(0), row: row.integer(1))
  }

  /// A group as the first three values of `groupSQL`.
  private static func values(of group: CountRows.Group) -> [Value] {
    [.text(group.app), .text(group.state), group.reason.isEmpty ? .null : .text(group.reason)]
  }

  static func fewSQL(_ filter: ReceiptFilter) -> String {
    """
    SELECT receipt_id, row_id FROM purchases
    WHERE state IS NOT NULL AND \(filter.conditions.map(\.sql).joined(separator: " AND "))
    ORDER BY receipt_id DESC LIMIT ?
    """
  }

  private func fewPlaces(_ filter: ReceiptFilter, limit: Int) throws(SQLiteError) -> [ReceiptPlace] {
    try connection.prepare(Self.fewSQL(filter))
      .all(filter.conditions.map(\.value) + [.integer(Int64(limit))], Self.place)
  }

  /// The groups that a filter touches, with how many receipts each has in all.
  private func groups(_ filter: ReceiptFilter) throws(SQLiteError) -> [(group: CountRows.Group, count: Int64)]
  {
    try connection.prepare("SELECT app, state, reason, count FROM receipt_counts WHERE count > 0")
      .all { row throws(SQLiteError) in
        let group = CountRows.Group(app: try row.text(0), state: try row.text(1), reason: try row.text(2))
        return (group, row.integer(3))
      }.filter { filter.includes($0.group) }
  }

  /// How many receipts a filter names, by state and reason, with the oldest and the newest. Costs the more
  /// the more there are only if the filter names a time.
  public func summary(of filter: ReceiptFilter) throws(SQLiteError) -> [ReceiptGroup] {
    var summary: [ReceiptGroup] = []
    func add(_ group: ReceiptGroup) {
      guard group.count > 0 else { return }
      if let index = summary.firstIndex(where: { $0.state == group.state && $0.reason == group.reason }) {
        summary[index].count += group.count
        summary[index].oldest = min(summary[index].oldest, group.oldest)
        summary[index].newest = max(summary[index].newest, group.newest)
      } else {
        summary.append(group)
      }
    }
    try connection.snapshot { () throws(SQLiteError) in
      if filter.narrow != nil {
        for record in try receipts(filter, limit: .max) {
          guard let receipt = record.receipt else { continue }
          add(
            ReceiptGroup(
              state: receipt.state.rawValue, reason: receipt.reason?.text ?? "", count: 1,
              oldest: receipt.createdAt, newest: receipt.createdAt))
        }
      } else {
        for (group, count) in try groups(filter) {
          if let counted = try self.count(group, of: count, filter) { add(counted) }
        }
      }
    }
    return summary.sorted { ($1.count, $0.state, $0.reason) < ($0.count, $1.state, $1.reason) }
  }

  private func count(
    _ group: CountRows.Group, of total: Int64, _ filter: ReceiptFilter
  ) throws(SQLiteError) -> ReceiptGroup? {
    let values = Self.values(of: group) + [.text(filter.bounds.lower), .text(filter.bounds.upper)]
    let condition =
      "app = ?1 AND state = ?2 AND reason IS ?3 AND receipt_id > ?4 AND receipt_id < ?5"
    func edge(_ order: String) throws(SQLiteError) -> Timestamp? {
      try connection.prepare(
        "SELECT created_at FROM purchases WHERE \(condition) ORDER BY receipt_id \(order) LIMIT 1"
      ).first(values) { row throws(SQLiteError) in row.timestamp(0) } ?? nil
    }
    guard let oldest = try edge("ASC"), let newest = try edge("DESC") else { return nil }
    let isWhole = filter.since == nil && filter.until == nil && filter.after == nil
    let count =
      isWhole
      ? total
      : try connection.prepare("SELECT count(*) FROM purchases WHERE \(condition)")
        .first(values) { row throws(SQLiteError) in row.integer(0) } ?? 0
    return ReceiptGroup(
      state: group.state, reason: group.reason, count: count, oldest: oldest, newest: newest)
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
