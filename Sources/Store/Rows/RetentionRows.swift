// Retention in small slices, so that no transaction takes long. Rows are read in the order of their row ids,
// which is the order of time; a slice continues where the last one ended. The writer's thread.

internal import Domain

final class RetentionRows {
  /// A row that a slice examined.
  struct Candidate {
    var row: Int64
    var at: Timestamp
    var mayGo: Bool
  }

  private let scanning: [RetentionTable: StoreStatement]
  private let deleting: [RetentionTable: StoreStatement]
  private let noted: StoreStatement
  private let keys: any KeyIndex
  private let joins: JoinRows

  init(_ connection: StoreConnection, joins: JoinRows) throws(StoreFault) {
    self.joins = joins
    var scanning: [RetentionTable: StoreStatement] = [:]
    var deleting: [RetentionTable: StoreStatement] = [:]
    for table in RetentionTable.allCases {
      scanning[table] = try connection.prepare(
        "SELECT row_id, \(table.scan) FROM \(table.rawValue) WHERE row_id > ?1 ORDER BY row_id LIMIT ?2")
      guard table != .receipts else { continue }  // deleted where they are counted, by `PurchaseRows`
      // A context's keys are deleted with it.
      let returning = table == .contexts ? " RETURNING \(Self.contextColumns)" : ""
      deleting[table] = try connection.prepare(
        "DELETE FROM \(table.rawValue) WHERE row_id IN (SELECT value FROM json_each(?1))\(returning)")
    }
    keys = connection.engine.keys
    self.scanning = scanning
    self.deleting = deleting
    noted = try connection.prepare(
      """
      DELETE FROM purchases WHERE row_id IN
        (SELECT row_id FROM purchases
         WHERE state IS NULL AND (observations & \(Observations.ended.rawValue)) = ?1
           AND updated_at < ?2
           AND NOT EXISTS (SELECT 1 FROM captures WHERE purchase_row = purchases.row_id AND outcome IS NULL)
         ORDER BY updated_at LIMIT ?3)
      RETURNING row_id, app, object_id, session_id, customer_id, user_id,
        other_names
      """)
  }

  private static let contextColumns = "row_id, app, user_id, digest, received_at, purchase_row IS NULL"

  func scan(_ table: RetentionTable, after row: Int64) throws(StoreFault) -> [Candidate] {
    try scanning[table]?.all([.integer(row), .integer(table.slice)]) { row throws(StoreFault) in
      Candidate(row: row.integer(0), at: Timestamp(unixMilliseconds: row.integer(1)), mayGo: row.flag(2))
    } ?? []
  }

  func delete(_ rows: [Int64], from table: RetentionTable) throws(StoreFault) {
    guard !rows.isEmpty, let deleting = deleting[table] else { return }
    let list = [RowKey.list(rows)]
    guard table == .contexts else { return try deleting.run(list) }
    let deleted = try deleting.all(list) { row throws(StoreFault) in
      (
        row: row.integer(0) as Int64, app: try row.text(1) as AppSlug,
        keys: RowKey.keys(app: try row.text(1), contextOf: try row.text(2), digest: row.blob(3)),
        receivedAt: Timestamp(unixMilliseconds: row.integer(4)), isUnclaimed: row.flag(5)
      )
    }
    for context in deleted {
      joins.count(.received, -1, app: context.app, receivedAt: context.receivedAt)
      if context.isUnclaimed {
        joins.count(.unclaimed, -1, app: context.app, receivedAt: context.receivedAt)
      }
      for key in context.keys { try keys.remove(key, row: context.row) }
    }
  }

  /// Deletes purchases that never got a receipt and have had no news for long.
  /// - Parameter ended: whether to delete those whose object ended, or the others.
  /// - Returns: how many were deleted.
  func deleteNoted(ended: Bool, before cutoff: Timestamp, limit: Int64) throws(StoreFault) -> Int64 {
    let bit = ended ? Observations.ended.rawValue : 0
    let deleted = try noted.all([.integer(bit), .time(cutoff), .integer(limit)]) { row throws(StoreFault) in
      (
        row: row.integer(0) as Int64,
        keys: RowKey.keys(
          app: try row.text(1), object: try row.text(2), session: try row.optionalText(3),
          customer: try row.optionalText(4),
          users: NamesColumn.users(try row.optionalText(5), others: try row.optionalText(6)))
      )
    }
    for purchase in deleted {
      for key in purchase.keys { try keys.remove(key, row: purchase.row) }
    }
    return Int64(deleted.count)
  }
}

/// The growing tables.
public enum RetentionTable: String, Sendable, CaseIterable {
  case attempts, events, contexts
  case receipts = "purchases"

  /// How many rows a slice examines. Other commands wait for it, for some 10 ms: a receipt is deleted with
  /// its keys and counts, and with the entries of ten indexes.
  var slice: Int64 { self == .receipts ? 100 : 500 }

  /// The row's time, and whether it may be deleted once that is old enough. A receipt that has not ended
  /// stays at any age (R4), and so does its context.
  var scan: String {
    switch self {
    case .attempts: "at, 1"
    case .events: "received_at, 1"
    case .contexts:
      """
      posted_at, coalesce((SELECT state IN ('delivered', 'cancelled', 'failed') FROM purchases
                           WHERE row_id = contexts.purchase_row), TRUE)
      """
    case .receipts:
      """
      updated_at, coalesce(state IN ('delivered', 'cancelled', 'failed'), FALSE)
        AND NOT EXISTS (SELECT 1 FROM captures WHERE purchase_row = purchases.row_id AND outcome IS NULL)
      """
    }
  }
}
