// Contexts that events name before they are posted. The writer's thread.

internal import Domain

extension StoreSession {
  /// A context that a report names. One that is not stored may still be posted by an app that could not reach
  /// the relay before the checkout, so the purchase waits for it.
  func findOrAwait(
    _ id: ContextID, _ source: Purchase.ContextSource, _ report: PurchaseReport, _ record: PurchaseRecord
  ) throws(StoreFault) -> ContextRecord? {
    if let found = try contexts.find(app: record.app, id: id) { return found }
    // A payment that started at the relay named a context that was stored then.
    if report.startedBy == nil, let until = ContextIDRule.end(of: id, now: now) {
      try awaited.add(id, app: record.app, row: record.rowID, source: source, until: until)
    }
    return nil
  }

  /// Gives a context to the purchases that named it before it was posted, as if their events came again.
  func giveAwaited(_ id: ContextID, app: AppSlug) throws(StoreFault) {
    let awaiting = try awaited.find(id, app: app)
    guard !awaiting.isEmpty else { return }
    for (row, source) in awaiting.map({ ($0.row, $0.source) }) {
      guard let purchase = try purchases.find(row: row)?.purchase, !purchase.isErased else { continue }
      let report = PurchaseReport(
        key: purchase.key, clientReference: source == .metadata ? nil : id.text,
        contextID: source == .metadata ? id : nil, happenedAt: purchase.happenedAt)
      _ = try ingest(report, app: app, keep: false)
    }
    try awaited.remove(id, app: app)
  }
}
