// Assigns contexts to purchases. A name always beats a guess (R5): a purchase that names a context takes it
// from one that guessed it, and a receipt that was not sent yet is made again without it. The writer's
// thread.

internal import Domain

extension StoreSession {
  /// Replaces a less certain context by the blob inside an event, or by a context that the event names by its
  /// id. A named context also determines the user.
  /// - Parameter known: the purchase before the report was merged.
  func claimNamedContext(
    of report: PurchaseReport, for record: inout PurchaseRecord, had known: Purchase
  ) throws(StoreFault) {
    if let old = known.contextID, record.purchase.contextID != old { try free(old, by: record) }
    let isOver = record.purchase.isAbandoned || (record.receipt == nil && record.purchase.hasEnded)
    for (id, source) in report.namedContexts {
      guard let context = try findOrAwait(id, source, report, record) else { continue }
      // The user of a payment that started at the relay was authorized.
      if let starter = report.startedBy, starter != context.userID { continue }
      // A different context, named less certainly, may have named a different user.
      let isOutranked =
        record.purchase.userSource == .context
        && record.purchase.contextSource.map { $0.isName && source < $0 } ?? false
      if !isOutranked { record.purchase.learnUser(context.userID, from: .context) }
      guard !isOver, isOutranked || record.purchase.userID == context.userID,
        try assign(context, namedBy: source, for: &record)
      else { continue }
      record.purchase.userID = context.userID
    }
  }

  /// Releases the context of a started payment that ended without money, so that the user's next payment gets
  /// it.
  func releaseContextOfClosed(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard record.isOnlyStarted, record.purchase.isAbandoned, let id = record.purchase.contextID else {
      return
    }
    try free(id, by: record)
    record.purchase.dropContext()
  }

  /// Handles an event that names the context of a purchase whose receipt is already made. A receipt that was
  /// not sent yet is made again; otherwise the sent content stays, and the context reports the state of its
  /// checkout.
  func claimLateContext(
    of report: PurchaseReport, for record: inout PurchaseRecord
  ) throws(StoreFault) {
    guard report.context != nil || !report.namedContexts.isEmpty, !record.purchase.isErased else { return }
    guard try isUnsent(record) else {
      for (id, source) in report.namedContexts {
        guard record.purchase.contextSource.map({ source < $0 }) ?? true,
          let context = try findOrAwait(id, source, report, record),
          context.userID == record.purchase.userID
        else { continue }
        _ = try acquire(context, for: record.rowID)
      }
      return
    }
    let before = record.purchase
    if let blob = report.context { record.purchase.learnContext(blob) }
    if let old = before.contextID, record.purchase.contextID != old { try free(old, by: record) }
    for (id, source) in report.namedContexts {
      guard let context = try findOrAwait(id, source, report, record),
        context.userID == record.purchase.userID
      else { continue }
      _ = try assign(context, namedBy: source, for: &record)
    }
    if record.purchase.context != before.context { try rebuild(&record) }
  }

  /// Gives a purchase the context that an event named, unless it has one that was named more certainly.
  /// - Returns: whether the purchase has that context now.
  private func assign(
    _ context: ContextRecord, namedBy source: Purchase.ContextSource, for record: inout PurchaseRecord
  ) throws(StoreFault) -> Bool {
    if let known = record.purchase.contextSource, known <= source { return false }
    if record.purchase.contextID != context.id {
      guard try acquire(context, for: record.rowID) else { return false }
      if let other = record.purchase.contextID { try free(other, by: record) }
      record.purchase.contextID = context.id
      record.purchase.context = context.blob
    }
    record.purchase.contextSource = source
    record.purchase.contextCandidates = nil
    return true
  }

  /// Assigns a context to a purchase that names it: no purchase has it, or the holder guessed it.
  /// - Returns: false if another purchase named it first (R5).
  func acquire(_ context: ContextRecord, for row: PurchaseRowID) throws(StoreFault) -> Bool {
    let holder = try holder(of: context, besides: row)
    if let holder, !holder.yieldsContextToName { return false }
    try claim(context, for: row, from: holder)
    return true
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

  /// Gives a context to a purchase. The previous holder is decided again at once, but takes nothing from this
  /// purchase, which is not saved yet.
  /// - Parameter context: as it was read.
  func claim(
    _ context: ContextRecord, for row: PurchaseRowID, from holder: PurchaseRecord?
  ) throws(StoreFault) {
    try contexts.claim(context, for: row)
    changes.contextIDs.insert(context.id)
    guard let holder else { return }
    let isFirst = rowsInHand.insert(row).inserted
    defer { if isFirst { rowsInHand.remove(row) } }
    try loseContext(holder)
  }

  /// Handles a purchase whose context another purchase names or has a stronger claim to. If it was only
  /// started, or if the context was a guess and the receipt was not sent, drops the context and makes the
  /// receipt again. Otherwise marks the receipt as disputed; the purchase keeps the context.
  private func loseContext(_ holder: PurchaseRecord) throws(StoreFault) {
    var record = holder
    if holder.purchase.contextSource == .guess || holder.isOnlyStarted, try isUnsent(holder) {
      record.purchase.dropContext()
      try rebuild(&record)
    } else {
      record.apply(.contextDisputed, at: moment(of: record))
    }
    try save(&record, before: holder)
  }

  /// Whether no destination can have received the receipt, according to attempts on disk. `RecordAttempt`
  /// handles an attempt that is under way now.
  func isUnsent(_ record: PurchaseRecord) throws(StoreFault) -> Bool {
    guard let receipt = record.receipt else { return true }
    guard receipt.state != .delivered, receipt.lastStatus == nil else { return false }
    return receipt.body == nil ? true : try !attempts.haveReached(row: record.rowID)
  }

  /// Decides again about a purchase whose context changed before its receipt was sent.
  func rebuild(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let receipt = record.receipt, !receipt.isOpenToJoin else { return try decide(&record) }
    if receipt.state == .pending {
      record.apply(.withdrawn(.context, until: reconsideredAt), at: moment(of: record))
      return try decide(&record)
    }
    // It ended unsent: a replay will send what is known now.
    guard receipt.body != nil else { return }
    record.apply(.recomposed(try? payload(of: record)), at: moment(of: record))
  }
}
