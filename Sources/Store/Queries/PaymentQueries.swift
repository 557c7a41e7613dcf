// Queries for merchant backends: what a user has started. One thread at a time.

public import Domain

extension StoreReader {
  /// Whether an app has a context with this id for this user.
  public func hasContext(_ id: ContextID, app: AppSlug, user: UserID) throws(StoreFault) -> Bool {
    try connection.prepare("SELECT 1 FROM contexts WHERE id = ?1 AND app = ?2 AND user_id = ?3")
      .first([.text(id), .text(app), .text(user)]) { _ throws(StoreFault) in true } ?? false
  }

  /// A payment that this user started through the relay; nil if there is none, or if another user started it.
  public func startedPayment(
    _ key: PurchaseKey, app: AppSlug, user: UserID
  ) throws(StoreFault) -> PurchaseRecord? {
    try connection.prepare(Self.startedPaymentSQL).first([
      .text(key.id), .text(app), .text(key.type), .text(key.processor), .text(user),
    ]) { row throws(StoreFault) in try PurchaseRow.record(row) }
  }

  static let startedPaymentSQL = """
    SELECT \(PurchaseRow.columnList) FROM purchases
    WHERE object_id = ?1 AND app = ?2 AND object_type = ?3 AND processor = ?4 AND corrects = ''
      AND copy_for = '' AND user_id = ?5 AND (observations & \(Observations.started.rawValue)) <> 0
    """

  /// The status of a payment that was started through the relay, by its id at the processor; nil if there is
  /// none. The id is the secret: only the processor, the relay and the user who started it know it.
  public func status(app: AppSlug, paymentID: ObjectID) throws(StoreFault) -> CheckoutStatus? {
    try connection.prepare(Self.paymentStatusSQL).first([.text(paymentID), .text(app)]) {
      row throws(StoreFault) in
      var status = try Self.status(row)
      // Without a receipt, a payment that ended at the processor shows only that.
      if status.receiptID == nil, Observations(rawValue: row.integer(5)).contains(.closed) {
        (status.state, status.reason) = (.cancelled, .paymentFailed)
      }
      return status
    }
  }

  static let paymentStatusSQL = """
    SELECT receipt_id, state, reason, updated_at, context_id, observations FROM purchases
    WHERE object_id = ?1 AND app = ?2 AND corrects = '' AND copy_for = ''
      AND (observations & \(Observations.started.rawValue)) <> 0
    """

  /// Whether a customer of a processor belongs to a user: the first who named it in a payment, in any app of
  /// the merchant's account. Nil if it belongs to nobody.
  public func belongs(
    _ customer: CustomerID, to user: UserID, at place: AppProcessor, _ account: AccountID? = nil
  ) throws(StoreFault) -> Bool? {
    try connection.snapshot { () throws(StoreFault) in
      let key = try connection.prepare(ErasureHash.readingKeySQL).first([]) { row throws(StoreFault) in
        row.blob(0)
      }
      let hash = try key.map { key throws(StoreFault) in try ErasureHash(key: key) }
      let payer = Payer(customer, at: place, account)
      return try payer.belongs(to: user, connection.prepare(Payer.ownersSQL), hash)
    }
  }

  /// See `SharedPayer`. Reads all payers.
  public func sharedPayers() throws(StoreFault) -> [SharedPayer] {
    try SharedPayer.find(connection, limit: SharedPayer.shownMax)
  }
}

/// A payer that two users named, each in an app of the same account, before a payer's owner was the same for
/// all of them. It belongs to none of them: nobody gets its stored cards.
public struct SharedPayer: Sendable, Equatable {
  /// How many are named to an operator.
  static let shownMax = 20
  static let findingSQL = """
    SELECT processor, account, min(customer_id), min(user_id), max(user_id) FROM payers
    WHERE account <> '' GROUP BY processor, account, payer HAVING min(user_id) <> max(user_id) LIMIT ?1
    """

  public var processor: ProcessorName
  public var account: AccountID
  public var customer: CustomerID
  /// Two of its owners.
  public var users: [UserID]

  static func find(_ connection: StoreConnection, limit: Int) throws(StoreFault) -> [Self] {
    try connection.prepare(findingSQL).all([.integer(Int64(limit))]) { row throws(StoreFault) in
      Self(
        processor: try row.text(0), account: try row.text(1), customer: try row.text(2),
        users: [try row.text(3), try row.text(4)])
    }
  }
}

// MARK: - CaptureQueries

// Queries for captures. One thread at a time.

extension StoreReader {
  /// The open captures of an app at a processor, in the order in which they are due.
  public func openCaptures(of place: AppProcessor) throws(StoreFault) -> [OpenCapture] {
    try connection.prepare(Self.openCapturesSQL).all(
      [.text(place.app), .text(place.processor)], CaptureRow.open)
  }

  static let openCapturesSQL = """
    SELECT \(CaptureRow.openColumns) FROM captures c JOIN purchases p ON p.row_id = c.purchase_row
    WHERE c.app = ?1 AND c.processor = ?2 AND c.outcome IS NULL ORDER BY c.retry_at
    """

  /// The open capture of a payment; nil if it has none.
  public func openCapture(ofPurchase row: PurchaseRowID) throws(StoreFault) -> OpenCapture? {
    try connection.prepare(CaptureRow.openOneSQL).first([.integer(row)], CaptureRow.open)
  }

  /// The newest capture of a payment; nil if it has none.
  public func capture(ofPurchase row: PurchaseRowID) throws(StoreFault) -> StoredCapture? {
    try connection.prepare(CaptureRow.newestSQL).first([.integer(row)], CaptureRow.newest)?.capture
  }
}
