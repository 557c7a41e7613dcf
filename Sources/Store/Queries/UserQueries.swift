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
  /// Nil for a purchase without a known user.
  public var userID: UserID?
  /// Receipts in other rows that are about the same purchase, perhaps under another user's name: the one that
  /// this row's corrects, and its copy for a second destination.
  var links: [ReceiptID] = []
  /// Rows that are found only through this one: those without a user of its customer.
  public internal(set) var leads: [PurchaseRowID] = []
}

/// An event as a search for a user's data sees it.
public struct SearchedEvent: Sendable {
  public var row: EventRowID
  public var app: AppSlug
  public var processor: ProcessorName
  /// Nil for an event that belongs to no purchase.
  public var purchase: PurchaseRowID?
}

/// An event whose body cannot be read, so that nobody knows whom it is about.
public struct UnreadableEvent: Sendable, Equatable {
  public var id: EventID
  public var app: AppSlug
  public var reason: String
}

extension StoreReader {
  /// The first parameter is a list of the rows that may have the user's key, or the customer's.
  static let purchasesSQL: (ofUser: String, naming: String, ofCustomer: String, rows: String) = {
    let select = """
      SELECT row_id, app, customer_id, object_id, session_id, receipt_id, state, user_id, corrects, copied_by
      FROM purchases WHERE row_id IN (SELECT value FROM json_each(?1))
      """
    return (
      "\(select) AND user_id = ?2 ORDER BY row_id LIMIT ?3",
      "\(select) AND instr(other_names, ?2) > 0 ORDER BY row_id LIMIT ?3",
      "\(select) AND customer_id = ?2 ORDER BY row_id LIMIT ?3", select
    )
  }()

  static let userSQL = (
    payers: "SELECT app, customer_id FROM payers WHERE user_id = ?1 ORDER BY app, customer_id LIMIT ?2",
    apps: """
    SELECT DISTINCT app FROM contexts WHERE row_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2
    """,
    claims: "SELECT DISTINCT app FROM claims WHERE user_id = ?1",
    countContexts: """
    SELECT count(*) FROM contexts
    WHERE row_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2 AND +app = ?3
    """,
    countEvents: "SELECT count(*) FROM events WHERE purchase_row = ?1",
    events: """
    SELECT row_id, app, body, dictionary, event_id, processor, purchase_row FROM events
    WHERE row_id > ?1 AND row_id <= ?2 AND (purchase_row IS NULL OR ?3 <> 0) ORDER BY row_id
    """,
    eventsOfPurchase: "SELECT processor, body, dictionary FROM events WHERE purchase_row = ?1",
    contextIDs: """
    SELECT app, id FROM contexts WHERE row_id IN (SELECT value FROM json_each(?1)) AND user_id = ?2
    """,
    learned:
      "SELECT app, customer_id FROM customer_users WHERE user_id = ?1 ORDER BY app, customer_id LIMIT ?2",
    customerUsers: """
    SELECT user_id, other_names FROM purchases
    WHERE row_id IN (SELECT value FROM json_each(?1)) AND customer_id = ?2 AND app = ?3
      AND corrected_by IS NULL AND copy_for = ''
    """,
    learnedUsers: "SELECT user_id FROM customer_users WHERE customer_id = ?1 AND app = ?2",
    payerUsers: "SELECT DISTINCT user_id FROM payers WHERE customer_id = ?1 OR payer = ?2 LIMIT ?3"
  )

