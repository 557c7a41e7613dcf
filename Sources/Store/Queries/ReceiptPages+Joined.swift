// The groups of a list in one statement, for PostgreSQL, where each statement waits for the network.

internal import Domain
internal import Formats

extension StoreReader {
  /// Positions in all groups: the parameters are the groups as JSON, the bounds of the ids, and the limit.
  static let joinedSQL = joined { hasReason, hasCause in
    """
    app = g.app AND state = g.state AND reason \(hasReason ? "= g.reason" : "IS NULL")
        AND last_cause \(hasCause ? "= g.cause" : "IS NULL") AND processor = g.processor
        AND receipt_id > ?2 AND receipt_id < ?3
      ORDER BY app DESC, state DESC, reason DESC, last_cause DESC, processor DESC, receipt_id DESC
    """
  }

  /// The same of receipts without an import id.
  static let joinedWithoutImportIDSQL = joined { hasReason, hasCause in
    """
    app = g.app AND state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL
        AND state = g.state AND reason \(hasReason ? "= g.reason" : "IS NULL")
        AND last_cause \(hasCause ? "= g.cause" : "IS NULL") AND processor = g.processor
        AND receipt_id > ?2 AND receipt_id < ?3
      ORDER BY app DESC, receipt_id DESC
    """
  }

  /// PostgreSQL uses an index for `= g.reason` and for `IS NULL`, not for a comparison that handles both, so
  /// there is a query for each. It knows the order of an index only if the statement names all of its
  /// columns.
  private static func joined(_ rest: (_ hasReason: Bool, _ hasCause: Bool) -> String) -> String {
    let columns = ["app", "state", "reason", "cause", "processor"].map { "\($0) text COLLATE \"C\"" }
    let parts = [(false, false), (false, true), (true, false), (true, true)].map { hasReason, hasCause in
      """
      SELECT p.receipt_id, p.row_id
      FROM jsonb_to_recordset(?1::jsonb) AS g (\(columns.joined(separator: ", ")))
      CROSS JOIN LATERAL (
        SELECT receipt_id, row_id FROM purchases WHERE \(rest(hasReason, hasCause)) LIMIT ?4) AS p
      WHERE g.reason IS \(hasReason ? "NOT NULL" : "NULL") AND g.cause IS \(hasCause ? "NOT NULL" : "NULL")
      """
    }
    return parts.joined(separator: "\nUNION ALL\n")
  }

  /// The groups for `joinedSQL`.
  static func json(of groups: [CountRows.Group]) -> StoreValue {
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
