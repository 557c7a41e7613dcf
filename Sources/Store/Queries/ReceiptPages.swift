// Finds the receipts of a list, newest first. The cost of a page does not depend on its position or on the
// number of receipts: a filter that selects few receipts (a user, an object, an import) uses its own index;
// other lists merge the groups of app, state and reason, each of which is ordered by an index.

internal import Domain
internal import Formats

/// One receipt's position in the lists.
struct ReceiptPlace {
  var id: ReceiptID
  var row: PurchaseRowID
}

extension ReceiptFilter {
  fileprivate typealias Condition = (sql: String, values: [StoreValue])

  /// The condition that selects few receipts.
  fileprivate func narrow(_ keys: any KeyIndex) throws(StoreFault) -> Condition? {
    let listed = "SELECT value FROM json_each(?2)"
    func sold(_ id: ObjectID) throws(StoreFault) -> Condition {
      // An object is found by its own id and by the id of the checkout that sold it.
      (
        """
        row_id IN (SELECT row_id FROM purchases WHERE object_id = ?1 UNION ALL \(listed))
        AND (+object_id = ?1 OR +session_id = ?1)
        """, [.text(id), try keys.list(.session, id)]
      )
    }
    if let objectID { return try sold(objectID) }
    if let sessionID { return try sold(ObjectID(sessionID)) }
    if let importID { return ("import_id = ?", [.text(importID)]) }
    if let customerID {
      let rows = try keys.list(.customer, customerID)
      return ("row_id IN (\(listed)) AND +customer_id = ?1", [.text(customerID), rows])
    }
    if let userID {
      let rows = try keys.list(.user, userID)
      return (
        "row_id IN (\(listed)) AND (+user_id = ?1 OR instr(other_names, ?3) > 0)",
        [.text(userID), rows, NamesColumn.part(of: userID)]
      )
    }
    if isInConflict { return ("user_conflict = 1", []) }
    return nil
  }

  /// Whether it selects few receipts.
  var isNarrow: Bool {
    objectID != nil || sessionID != nil || importID != nil || customerID != nil || userID != nil
      || isInConflict
  }

  /// The other conditions, for the few receipts of `narrow`. The plus keeps SQLite from using them to scan a
  /// whole group (https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_).
  fileprivate var rest: [Condition] {
    var conditions: [Condition] = []
    func add(_ sql: String, _ value: StoreValue?) { if let value { conditions.append((sql, [value])) } }
    if let sessionID {
      conditions.append(("(+session_id = ? OR +object_id = ?)", [.text(sessionID), .text(sessionID)]))
    }
    add("+import_id = ?", importID.map(StoreValue.text))
    add("+customer_id = ?", customerID.map(StoreValue.text))
    if let userID {
      conditions.append(
        ("(+user_id = ? OR instr(other_names, ?) > 0)", [.text(userID), NamesColumn.part(of: userID)]))
    }
    add("+app = ?", app.map(StoreValue.text))
    add("+processor = ?", processor.map(StoreValue.text))
    if !states.isEmpty {
      let marks = states.map { _ in "?" }.joined(separator: ", ")
      conditions.append(("+state IN (\(marks))", states.map { .text($0.rawValue) }))
    }
    if let reason {
      // Without a reason, lists show the cause of the last attempt in its place.
      conditions.append(
        reason.isEmpty
          ? ("+reason IS NULL", []) : ("coalesce(reason, last_cause) = ?", [.text(reason)]))
    }
    add("+last_cause IS ?", cause.map { $0.isEmpty ? .null : .text($0) })
    if lacksImportID {
      let delivered = StoreValue.text(ReceiptState.delivered.rawValue)
      add("+import_id IS NULL AND +user_id IS NOT NULL AND +state = ?", delivered)
    }
    add("+user_conflict = ?", isInConflict ? .flag(true) : nil)
    add("+receipt_id > ?", .text(bounds.lower))
    add("+receipt_id < ?", .text(bounds.upper))
    return conditions
  }

