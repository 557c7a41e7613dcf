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

  /// - Returns: at most `limit` changes, newest first.
  public func audit(_ filter: AuditFilter, limit: Int) throws(StoreFault) -> [AuditRecord] {
    var conditions: [(sql: String, value: StoreValue)] = []
    func add(_ sql: String, _ value: StoreValue?) { if let value { conditions.append((sql, value)) } }
    add("subject = ?", filter.subject.map(StoreValue.text))
    add("actor = ?", filter.actor.map(StoreValue.text))
    if let words = filter.action.map({ "\($0) " }) {
      add("substr(action || ' ', 1, \(words.unicodeScalars.count)) = ?", .text(words))
    }
    add("at >= ?", filter.since.map { .time($0) })
    add("at < ?", filter.until.map { .time($0) })
    add("row_id < ?", filter.after.map(StoreValue.integer))
    // Rows are in order of time, up to the difference of clocks; so a period is a range of rows, too.
    if filter.subject == nil {
      let slack = Self.clockDifferenceMax
      if let since = filter.since {
        add("row_id >= ?", .integer(try firstRow(of: .audit, from: since - slack)))
      }
      if let until = filter.until {
        add("row_id < ?", .integer(try firstRow(of: .audit, from: until.advanced(by: slack))))
      }
    }
    let sql = """
      SELECT row_id, at, actor, action, app, subject, reason, details FROM audit
      \(conditions.isEmpty ? "" : "WHERE " + conditions.map(\.sql).joined(separator: " AND "))
      ORDER BY row_id DESC LIMIT ?
      """
    return try connection.prepare(sql).all(conditions.map(\.value) + [.integer(Int64(limit))]) {
      row throws(StoreFault) in
      AuditRecord(
        row: row.integer(0),
        entry: AuditEntry(
          at: Timestamp(unixMilliseconds: row.integer(1)), actor: try row.text(2), action: try row.text(3),
          app: try row.optionalText(4), subject: try row.optionalText(5), reason: try row.optionalText(6),
          details: try row.text(7)))
    }
  }
}
