// Finds purchases by the ids in `KeyIndex`. The writer's thread.

internal import Domain

extension PurchaseRows {
  /// How many of the newest purchases with a key are looked at: a user of an app may have any number.
  static let candidatesMax = 1_000

  /// The purchase that a checkout sold, once the processor has named it.
  func find(
    app: AppSlug, _ processor: ProcessorName, soldBy sessionID: SessionID
  ) throws(StoreFault) -> PurchaseRecord? {
    try first(RowKey(.session, sessionID, app: app)) { record in
      record.purchase.sessionID == sessionID && record.place == AppProcessor(app, processor)
        && record.purchase.key.id.text != sessionID.text
    }
  }

  /// A user's waiting purchases without a context. A failed one gets none: a context posted now belongs to a
  /// current checkout.
  func lackingContext(app: AppSlug, user: UserID) throws(StoreFault) -> [PurchaseRecord] {
    try all(RowKey(.user, user, app: app)) { record in
      record.purchase.userID == user && record.app == app && record.receipt?.state == .waiting
        && record.purchase.context == nil
    }
  }

  /// The other purchases without a user of a purchase's customer.
  func lackingUser(
    app: AppSlug, _ processor: ProcessorName, customer: CustomerID, besides own: PurchaseRowID
  ) throws(StoreFault) -> [PurchaseRecord] {
    try all(RowKey(.customer, customer, app: app), besides: own) { record in
      record.purchase.customerID == customer && record.place == AppProcessor(app, processor)
        && record.purchase.userID == nil
    }
  }

  /// The user of the customer's newest purchase that has one.
  func user(
    app: AppSlug, _ processor: ProcessorName, ofCustomer customer: CustomerID
  ) throws(StoreFault) -> UserID? {
    try first(RowKey(.customer, customer, app: app)) { record in
      record.purchase.customerID == customer && record.place == AppProcessor(app, processor)
        && record.purchase.userID != nil
    }?.purchase.userID
  }

  /// The newest purchase with a key that meets a condition.
  private func first(
    _ key: RowKey, where isWanted: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> PurchaseRecord? {
    let rows = try keys.rows(key, limit: Self.candidatesMax)
    try load(rows)
    for row in rows {
      if let record = try find(row: PurchaseRowID(row)), isWanted(record) { return record }
    }
    return nil
  }

  /// Those with a key that meet a condition, newest first.
  /// - Parameter own: a row that is not read.
  private func all(
    _ key: RowKey, besides own: PurchaseRowID? = nil, where isWanted: (PurchaseRecord) -> Bool
  ) throws(StoreFault) -> [PurchaseRecord] {
    var found: [PurchaseRecord] = []
    let rows = try keys.rows(key, limit: Self.candidatesMax)
    try load(rows)
    for row in rows {
      guard found.count < Self.relatedMax else { break }
      guard row != own?.number, let record = try find(row: PurchaseRowID(row)) else { continue }
      if isWanted(record) { found.append(record) }
    }
    return found
  }
}
