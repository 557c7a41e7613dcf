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
    ]) { row throws(StoreFault) in try PurchaseRow.record(from: row) }
  }

  static let startedPaymentSQL = """
    SELECT \(PurchaseRow.columnList) FROM purchases
    WHERE object_id = ?1 AND app = ?2 AND object_type = ?3 AND processor = ?4 AND user_id = ?5
      AND (observations & \(Observations.started.rawValue)) <> 0
    """

  /// The user who was the first to start a payment for a customer of a processor; nil if nobody has. A client
  /// may write any customer into a payment, so later users of the same customer do not count.
  public func owner(
    of customer: CustomerID, at place: AppProcessor
  ) throws(StoreFault) -> UserID? {
    try connection.prepare(Self.firstUserSQL).first([
      .text(customer), .text(place.app), .text(place.processor),
    ]) { row throws(StoreFault) in try row.text(0) }
  }

  static let firstUserSQL = """
    SELECT user_id FROM purchases
    WHERE customer_id = ?1 AND app = ?2 AND processor = ?3 AND user_id IS NOT NULL
      AND (observations & \(Observations.started.rawValue)) <> 0
    ORDER BY row_id LIMIT 1
    """
}