  /// A user's purchases, and purchases without a user of customers that only this user has, in all apps.
  public func purchases(ofUser user: UserID, limit: Int) throws(StoreFault) -> [UserPurchase] {
    try connection.snapshot { () throws(StoreFault) in
      let keys = connection.engine.keys
      var found = try connection.prepare(Self.purchasesSQL.ofUser).all(
        [try keys.list(.user, user), .text(user), .integer(Int64(limit))], Self.userPurchase)
      var seen: Set<String> = []
      for purchase in found {
        guard let customer = purchase.customerID, seen.insert("\(purchase.app) \(customer)").inserted,
          // Of two users nobody knows which one paid. An erasure of one must not cost the other a purchase:
          // what names nobody goes with the last one.
          try users(ofCustomer: customer, app: purchase.app).allSatisfy({ $0 == user })
        else { continue }
        let more = try purchasesWithoutUser(ofCustomer: customer, app: purchase.app, limit: limit)
        for place in found.indices
        where found[place].customerID == customer && found[place].app == purchase.app {
          found[place].leads = more.map(\.row)
        }
        found += more
      }
      return found
    }
  }

  /// The purchases of a customer that have no user.
  public func purchasesWithoutUser(
    ofCustomer customer: CustomerID, app: AppSlug, limit: Int
  ) throws(StoreFault) -> [UserPurchase] {
    try purchases(ofCustomer: customer, limit: limit).filter { $0.app == app && $0.userID == nil }
  }

  /// The users whom the purchases of a customer, and events without a purchase, name. A receipt that was
  /// corrected went to a wrong one.
  private func users(ofCustomer customer: CustomerID, app: AppSlug) throws(StoreFault) -> Set<UserID> {
    let rows = try connection.engine.keys.list(.customer, customer)
    let bought = try connection.prepare(Self.userSQL.customerUsers).all([
      rows, .text(customer), .text(app),
    ]) { row throws(StoreFault) in
      let others = [NamedUser](stored: try row.optionalText(1)).filter { $0.standing == .counts }
      return [try row.optionalText(0) as UserID?].compactMap(\.self) + others.map(\.id)
    }
    let learned = try connection.prepare(Self.userSQL.learnedUsers).all([.text(customer), .text(app)]) {
      row throws(StoreFault) in try row.text(0) as UserID
    }
    return Set(bought.joined()).union(learned)
  }

  /// Other users' purchases, and those without a user, for which a source named the user, in all apps.
  public func purchases(naming user: UserID, limit: Int) throws(StoreFault) -> [UserPurchase] {
    let rows = try connection.engine.keys.list(.user, user)
    return try connection.prepare(Self.purchasesSQL.naming).all(
      [rows, NamesColumn.part(of: user), .integer(Int64(limit))], Self.userPurchase)
  }

  /// The purchases of a customer, in all apps.
  public func purchases(ofCustomer customer: CustomerID, limit: Int) throws(StoreFault) -> [UserPurchase] {
    try connection.prepare(Self.purchasesSQL.ofCustomer).all(
      [try connection.engine.keys.list(.customer, customer), .text(customer), .integer(Int64(limit))],
      Self.userPurchase)
  }

  /// The purchases in some rows, without erased ones.
  public func purchases(rows: some Sequence<PurchaseRowID>) throws(StoreFault) -> [UserPurchase] {
    let list = "[" + rows.map { String($0.number) }.joined(separator: ",") + "]"
    return try connection.prepare(Self.purchasesSQL.rows).all([.text(list)], Self.userPurchase)
      .filter { !Purchase.isErased($0.objectID) }
  }

  /// The other rows of some purchases, each before those that lead to it: an erasure that is interrupted
  /// finds the rest again.
  public func purchases(behind purchases: [UserPurchase]) throws(StoreFault) -> [UserPurchase] {
    var found: [UserPurchase] = []
    var seen = Set(purchases.compactMap(\.receiptID))
    var last = purchases
    while !last.isEmpty {
      let links = Set(last.flatMap(\.links)).subtracting(seen)
      last = try self.purchases(rows: links.compactMap(\.purchaseRow).sorted())
        .filter { $0.receiptID.map(links.contains) ?? false }
      seen.formUnion(links)
      found = last + found
    }
    return found
  }