  /// The range of ids: an id begins with the creation time of its receipt.
  var bounds: (lower: String, upper: String) {
    var lower = since.map { ReceiptID.bound(at: $0) } ?? ""
    // Greater than every id: `~` sorts after all characters of an id.
    var upper = until.map { ReceiptID.bound(at: $0) } ?? "~"
    if let beginning {
      if lower.utf8.lexicographicallyPrecedes(beginning.utf8) { lower = beginning }
      if "\(beginning)~".utf8.lexicographicallyPrecedes(upper.utf8) { upper = "\(beginning)~" }
    }
    if let after = after?.text, after.utf8.lexicographicallyPrecedes(upper.utf8) { upper = after }
    return (lower, upper)
  }

  func includes(_ group: CountRows.Group) -> Bool {
    (app == nil || app == group.app) && (processor == nil || processor == group.processor)
      && (states.isEmpty || states.contains { $0.rawValue == group.state })
      && (reason == nil || reason == group.reason || group.reason.isEmpty && reason == group.cause)
      && (cause == nil || cause == group.cause)
      && (!lacksImportID || group.state == ReceiptState.delivered.rawValue)
      && (status?.mayBeLast(in: group) ?? true)
  }
}

extension StoreReader {
  static let groupSQL = """
    SELECT receipt_id, row_id FROM purchases
    WHERE app = ?1 AND state = ?2 AND reason IS ?3 AND last_cause IS ?4 AND processor = ?5
      AND receipt_id > ?6 AND receipt_id < ?7
    \(newestFirst) LIMIT ?8
    """
  /// In a group, that is by id. PostgreSQL sorts a group whose reason is NULL unless the statement names the
  /// index's columns.
  static let newestFirst = "ORDER BY reason DESC, last_cause DESC, receipt_id DESC"
  /// The terms of the partial index `purchases_without_import_id`; the other conditions only use the
  /// remaining parameters.
  static let withoutImportIDSQL = """
    SELECT receipt_id, row_id FROM purchases INDEXED BY purchases_without_import_id
    WHERE app = ?1 AND state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL
      AND +state = ?2 AND +reason IS ?3 AND +last_cause IS ?4 AND +processor = ?5
      AND receipt_id > ?6 AND receipt_id < ?7
    ORDER BY receipt_id DESC LIMIT ?8
    """

  /// - Returns: at most `limit` positions, newest first.
  func places(_ filter: ReceiptFilter, limit: Int) throws(StoreFault) -> [ReceiptPlace] {
    guard limit > 0 else { return [] }
    if let few = try Self.few(filter, connection.engine.keys) {
      return try connection.prepare(few.sql).all(few.values + [.integer(Int64(limit))], Self.place)
    }
    let groups = try groups(filter)
    let bounds = filter.bounds
    var lower = bounds.lower
    var found: [ReceiptPlace] = []
    // Where each statement waits for the network, all groups but the largest are one part.
    let parts =
      connection.engine.hasRoundTrips
      ? [groups.prefix(1), groups.dropFirst()] : groups.indices.map { groups[$0...$0] }
    for part in parts where !part.isEmpty {
      let more = try places(of: part, filter, (lower, bounds.upper), limit)
      found = Array((found + more).sorted { $0.id > $1.id }.prefix(limit))
      // The following groups need no receipts older than a full page.
      if found.count == limit, let last = found.last { lower = last.id.text }
    }
    return found
  }

  private func places(
    of groups: ArraySlice<CountRows.Group>, _ filter: ReceiptFilter, _ bounds: (lower: String, upper: String),
    _ limit: Int
  ) throws(StoreFault) -> [ReceiptPlace] {
    let limits: [StoreValue] = [.text(bounds.lower), .text(bounds.upper), .integer(Int64(limit))]
    guard connection.engine.hasRoundTrips else {
      let reading = try connection.prepare(filter.lacksImportID ? Self.withoutImportIDSQL : Self.groupSQL)
      var found: [ReceiptPlace] = []
      for group in groups { found += try reading.all(Self.values(of: group) + limits, Self.place) }
      return found
    }
    let joined = Self.joinedSQL(groups, withoutImportID: filter.lacksImportID)
    return try connection.prepare("\(joined)\nORDER BY receipt_id DESC LIMIT ?4")
      .all([Self.json(of: groups)] + limits, Self.place)
  }

  private static func place(_ row: StoreRow) throws(StoreFault) -> ReceiptPlace {
    ReceiptPlace(id: try row.text(0), row: row.integer(1))
  }

