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

/// An event whose body cannot be read, so that nobody knows whom it is about.
public struct UnreadableEvent: Sendable, Equatable {
  public var id: EventID
  public var app: AppSlug
  public var reason: String
}

extension StoreReader {
  /// The first parameter is a list of the rows that may have the user's key, or the customer's.
  static let purchasesSQL: (ofUser: String, ofCustomer: String) = {
    let select = """
      SELECT row_id, app, customer_id, object_id, session_id, receipt_id, state FROM purchases
      WHERE row_id IN (SELECT value FROM json_each(?1))
      """
    return (
      "\(select) AND user_id = ?2 ORDER BY row_id LIMIT ?3",
      "\(select) AND customer_id = ?2 AND app = ?3 AND user_id IS NULL ORDER BY row_id LIMIT ?4"
    )
  }()

  static let userSQL = (
    payers: "SELECT app, customer_id FROM payers WHERE user_id = ?1 ORDER BY app, customer_id LIMIT ?2",
    apps: """
    SELECT DISTINCT app FROM contexts WHERE row_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2
    """,
    countContexts: """
    SELECT count(*) FROM contexts
    WHERE row_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2 AND +app = ?3
    """,
    countEvents: "SELECT count(*) FROM events WHERE purchase_row = ?1",
    loose: """
    SELECT row_id, app, body, dictionary, event_id FROM events
    WHERE row_id > ?1 AND row_id <= ?2 AND purchase_row IS NULL ORDER BY row_id
    """
  )

  /// A user's purchases, and purchases without a user of the user's customers, in all apps.
  public func purchases(ofUser user: UserID, limit: Int) throws(StoreFault) -> [UserPurchase] {
    try connection.snapshot { () throws(StoreFault) in
      let keys = connection.engine.keys
      var found = try connection.prepare(Self.purchasesSQL.ofUser).all(
        [try keys.list(.user, user), .text(user), .integer(Int64(limit))], Self.userPurchase)
      let related = try connection.prepare(Self.purchasesSQL.ofCustomer)
      var seen: Set<String> = []
      for purchase in found {
        guard let customer = purchase.customerID, seen.insert("\(purchase.app) \(customer)").inserted else {
          continue
        }
        found += try related.all(
          [
            try keys.list(.customer, customer), .text(customer), .text(purchase.app), .integer(Int64(limit)),
          ], Self.userPurchase)
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
    let rows = try connection.engine.keys.list(.contextUser, user)
    return try connection.prepare(Self.userSQL.apps).all([rows, .text(user)]) { row throws(StoreFault) in
      try row.text(0)
    }
  }

  /// How many contexts of a user are stored.
  public func countContexts(ofUser user: UserID, app: AppSlug) throws(StoreFault) -> Int64 {
    let rows = try connection.engine.keys.list(.contextUser, user)
    return try connection.prepare(Self.userSQL.countContexts).first([rows, .text(user), .text(app)]) {
      row throws(StoreFault) in row.integer(0)
    } ?? 0
  }

  /// How many events belong to a purchase.
  public func countEvents(ofPurchase row: PurchaseRowID) throws(StoreFault) -> Int64 {
    try connection.prepare(Self.userSQL.countEvents).first([.integer(row)]) { row throws(StoreFault) in
      row.integer(0)
    } ?? 0
  }

  /// The events in a range of rows that belong to no purchase and for which `isWanted` returns true, and
  /// those whose bodies cannot be read. Used by an operator's search through all of them. Holds one body in
  /// memory at a time.
  public func looseEvents(
    after row: EventRowID, through last: EventRowID, isWanted: (_ app: AppSlug, _ body: [UInt8]) -> Bool
  ) throws(StoreFault) -> (found: [EventRowID], unreadable: [UnreadableEvent]) {
    var found: [EventRowID] = []
    var unreadable: [UnreadableEvent] = []
    try connection.prepare(Self.userSQL.loose).forEach([.integer(row), .integer(last)]) {
      row throws(StoreFault) in
      let app: AppSlug = try row.text(1)
      do throws(StoreFault) {
        let body = try bodies.unpack(StoredBody(row, at: 2, 3))
        if isWanted(app, body) { found.append(row.integer(0)) }
      } catch {
        guard error.kind == .corrupt else { throw error }
        unreadable.append(UnreadableEvent(id: try row.text(4), app: app, reason: error.reason))
      }
    }
    return (found, unreadable)
  }
}
