// What the join and other commands ask of the session. The writer's thread.

internal import Domain
internal import Formats

extension StoreSession {
  /// Stores a new purchase.
  func insert(_ record: PurchaseRecord) throws(StoreFault) {
    try purchases.insert(record)
    changes.note(record)
    try planLookup(of: record, before: nil)
  }

  /// How often an undecidable purchase is checked again.
  private static let reconsiderAfter: Duration = .hours(1)

  /// When to check an undecidable receipt again.
  var reconsideredAt: Timestamp { now.advanced(by: Self.reconsiderAfter) }

  /// The present moment for a receipt: what counts as paused is that of its app and of its destination.
  /// - Parameter place: the destination; nil for the receipt's present one.
  func moment(of record: PurchaseRecord, sentTo place: DestinationName? = nil) -> ReceiptMoment {
    let held = pauses[record.app].pausedTime(now: now)
    // Where no destination was ever paused it does not matter which one it is.
    guard !breakers.byPlace.isEmpty else { return ReceiptMoment(now: now, pausedTime: held) }
    let destination =
      place ?? rules(of: record.app)?.destinations(of: record.purchase, record.receipt).present
    guard let destination else { return ReceiptMoment(now: now, pausedTime: held) }
    let paused = breakers.pausedTime(AppDestination(record.app, destination), now: now)
    return ReceiptMoment(now: now, pausedTime: held + paused)
  }

  /// Whether `acquire` would succeed.
  func mayAcquire(_ context: ContextRecord, for row: PurchaseRowID) throws(StoreFault) -> Bool {
    try holder(of: context, besides: row)?.yieldsContextToName ?? true
  }

  /// The other purchase that has a context; nil if there is none, or if it claimed the context without having
  /// it.
  func holder(
    of context: ContextRecord, besides row: PurchaseRowID? = nil
  ) throws(StoreFault) -> PurchaseRecord? {
    guard let owner = context.purchaseRow, owner != row, let holder = try purchases.find(row: owner),
      holder.purchase.contextID == context.id
    else { return nil }
    return holder
  }

  /// Whether no destination can have received the receipt, according to attempts on disk. `RecordAttempt`
  /// handles an attempt that is under way now.
  func isUnsent(_ record: PurchaseRecord) throws(StoreFault) -> Bool {
    guard let receipt = record.receipt else { return true }
    guard receipt.state != .delivered, receipt.lastStatus == nil else { return false }
    return receipt.body == nil ? true : try !attempts.haveReached(row: record.rowID)
  }
}

// MARK: - Outcome

extension StoreSession {
  /// Gives the events of a purchase its outcome, if that changed: a sale that was foreign may be sent after
  /// all.
  func followOutcome(of record: PurchaseRecord, before: PurchaseRecord) throws(StoreFault) {
    guard record.outcome != before.outcome else { return }
    try events.reassign(from: record.rowID, to: record.rowID, outcome: record.outcome)
  }
}

// MARK: - Reversal

// Reports a reversed payment to the destination that accepted the purchase. The writer's thread.

extension StoreSession {
  /// Makes a delivered receipt due again, with the report of its reversal, if its payment was reversed. Until
  /// it is delivered it stays as it is, so that no destination learns of a reversal before the purchase. A
  /// reversal that waits for its destination is due when the app has the destination again.
  func reverse(_ record: inout PurchaseRecord) {
    guard record.purchase.isReversed, let receipt = record.receipt, let destination = receipt.destination,
      let rules = rules(of: record.app), rules.destinations.contains(destination),
      let body = reversal(of: record, receipt, to: destination, rules)
    else { return }
    let payload = ReceiptPayload(
      destination: destination, priceID: receipt.priceID, priceMismatch: receipt.priceMismatch, body: body)
    record.apply(.reversed(payload), at: moment(of: record, sentTo: destination))
  }

  /// The bytes of the reversal that is to be sent now; nil if there is none.
  private func reversal(
    of record: PurchaseRecord, _ receipt: Receipt, to destination: DestinationName, _ rules: AppRules
  ) -> [UInt8]? {
    switch (receipt.state, receipt.isReversal) {
    case (.waiting, true): return receipt.body
    case (.delivered, false):
      let processor = rules.processor(of: record.purchase)
      guard case .success(let ready) = Join.content(of: record.purchase, processor) else { return nil }
      return rules.composeReversal(ready.content, destination)
    default: return nil
    }
  }
}
