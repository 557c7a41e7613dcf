// The groups of a list of events in one statement, for PostgreSQL, where each statement waits for the
// network.

internal import Domain

extension StoreReader {
  /// The rows of all groups that match: the parameters are the bounds of the rows, the limit of each group,
  /// and app, processor, outcome and type, or NULL. The recursion steps from one group to the next by the
  /// index, and ends at the next app's. The step itself must not name the app: PostgreSQL would then begin at
  /// the app's first entry, and compare all of its entries with the group.
  ///
  /// The rows of a group are between two rows, instead of equal to the group: PostgreSQL could otherwise read
  /// them by their numbers, newest first, until a row of the group appears, which may be the oldest of all.
  static let joinedEventSQL = """
    WITH RECURSIVE g (app, processor, outcome, type) AS (
      (SELECT app, processor, outcome, type FROM events
        WHERE (?4 IS NULL OR app = ?4) ORDER BY app, processor, outcome, type LIMIT 1)
      UNION ALL
      SELECT n.app, n.processor, n.outcome, n.type FROM g CROSS JOIN LATERAL (
        SELECT app, processor, outcome, type FROM events
        WHERE (app, processor, outcome, type) > (g.app, g.processor, g.outcome, g.type)
        ORDER BY app, processor, outcome, type LIMIT 1) AS n
      WHERE ?4 IS NULL OR n.app = ?4)
    SELECT e.row_id FROM g CROSS JOIN LATERAL (
      SELECT row_id FROM events
      WHERE (app, processor, outcome, type, row_id) > (g.app, g.processor, g.outcome, g.type, ?1)
        AND (app, processor, outcome, type, row_id) < (g.app, g.processor, g.outcome, g.type, ?2)
      ORDER BY app DESC, processor DESC, outcome DESC, type DESC, row_id DESC LIMIT ?3) AS e
    WHERE (?5 IS NULL OR g.processor = ?5) AND (?6 IS NULL OR g.outcome = ?6)
      AND (?7 IS NULL OR g.type = ?7)
    """

  static func joinedValues(
    _ filter: EventFilter, _ after: Int64, _ before: Int64, _ limit: Int
  ) -> [StoreValue] {
    [
      .integer(after), .integer(before), .integer(Int64(limit)), .optional(filter.app),
      .optional(filter.processor), .optional(filter.outcome?.rawValue), .optional(filter.type),
    ]
  }

  func joinedEvents(
    _ filter: EventFilter, _ after: Int64, _ before: Int64, _ limit: Int
  ) throws(StoreFault) -> [EventSummary] {
    let rows = try connection.prepare("\(Self.joinedEventSQL) ORDER BY row_id DESC LIMIT ?3")
      .all(Self.joinedValues(filter, after, before, limit)) { row throws(StoreFault) in row.integer(0) }
    return try connection.prepare(
      "\(Self.eventColumns) WHERE e.row_id IN (SELECT value FROM json_each(?1)) ORDER BY e.row_id DESC"
    ).all([RowKey.list(rows)], Self.eventSummary)
  }
}
