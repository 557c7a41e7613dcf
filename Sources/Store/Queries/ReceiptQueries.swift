// Operators' queries of receipts. Lists are read newest first by key, so the cost of a page does not depend
// on its position.

public import Domain

/// Which receipts to list; a nil property does not restrict the list.
public struct ReceiptFilter: Sendable, Equatable {
  public var app: AppSlug?
  public var processor: ProcessorName?
  /// Only those in one of these states; empty does not restrict the list.
  public var states: Set<ReceiptState> = []
  public var userID: UserID?
  /// The processor's id of the customer.
  public var customerID: CustomerID?
  /// Of a receipt without a reason, such as a pending one, the cause is compared, which lists show instead.
  public var reason: String?
  /// Why the last attempt failed, such as `timeout` or `http_503`; empty for receipts without a failed
  /// attempt.
  public var cause: String?
  /// The HTTP status of the last answer. No index has it: receipts are compared one by one.
  public var status: AnswerStatus?
  /// The price that was sent, or that would be. No index has it, either.
  public var priceID: PriceID?
  /// How it got its context. No index has it, either.
  public var join: JoinOutcome?
  /// Any id of the purchased object: the subscription's, or the checkout session's.
  public var objectID: ObjectID?
  /// The checkout session that sold it.
  public var sessionID: SessionID?
  public var importID: String?
  /// The beginning of the receipts' ids.
  var beginning: String?
  /// Only delivered receipts whose answer had no import id; erased users' receipts are excluded.
  public var lacksImportID = false
  /// Only those whose sources name different users.
  public var isInConflict = false
  /// Made at or after.
  public var since: Timestamp?
  /// Made before.
  public var until: Timestamp?
  /// The last receipt id of the previous page; the list continues after it.
  public var after: ReceiptID?

  public init() {}

  /// The only state; nil for any state, and for several.
  public var state: ReceiptState? {
    get { states.count == 1 ? states.first : nil }
    set { states = newValue.map { [$0] } ?? [] }
  }
}

extension Set where Element: CaseIterable & RawRepresentable<String> {
  /// Its words with commas, in the order of their declaration: `waiting,failed`; nil without any.
  public var words: String? {
    isEmpty ? nil : Element.allCases.filter(contains).map(\.rawValue).joined(separator: ",")
  }

  /// - Parameter words: as `words` returns them.
  /// - Returns: nil if one of them is unknown.
  public init?(words: String) {
    self.init()
    for word in words.split(separator: ",", omittingEmptySubsequences: false) {
      guard let value = Element(rawValue: String(word)) else { return nil }
      insert(value)
    }
  }
}

/// An attempt as logged.
public struct LoggedAttempt: Sendable, Equatable {
  public var number: Int64
  public var report: AttemptReport
}

/// An event, without its bytes.
public struct EventSummary: Sendable, Equatable {
  /// Its row, which is its position in the list.
  public var row: EventRowID
  public var id: EventID
  public var app: AppSlug
  public var processor: ProcessorName
  public var type: String
  public var outcome: String
  public var receivedAt: Timestamp
  /// The receipt of its purchase.
  public var receiptID: ReceiptID?
  /// Its purchase; nil if it is about none.
  public var objectID: ObjectID?
}

/// A purchase with its receipt, attempts, events, captures and planned lookup.
public struct ReceiptDetail: Sendable, Equatable {
  /// It may have no receipt yet.
  public var record: PurchaseRecord
  public var attempts: [LoggedAttempt]
  public var events: [EventSummary]
  public var context: ContextSummary?
  /// Nil if no lookup is planned.
  public var lookup: PlannedLookup?
  /// Oldest first.
  public var captures: [CaptureSummary] = []
  /// Oldest first.
  public var claims: [Claim] = []
  /// The contexts that it did not get; empty unless `StoreReader.nearMisses` was asked.
  public var nearMisses: [NearMiss] = []
  /// The users seen with its customer in its app; empty for a purchase with a user.
  public var customerUsers: [UserID] = []
  /// The contexts that its events named and that are not posted yet.
  public var awaitedContexts: [ContextID] = []
  /// The other receipt, if the purchase has one for each of two destinations.
  public var twin: PurchaseRecord?
}

extension StoreReader {
  /// - Returns: at most `limit` receipts, newest first. With a condition that no index has, only those of one
  ///   page; see `receiptPage`.
  public func receipts(_ filter: ReceiptFilter, limit: Int) throws(StoreFault) -> [PurchaseRecord] {
    try receiptPage(filter, limit: limit, hasContent: true).entries
  }

