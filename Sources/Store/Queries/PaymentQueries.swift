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
    ]) { row throws(StoreFault) in try bodies.purchase(row) }
  }

  static let startedPaymentSQL = """
    SELECT \(PurchaseRow.columnList) FROM purchases
    WHERE object_id = ?1 AND app = ?2 AND object_type = ?3 AND processor = ?4 AND user_id = ?5
      AND (observations & \(Observations.started.rawValue)) <> 0
    """

  /// Whether a customer of a processor belongs to a user: the first who named it in a payment. Nil if it
  /// belongs to nobody.
  public func belongs(
    _ customer: CustomerID, to user: UserID, at place: AppProcessor
  ) throws(StoreFault) -> Bool? {
    try connection.snapshot { () throws(StoreFault) in
      let key = try connection.prepare(ErasureHash.readingKeySQL).first([]) { row throws(StoreFault) in
        row.blob(0)
      }
      let hash = try key.map { key throws(StoreFault) in try ErasureHash(key: key) }
      return try PayerRows.belongs(
        customer, to: user, at: place, connection.prepare(PayerRows.ownerSQL), hash)
    }
  }
}
