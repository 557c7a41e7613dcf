// Operators' queries of the audit. Newest first, by key.

public import Domain

/// Which changes to list; a nil property does not restrict the list.
public struct AuditFilter: Sendable, Equatable {
  /// The id of what was changed.
  public var subject: String?
  /// Who made it.
  public var actor: String?
  /// The command, or its first words: `apps` finds `apps pause`.
  public var action: String?
  public var since: Timestamp?
  public var until: Timestamp?
  /// The last row of the previous page.
  public var after: Int64?

  public init() {}
}

/// One change with its row id, which is displayed as its number.
public struct AuditRecord: Sendable, Equatable {
  public var row: Int64
  public var entry: AuditEntry
}

extension StoreReader {
  /// The random key of this database for the dashboard's form tokens and cookies. A migration made it.
  public func adminKey() throws(StoreFault) -> [UInt8] {
    let sql = "SELECT key FROM admin_key WHERE row_id = 1"
    guard let key = try connection.prepare(sql).first([], { row throws(StoreFault) in row.blob(0) }) else {
      throw StoreFault(.corrupt, operation: "admin key", reason: "the database has no key for the dashboard")
    }
    return key
  }

  /// The changes of a purchase's receipt and of its payment.
  /// - Parameter limit: of each.
  public func audit(of record: PurchaseRecord, limit: Int) throws(StoreFault) -> [AuditRecord] {
    var found: [AuditRecord] = []
    for subject in [record.receipt?.id.text, record.purchase.key.id.text].compactMap(\.self) {
      var filter = AuditFilter()
      filter.subject = subject
      found += try audit(filter, limit: limit).filter { $0.entry.app == record.app }
    }
    return found
  }

  /// - Returns: at most `limit` changes, newest first; see `auditPage`.
  public func audit(_ filter: AuditFilter, limit: Int) throws(StoreFault) -> [AuditRecord] {
    try auditPage(filter, limit: limit).entries
  }

  /// Changes, newest first: at most `limit`, and fewer if `comparedMax` were compared.
  public func auditPage(
    _ filter: AuditFilter, limit: Int, comparing comparedMax: Int = comparedMax
  ) throws(StoreFault) -> ListPage<AuditRecord, Int64> {
    try connection.snapshot { () throws(StoreFault) in
      let (matching, values) = Self.matching(filter)
      let bound = matching.isEmpty ? limit + 1 : comparedMax
      let range = try auditRange(filter) + [.integer(Int64(bound))]
      let found = try connection.prepare(Self.auditSQL(filter, matching)).all(
        range + values + [.integer(Int64(limit + 1))], Self.auditRecord)
      return try ListPage(
        found, limit: limit, comparing: matching.isEmpty ? nil : bound, position: \.row
      ) { () throws(StoreFault) in
        let sql = "SELECT count(*), min(row_id) FROM (\(Self.auditCandidates("row_id", filter))) AS c"
        return try connection.prepare(sql).first(range) { row throws(StoreFault) in
          (count: Int(clamping: row.integer(0)), last: row.integer(1))
        }
      }
    }
  }

  /// The rows of a filter are between the first two values; the third is the subject.
  private func auditRange(_ filter: AuditFilter) throws(StoreFault) -> [StoreValue] {
    var (after, before) = (Int64(0), filter.after ?? .max)
    // Rows are in order of time, up to the difference of clocks; so a period is a range of rows, too.
    let slack = Self.clockDifferenceMax
    if let since = filter.since { after = try firstRow(of: .audit, from: since - slack) - 1 }
    if let until = filter.until {
      before = min(before, try firstRow(of: .audit, from: until.advanced(by: slack)))
    }
    return [.integer(after), .integer(before), .optional(filter.subject)]
  }

  /// The conditions that are compared change by change.
  private static func matching(_ filter: AuditFilter) -> (sql: String, values: [StoreValue]) {
    var conditions: [(sql: String, value: StoreValue)] = []
    func add(_ sql: String, _ value: StoreValue?) { if let value { conditions.append((sql, value)) } }
    add("c.actor = ?", filter.actor.map(StoreValue.text))
    if let words = filter.action.map({ "\($0) " }) {
      add("substr(c.action || ' ', 1, \(words.unicodeScalars.count)) = ?", .text(words))
    }
    add("c.at >= ?", filter.since.map { .time($0) })
    add("c.at < ?", filter.until.map { .time($0) })
    return (conditions.map(\.sql).joined(separator: " AND "), conditions.map(\.value))
  }

  /// The newest changes, or those of a subject: at most as many as the fourth parameter says.
  private static func auditCandidates(_ columns: String, _ filter: AuditFilter) -> String {
    """
    SELECT \(columns) FROM audit
    WHERE row_id > ?1 AND row_id < ?2\(filter.subject == nil ? "" : " AND subject = ?3")
    ORDER BY row_id DESC LIMIT ?4
    """
  }

  /// The candidates that match. What is shown is read of them only.
  static func auditSQL(_ filter: AuditFilter, _ matching: String) -> String {
    """
    SELECT a.row_id, a.at, a.actor, a.action, a.app, a.subject, a.reason, a.details
    FROM (
      SELECT c.row_id FROM (\(auditCandidates("row_id, at, actor, action", filter))) AS c
      \(matching.isEmpty ? "" : "WHERE \(matching)") ORDER BY c.row_id DESC LIMIT ?) AS f
    JOIN audit a ON a.row_id = f.row_id ORDER BY f.row_id DESC
    """
  }

  private static func auditRecord(_ row: StoreRow) throws(StoreFault) -> AuditRecord {
    AuditRecord(
      row: row.integer(0),
      entry: AuditEntry(
        at: Timestamp(unixMilliseconds: row.integer(1)), actor: try row.text(2), action: try row.text(3),
        app: try row.optionalText(4), subject: try row.optionalText(5), reason: try row.optionalText(6),
        details: try row.text(7)))
  }
}