  /// A group as the first five values of `groupSQL`.
  static func values(of group: CountRows.Group) -> [StoreValue] {
    [
      .text(group.app), .text(group.state), group.reason.isEmpty ? .null : .text(group.reason),
      group.cause.isEmpty ? .null : .text(group.cause), .text(group.processor),
    ]
  }

  /// - Returns: the statement, and the values of all its parameters but the last, the limit; nil if the
  ///   filter has no condition with its own index.
  static func few(
    _ filter: ReceiptFilter, _ keys: any KeyIndex
  ) throws(StoreFault) -> (sql: String, values: [StoreValue])? {
    guard let narrow = try filter.narrow(keys) else { return nil }
    let conditions = [narrow] + filter.rest
    return (
      """
      SELECT receipt_id, row_id FROM purchases
      WHERE \(conditions.map(\.sql).joined(separator: " AND ")) AND state IS NOT NULL
      ORDER BY receipt_id DESC LIMIT ?
      """, conditions.flatMap(\.values)
    )
  }

  /// The groups that match a filter, the largest first: with it a page is often full, and bounds the others.
  func groups(_ filter: ReceiptFilter) throws(StoreFault) -> [CountRows.Group] {
    try connection.prepare(
      """
      SELECT app, state, reason, last_cause, processor FROM receipt_counts WHERE count > 0
      ORDER BY count DESC
      """
    ).all { row throws(StoreFault) in try CountRows.Group(row) }.filter(filter.includes)
  }
}

extension CountRows.Group {
  /// From `app, state, reason, last_cause, processor` of `receipt_counts`.
  init(_ row: StoreRow) throws(StoreFault) {
    self.init(
      app: try row.text(0), processor: try row.text(4), state: try row.text(1), reason: try row.text(2),
      cause: try row.text(3))
  }
}

// MARK: - Joined

// The groups of a list in one statement, for PostgreSQL, where each statement waits for the network.

extension StoreReader {
  /// Positions in all groups: the parameters are the groups as JSON, the bounds of the ids, and the limit.
  ///
  /// PostgreSQL uses an index for `= g.reason` and for `IS NULL`, not for a comparison that handles both, so
  /// there is a query for each that the groups need. It knows the order of an index only if the statement
  /// names all of its columns.
  private static func joinedSQL(_ groups: ArraySlice<CountRows.Group>, withoutImportID: Bool) -> String {
    let columns = ["app", "state", "reason", "cause", "processor"].map { "\($0) text COLLATE \"C\"" }
    let kinds = [(false, false), (false, true), (true, false), (true, true)].filter { hasReason, hasCause in
      groups.contains { $0.reason.isEmpty != hasReason && $0.cause.isEmpty != hasCause }
    }
    let parts = kinds.map { hasReason, hasCause in
      """
      SELECT p.receipt_id, p.row_id
      FROM jsonb_to_recordset(?1::jsonb) AS g (\(columns.joined(separator: ", ")))
      CROSS JOIN LATERAL (
        SELECT receipt_id, row_id FROM purchases
        WHERE app = g.app AND state = g.state AND reason \(hasReason ? "= g.reason" : "IS NULL")
          AND last_cause \(hasCause ? "= g.cause" : "IS NULL") AND processor = g.processor
          AND receipt_id > ?2 AND receipt_id < ?3 \(withoutImportID ? lackingImportID : inGroup)
        LIMIT ?4) AS p
      WHERE g.reason IS \(hasReason ? "NOT NULL" : "NULL") AND g.cause IS \(hasCause ? "NOT NULL" : "NULL")
      """
    }
    return parts.joined(separator: "\nUNION ALL\n")
  }

  private static let inGroup =
    "ORDER BY app DESC, state DESC, reason DESC, last_cause DESC, processor DESC, receipt_id DESC"
  private static let lackingImportID = """
    AND state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL
      ORDER BY app DESC, receipt_id DESC
    """

  /// The groups for `joinedSQL`.
  private static func json(of groups: ArraySlice<CountRows.Group>) -> StoreValue {
    func text(_ word: String) -> JSONValue { word.isEmpty ? .null : .string(word) }
    let values = groups.map { group -> JSONValue in
      [
        "app": .string(group.app.text), "state": .string(group.state), "reason": text(group.reason),
        "cause": text(group.cause), "processor": .string(group.processor.text),
      ]
    }
    return .text(JSONValue.array(values).text)
  }
}
