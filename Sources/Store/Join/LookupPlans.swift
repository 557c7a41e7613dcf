// Plans lookups. The join records which purchases need one, so that no search is needed. The writer's thread.

internal import Domain

extension StoreSession {
  /// Updates the planned lookup when a receipt begins or stops to wait for something that the processor may
  /// know.
  func planLookup(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard !record.isCopy else { return }
    let awaitedOutcome = before?.purchase.awaitsOutcome ?? false
    if record.purchase.awaitsOutcome != awaitedOutcome {
      if awaitedOutcome {
        try lookups.endFollowUp(row: record.rowID, now: now)
      } else {
        try followUp(record)
      }
    }
    let reason = lookedUpReason(of: record)
    let known = before.flatMap(lookedUpReason)
    guard reason != known else { return }
    guard let reason else { return try lookups.forget(row: record.rowID) }
    guard let rules = rules(of: record.app), rules.processor(of: record.purchase).isAsked else { return }
    let due = now.advanced(by: Lookup.firstPause(rules.join, for: reason))
    try lookups.plan(row: record.rowID, of: record.place, at: due)
    changes.note(lookupsDueAt: due, record.place)
  }

  /// Handles an event that says only that a purchase changed: plans an immediate lookup.
  /// - Parameter keep: whether to fetch a purchase that is not known yet, too.
  /// - Returns: the event's outcome and its purchase; nil if there is none.
  func fetch(
    _ key: PurchaseKey, sessionID: SessionID?, app: AppSlug, keep: Bool
  ) throws(StoreFault) -> (outcome: EventOutcome, row: PurchaseRowID)? {
    var found = try purchases.find(app: app, key: key)
    if found == nil, let sessionID {
      found = try purchases.find(app: app, key.processor, soldBy: sessionID)
      if found == nil {
        found = try purchases.find(app: app, key.processor, knownByCheckout: sessionID)
      }
    }
    // The receipt of a purchase that retention has deleted must not be made again.
    if found == nil, keep, try !pastPurchases.contains(key, sessionID: sessionID, app: app, erasures) {
      let purchase = Purchase(key: key, sessionID: sessionID, happenedAt: now, createdAt: now)
      let record = PurchaseRecord(
        rowID: try counts.makePurchaseRow(), app: app, purchase: purchase, receipt: nil, updatedAt: now)
      try insert(record)
      found = record
    }
    guard let found else { return nil }
    if !found.purchase.isFinal {
      try lookups.fetch(row: found.rowID, of: found.place, at: now)
      changes.note(lookupsDueAt: now, found.place)
    }
    return (found.outcome, found.rowID)
  }

  /// Handles a hint that came before with the same bytes: something may have changed since it was fetched.
  /// One that still waits for its fetch causes no other.
  func fetchAgain(_ key: PurchaseKey, app: AppSlug) throws(StoreFault) {
    guard let found = try purchases.find(app: app, key: key), !found.purchase.isFinal else { return }
    try lookups.fetchAgain(row: found.rowID, of: found.place, at: now)
    changes.note(lookupsDueAt: now, found.place)
  }

  /// Plans the next fetch of a started payment whose outcome is unknown: its processor may never report it.
  /// - Returns: false if it needs none.
  @discardableResult
  private func followUp(_ record: PurchaseRecord) throws(StoreFault) -> Bool {
    guard record.purchase.awaitsOutcome, !record.purchase.isErased,
      let processor = rules(of: record.app)?.processor(of: record.purchase), processor.isAsked,
      let first = processor.followsUpAfter,
      let due = Lookup.followUp(startedAt: record.purchase.createdAt, first: first, now: now)
    else { return false }
    try lookups.followUp(row: record.rowID, of: record.place, at: due)
    changes.note(lookupsDueAt: due, record.place)
    return true
  }

  /// Records that a purchase was fetched for this many events. It is looked up again only if its receipt
  /// waits for something that the processor may know, or if it is a started payment without an outcome.
  func noteFetched(row: PurchaseRowID, _ fetches: Int64) throws(StoreFault) {
    try lookups.noteFetched(row: row, fetches)
    guard let record = try purchases.find(row: row) else { return }
    if try followUp(record) { return }
    if lookedUpReason(of: record) == nil { try lookups.forget(row: row) }
  }

  private func lookedUpReason(of record: PurchaseRecord) -> Reason? {
    guard let receipt = record.receipt, receipt.state == .waiting, let reason = receipt.reason else {
      return nil
    }
    return Lookup.reasons.contains(reason) ? reason : nil
  }
}
