// What purchases and contexts are found by, besides their own ids.

package import Domain

extension RowKey {
  /// The keys of a purchase with these ids.
  package static func keys(
    app: AppSlug, object: ObjectID, session: SessionID?, customer: CustomerID?, user: UserID?
  ) -> [RowKey] {
    var keys: [RowKey] = []
    keys.reserveCapacity(3)
    if let session, session.text != object.text { keys.append(RowKey(.session, session, app: app)) }
    if let customer { keys.append(RowKey(.customer, customer, app: app)) }
    if let user { keys.append(RowKey(.user, user, app: app)) }
    return keys
  }

  /// The keys of a context; none if it was erased.
  package static func keys(app: AppSlug, contextOf user: UserID, digest: [UInt8]) -> [RowKey] {
    user.text.isEmpty
      ? [] : [RowKey(.contextUser, user, app: app), RowKey(contextOf: user, digest: digest, app: app)]
  }
}

extension PurchaseRecord {
  var keys: [RowKey] {
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
  func move(row: PurchaseRowID, from old: [RowKey], to new: [RowKey]) throws(StoreFault) {
    for key in old where !new.contains(key) { try remove(key, row: row.number) }
    for key in new where !old.contains(key) { try add(key, row: row.number) }
  }
}