  /// A receipt by its id.
  public func receipt(id: ReceiptID) throws(StoreFault) -> PurchaseRecord? {
    guard let row = id.purchaseRow else { return nil }
    return try connection.prepare(
      "SELECT \(PurchaseRow.columnList) FROM purchases WHERE row_id = ?1 AND receipt_id = ?2"
    ).first([.integer(row), .text(id)], PurchaseRow.record)
  }

  /// A receipt with its attempts and events; nil if there is none with this id.
  public func detail(receipt id: ReceiptID) throws(StoreFault) -> ReceiptDetail? {
    try receipt(id: id).map { record throws(StoreFault) in try detail(of: record) }
  }

  /// The purchases with this id, or whose checkout has it, with or without a receipt. Several apps, and
  /// several processors, may have one each.
  public func details(object id: ObjectID) throws(StoreFault) -> [ReceiptDetail] {
    let sold = try connection.engine.keys.list(.session, id)
    let records = try connection.prepare(Self.ofObjectSQL).all([.text(id), sold], PurchaseRow.record)
    var details: [ReceiptDetail] = []
    for record in records { details.append(try detail(of: record)) }
    return details
  }

  /// The second parameter is a list of the rows that the checkout with this id may have sold.
  static let ofObjectSQL = """
    SELECT \(PurchaseRow.columnList) FROM purchases
    WHERE row_id IN (
        SELECT row_id FROM purchases WHERE object_id = ?1 UNION ALL SELECT value FROM json_each(?2))
      AND (object_id = ?1 OR session_id = ?1) LIMIT 20
    """

  /// The users seen with a customer. The first parameter is a list of the rows that may have the customer's
  /// key. The user of a corrected receipt was wrong.
  static let customerUsersSQL = """
    SELECT user_id FROM purchases
    WHERE row_id IN (SELECT value FROM json_each(?1)) AND customer_id = ?2 AND app = ?3 AND processor = ?4
      AND user_id IS NOT NULL AND user_source <> \(Purchase.UserSource.customer.rawValue)
      AND corrected_by IS NULL AND copy_for = ''
    UNION
    SELECT user_id FROM customer_users WHERE customer_id = ?2 AND app = ?3 AND processor = ?4
    ORDER BY user_id LIMIT 20
    """

  private func customerUsers(of record: PurchaseRecord) throws(StoreFault) -> [UserID] {
    guard record.purchase.userID == nil, let customer = record.purchase.customerID else { return [] }
    return try connection.prepare(Self.customerUsersSQL).all([
      try connection.engine.keys.list(.customer, customer), .text(customer), .text(record.app),
      .text(record.purchase.key.processor),
    ]) { row throws(StoreFault) in try row.text(0) }
  }

  private func awaitedContexts(of row: PurchaseRowID) throws(StoreFault) -> [ContextID] {
    try connection.prepare(
      "SELECT context_id FROM awaited_contexts WHERE purchase_row = ?1 ORDER BY source, context_id LIMIT 20"
    ).all([.integer(row)]) { row throws(StoreFault) in try row.text(0) }
  }

  /// The attempts to deliver a purchase's receipt, in their order.
  public func attempts(ofPurchase row: PurchaseRowID) throws(StoreFault) -> [LoggedAttempt] {
    try connection.prepare(
      """
      SELECT number, at, duration_ms, status, error, ambiguous, response, detail FROM attempts
      WHERE purchase_row = ?1 ORDER BY number
      """
    ).all([.integer(row)]) { row throws(StoreFault) in
      LoggedAttempt(
        number: row.integer(0),
        report: AttemptReport(
          startedAt: Timestamp(unixMilliseconds: row.integer(1)), duration: row.duration(2),
          status: row.optionalInteger(3), error: try row.optionalText(4), detail: try row.optionalText(7),
          isAmbiguous: row.flag(5), response: row.blob(6)))
    }
  }

  private func detail(of record: PurchaseRecord) throws(StoreFault) -> ReceiptDetail {
    let events = try events(ofPurchase: record.rowID, limit: 1000)
    var context: ContextSummary?
    if let id = record.purchase.contextID { context = try self.context(id: id) }
    let twin = try record.receipt?.twin.flatMap { id throws(StoreFault) in try receipt(id: id) }
    return ReceiptDetail(
      record: record, attempts: try attempts(ofPurchase: record.rowID), events: events.reversed(),
      context: context, lookup: try plannedLookup(of: record.rowID), captures: try captures(of: record.rowID),
      claims: try claims(of: record.rowID), customerUsers: try customerUsers(of: record),
      awaitedContexts: try awaitedContexts(of: record.rowID), twin: twin)
  }
}
