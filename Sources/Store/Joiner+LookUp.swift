// Which purchases the processor is to be asked about. Kept by the join, so that nobody has to search for
// them. The writer's thread.

internal import Domain

extension StoreSession {
  /// Follows a receipt that begins to wait for something that the processor may know, or no longer does.
  func planLookUp(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    let reason = lookedUpReason(of: record)
    let known = before.flatMap(lookedUpReason)
    guard reason != known else { return }
    guard let reason else { return try lookUps.forget(row: record.rowID) }
    guard let rules = rules(of: record.app), rules.processor(of: record.purchase).isAsked else { return }
    let due = now.advanced(byMilliseconds: LookUp.firstPauseMilliseconds(rules.join, for: reason))
    try lookUps.plan(row: record.rowID, of: record.place, at: due)
    changes.note(asksAt: due, record.place)
  }

  /// An event says no more than that something happened to a purchase: the processor is asked at once.
  /// - Parameter keep: whether a purchase of which nothing is known yet is fetched, too.
  /// - Returns: what became of the event, and the purchase it belongs to; nil when there is none.
  func fetch(
    _ key: PurchaseKey, sessionID: String?, app: String, keep: Bool
  ) throws(StoreFault) -> (outcome: EventOutcome, row: Int64)? {
    var found = try purchases.find(app: app, key: key)
    if found == nil, let sessionID {
      found = try purchases.find(app: app, key.processor, soldBy: sessionID)
      if found == nil {
        found = try purchases.find(app: app, key.processor, knownByCheckout: sessionID)
      }
    }
    if found == nil, keep {
      let purchase = Purchase(key: key, sessionID: sessionID, happenedAt: now, createdAt: now)
      var record = PurchaseRecord(
        rowID: counts.takePurchaseRow(), app: app, purchase: purchase, receipt: nil, updatedAt: now)
      try save(&record, before: nil)
      found = record
    }
    guard let found else { return nil }
    try lookUps.fetch(row: found.rowID, of: found.place, at: now)
    changes.note(asksAt: now, found.place)
    return (found.receipt == nil ? .noted : .receipt, found.rowID)
  }

  /// A purchase was fetched for so many events. It is asked about again only if its receipt waits for
  /// something that the processor may know.
  func noteFetched(row: Int64, _ fetches: Int64) throws(StoreFault) {
    try lookUps.noteFetched(row: row, fetches)
    guard let record = try purchases.find(row: row), lookedUpReason(of: record) == nil else { return }
    try lookUps.forget(row: row)
  }

  private func lookedUpReason(of record: PurchaseRecord) -> Reason? {
    guard let receipt = record.receipt, receipt.state == .waiting, let reason = receipt.reason else {
      return nil
    }
    return LookUp.reasons.contains(reason) ? reason : nil
  }
}
