// Queries of one user's data, by index: the cost does not depend on other users' data.

public import Domain

/// A purchase of a user, with or without a receipt.
public struct UserPurchase: Sendable, Equatable {
  public var row: PurchaseRowID
  public var app: AppSlug
  public var customerID: CustomerID?
  public var objectID: ObjectID
  public var sessionID: SessionID?
  public var receiptID: ReceiptID?
  public var state: ReceiptState?
}

extension StoreReader {
  /// - Parameter selection: of the rows that may have the user's key, or the customer's.
  static func purchasesSQL(_ selection: String) -> (ofUser: String, ofCustomer: String) {
    let select = """
      SELECT row_id, app, customer_id, object_id, session_id, receipt_id, state FROM purchases
      WHERE row_id IN (\(selection))
      """
    return (
      "\(select) AND user_id = ?3 ORDER BY row_id LIMIT ?4",
      "\(select) AND customer_id = ?3 AND app = ?4 AND user_id IS NULL ORDER BY row_id LIMIT ?5"
    )
  }

  static let userSQL = (
    payers: "SELECT app, customer_id FROM payers WHERE user_id = ?1 ORDER BY app, customer_id LIMIT ?2",
    apps: "SELECT DISTINCT app FROM contexts WHERE user_id = ?1",
    countContexts: "SELECT count(*) FROM contexts WHERE user_id = ?1 AND app = ?2",
    countEvents: "SELECT count(*) FROM events WHERE purchase_row = ?1",
    loose: """
    SELECT row_id, app, body, dictionary FROM events
    WHERE row_id > ?1 AND row_id <= ?2 AND purchase_row IS NULL
    """
  )

  /// A user's purchases, and purchases without a user of the user's customers, in all apps.
  public func purchases(ofUser user: UserID, limit: Int) throws(StoreFault) -> [UserPurchase] {
    try connection.snapshot { () throws(StoreFault) in
      let sql = Self.purchasesSQL(connection.engine.keys.selection("?1", "?2"))
      let numbers = RowKey.numbers(.user, user)
      var found = try connection.prepare(sql.ofUser).all(
        [.integer(numbers.lowerBound), .integer(numbers.upperBound), .text(user), .integer(Int64(limit))],
        Self.userPurchase)
      let related = try connection.prepare(sql.ofCustomer)
      var seen: Set<String> = []
      for purchase in found {
        guard let customer = purchase.customerID, seen.insert("\(purchase.app) \(customer)").inserted else {
          continue
        }
        let number = StoreValue.integer(RowKey(.customer, customer, app: purchase.app).number)
        found += try related.all(
          [number, number, .text(customer), .text(purchase.app), .integer(Int64(limit))], Self.userPurchase)
      }
      return found
    }
  }

  private static func userPurchase(_ row: StoreRow) throws(StoreFault) -> UserPurchase {
    UserPurchase(
      row: row.integer(0), app: try row.text(1), customerID: try row.optionalText(2),
      objectID: try row.text(3),
      sessionID: try row.optionalText(4), receiptID: try row.optionalText(5),
      state: try row.optionalText(6).flatMap(ReceiptState.init))
  }

  /// The customers of processors that belong to a user, in all apps.
  public func payers(ofUser user: UserID, limit: Int) throws(StoreFault) -> [(app: AppSlug, id: CustomerID)] {
    try connection.prepare(Self.userSQL.payers).all([.text(user), .integer(Int64(limit))]) {
      row throws(StoreFault) in (try row.text(0), try row.text(1))
    }
  }

  /// The apps that have contexts of a user.
  public func appsWithContexts(ofUser user: UserID) throws(StoreFault) -> [AppSlug] {
    try connection.prepare(Self.userSQL.apps).all([.text(user)]) { row throws(StoreFault) in try row.text(0)
    }
  }

  /// How many contexts of a user are stored.
  public func countContexts(ofUser user: UserID, app: AppSlug) throws(StoreFault) -> Int64 {
    try connection.prepare(Self.userSQL.countContexts).first([.text(user), .text(app)]) {
      row throws(StoreFault) in row.integer(0)
    } ?? 0
  }

  /// How many events belong to a purchase.
  public func countEvents(ofPurchase row: PurchaseRowID) throws(StoreFault) -> Int64 {
    try connection.prepare(Self.userSQL.countEvents).first([.integer(row)]) { row throws(StoreFault) in
      row.integer(0)
    } ?? 0
  }

  /// The events in a range of rows that belong to no purchase and for which `isWanted` returns true. Used by
  /// an operator's search through all of them. Holds one body in memory at a time.
  public func looseEvents(
    after row: EventRowID, through last: EventRowID, isWanted: (_ app: AppSlug, _ body: [UInt8]) -> Bool
  ) throws(StoreFault) -> [EventRowID] {
    var found: [EventRowID] = []
    try connection.prepare(Self.userSQL.loose).forEach([.integer(row), .integer(last)]) {
      row throws(StoreFault) in
      let body = try bodies.unpack(StoredBody(row, at: 2, 3))
      if isWanted(try row.text(1), body) { found.append(row.integer(0)) }
    }
    return found
  }
}
