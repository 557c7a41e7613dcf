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
    try lookUps.plan(row: record.rowID, app: record.app, at: due)
    changes.asksAt[record.app] = min(changes.asksAt[record.app] ?? due, due)
  }

  private func lookedUpReason(of record: PurchaseRecord) -> Reason? {
    guard let receipt = record.receipt, receipt.state == .waiting, let reason = receipt.reason else {
      return nil
    }
    return LookUp.reasons.contains(reason) ? reason : nil
  }
}
