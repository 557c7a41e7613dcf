// The keys of a purchase: what it is found by, besides its own id.

package import Domain

extension RowKey {
  /// The keys of a purchase with these ids.
  package static func keys(
    app: AppSlug, object: ObjectID, session: SessionID?, customer: CustomerID?, user: UserID?
  ) -> Set<RowKey> {
    var keys: Set<RowKey> = []
    if let session, session.text != object.text { keys.insert(RowKey(.session, session, app: app)) }
    if let customer { keys.insert(RowKey(.customer, customer, app: app)) }
    if let user { keys.insert(RowKey(.user, user, app: app)) }
    return keys
  }
}

extension PurchaseRecord {
  var keys: Set<RowKey> {
    RowKey.keys(
      app: app, object: purchase.key.id, session: purchase.sessionID, customer: purchase.customerID,
      user: purchase.userID)
  }
}

extension Purchase {
  /// Whether another version of the purchase has the same keys.
  func hasKeys(of other: Purchase) -> Bool {
    sessionID == other.sessionID && customerID == other.customerID && userID == other.userID
      && key.id == other.key.id
  }
}

extension KeyIndex {
  /// Replaces the keys of a row.
  func move(row: PurchaseRowID, from old: Set<RowKey>, to new: Set<RowKey>) throws(StoreFault) {
    for key in old.subtracting(new) { try remove(key, row: row) }
    for key in new.subtracting(old) { try add(key, row: row) }
  }
}