  /// The users to whom a processor's customer belongs. Reads all payers.
  public func users(ofPayer customer: CustomerID, limit: Int) throws(StoreFault) -> [UserID] {
    try connection.prepare(Self.userSQL.payerUsers).all([
      .text(customer), .text(customer.payerKey), .integer(Int64(limit)),
    ]) { row throws(StoreFault) in try row.text(0) }
  }

  /// The ids of a user's contexts, in all apps.
  public func contextIDs(ofUser user: UserID) throws(StoreFault) -> [(app: AppSlug, id: ContextID)] {
    let rows = try connection.engine.keys.list(.contextUser, user)
    return try connection.prepare(Self.userSQL.contextIDs).all([rows, .text(user)]) {
      row throws(StoreFault) in
      (try row.text(0), try row.text(1))
    }
  }

  /// What the events of a purchase name. An event that cannot be read names nothing.
  public func mentions(
    ofPurchase row: PurchaseRowID, _ mentions: MentionReader
  ) throws(StoreFault) -> [Mentions] {
    try connection.prepare(Self.userSQL.eventsOfPurchase).all([.integer(row)]) { row throws(StoreFault) in
      try mentioned(row, at: 0, mentions)
    }
  }

  private static func userPurchase(_ row: StoreRow) throws(StoreFault) -> UserPurchase {
    let corrected: ReceiptID = try row.text(8)
    return UserPurchase(
      row: row.integer(0), app: try row.text(1), customerID: try row.optionalText(2),
      objectID: try row.text(3),
      sessionID: try row.optionalText(4), receiptID: try row.optionalText(5),
      state: try row.optionalText(6).flatMap(ReceiptState.init), userID: try row.optionalText(7),
      links: [corrected.text.isEmpty ? nil : corrected, try row.optionalText(9)].compactMap(\.self))
  }

  /// The customers of processors that belong to a user, in all apps.
  public func payers(ofUser user: UserID, limit: Int) throws(StoreFault) -> [(app: AppSlug, id: CustomerID)] {
    try connection.prepare(Self.userSQL.payers).all([.text(user), .integer(Int64(limit))]) {
      row throws(StoreFault) in (try row.text(0), try row.text(1))
    }
  }

  /// The customers of processors whose events without a purchase named a user, in all apps.
  public func learnedCustomers(
    ofUser user: UserID, limit: Int
  ) throws(StoreFault) -> [(app: AppSlug, id: CustomerID)] {
    try connection.prepare(Self.userSQL.learned).all([.text(user), .integer(Int64(limit))]) {
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

  /// The apps in which a user claimed purchases.
  public func appsWithClaims(ofUser user: UserID) throws(StoreFault) -> [AppSlug] {
    try connection.prepare(Self.userSQL.claims).all([.text(user)]) { row throws(StoreFault) in
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

  /// The events in a range of rows for which `isWanted` returns true, and those whose bodies cannot be read.
  /// Used by an operator's search through all of them. Holds one body in memory at a time.
  /// - Parameter includesOwned: whether to read events that belong to a purchase, too.
  public func searchEvents(
    after row: EventRowID, through last: EventRowID, includesOwned: Bool = false,
    isWanted: (_ event: SearchedEvent, _ body: [UInt8]) -> Bool
  ) throws(StoreFault) -> (found: [EventRowID], unreadable: [UnreadableEvent]) {
    var found: [EventRowID] = []
    var unreadable: [UnreadableEvent] = []
    try connection.prepare(Self.userSQL.events).forEach([
      .integer(row), .integer(last), .flag(includesOwned),
    ]) { row throws(StoreFault) in
      let event = SearchedEvent(
        row: row.integer(0), app: try row.text(1), processor: try row.text(5),
        purchase: row.optionalInteger(6))
      do throws(StoreFault) {
        if isWanted(event, try StoredBody(row, at: 2, 3).read()) { found.append(event.row) }
      } catch {
        guard error.kind == .corrupt else { throw error }
        unreadable.append(UnreadableEvent(id: try row.text(4), app: event.app, reason: error.reason))
      }
    }
    return (found, unreadable)
  }
}
