// The join inside the committing transaction: finds the row of a report, passes what was read to
// `Domain.Join`, and saves the decision. There is one writer and one consistent state, so two reports of one
// purchase cannot race (R2, R5). The writer's thread.

internal import Domain
internal import Formats

extension StoreSession {
  /// How often an undecidable purchase is checked again.
  static let reconsiderAfter: Duration = .hours(1)

  /// Merges a report into its purchase.
  /// - Parameter keep: whether to make a row if the purchase is not known yet.
  /// - Returns: the event's outcome and its purchase.
  func ingest(
    _ report: PurchaseReport, app: AppSlug, keep: Bool
  ) throws(StoreFault) -> (outcome: EventOutcome, row: PurchaseRowID?) {
    let found = try findAndMerge(report, app: app)
    if found == nil,
      try pastPurchases.contains(report.key, sessionID: report.sessionID, app: app, erasures)
    {
      return (.receipt, nil)
    }
    guard found != nil || keep else { return (.ignored, nil) }
    var record: PurchaseRecord
    if let found {
      record = found.record
    } else {
      record = PurchaseRecord(
        rowID: try counts.makePurchaseRow(), app: app, purchase: Purchase(report, now: now), receipt: nil,
        updatedAt: now)
    }
    let known = record.purchase
    record.purchase.absorb(report)
    if record.receipt?.isOpenToJoin ?? true {
      try claimNamedContext(of: report, for: &record, had: known)
      try releaseContextOfClosed(&record)
    } else {
      record.purchase.keepContent(of: known)
      try claimLateContext(of: report, for: &record)
    }
    try decideAndSave(&record, before: found?.before)
    try captureIfAuthorised(record, before: found?.before.purchase)
    try shareUser(of: record, before: found?.before)
    try offerFreedContexts()
    if record.receipt != nil { return (.receipt, record.rowID) }
    return (keep ? .noted : .ignored, record.rowID)
  }

  /// Decides about a purchase that is open to the join, and saves the row if it is new or changed.
  /// - Parameter before: the row in the database; nil if there is none yet.
  func decideAndSave(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    if record.receipt?.isOpenToJoin ?? true { try decide(&record) }
    reverse(&record)
    try save(&record, before: before)
  }

  /// Completes user and context of a purchase, and applies the join's decision to its receipt.
  func decide(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let rules = rules(of: record.app) else { return }
    // The clock may have been set back a moment ago, so that `FollowClock` has not been applied yet.
    record.purchase.bringBack(to: now)
    try completeUser(&record)
    // A purchase that ended without a receipt gets none, even if its user becomes known.
    if record.receipt == nil, record.purchase.hasEnded { return }
    if record.purchase.isBought, record.purchase.boughtAt == nil { record.purchase.boughtAt = now }
    try completeContext(&record, rules)
    let resolution = rules.resolve(record.purchase, now: now)
    apply(resolution, rules, to: &record)
  }

  func save(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard record != before else { return }
    record.updatedAt = now
    guard let before else {
      try purchases.insert(record)
      changes.note(record)
      return try planLookup(of: record, before: nil)
    }
    try purchases.update(record, from: before)
    changes.note(record)
    noteWeakerClaim(of: record, before: before)
    try planLookup(of: record, before: before)
    if record.receipt != nil, before.receipt == nil {
      try events.reassign(from: record.rowID, to: record.rowID, outcome: .receipt)
    }
  }

  private func completeUser(_ record: inout PurchaseRecord) throws(StoreFault) {
    if record.purchase.userID == nil, let customer = record.purchase.customerID,
      let user = try purchases.user(app: record.app, record.purchase.key.processor, ofCustomer: customer)
    {
      record.purchase.learnUser(user, from: .customer)
    }
    // A more certain source named another user, so a context of the old user does not belong to this purchase
    // (R5).
    if let contextID = record.purchase.contextID,
      let context = try contexts.find(app: record.app, id: contextID),
      context.userID != record.purchase.userID
    {
      try free(contextID, by: record)
      record.purchase.dropContext()
    }
  }

  private func apply(_ resolution: Join.Resolution, _ rules: AppRules, to record: inout PurchaseRecord) {
    let resolved: ReceiptResolution
    switch resolution {
    case .none: return
    case .waiting(let reason, let until):
      // A wait without a limit is decided again every hour, because the configuration may change.
      resolved = .waiting(reason, until: until ?? reconsideredAt)
    case .failed(let reason): resolved = .failed(reason)
    case .cancelled(let reason): resolved = .cancelled(reason)
    case .ready(let content, let mismatch):
      resolved =
        rules.payload(content, mismatch).map { .ready($0) } ?? .waiting(.destination, until: reconsideredAt)
    }
    if record.receipt == nil {
      record.receipt = .begin(
        id: receiptIdentifier(row: record.rowID), resolved, at: moment(of: record))
    } else {
      record.apply(.resolved(resolved), at: moment(of: record))
    }
  }

  /// When to check an undecidable receipt again.
  var reconsideredAt: Timestamp { now.advanced(by: Self.reconsiderAfter) }

  /// The present moment for a receipt: what counts as paused is that of its app and of its destination.
  /// - Parameter place: the destination; nil for the present one of its processor.
  func moment(of record: PurchaseRecord, sentTo place: DestinationName? = nil) -> ReceiptMoment {
    let held = pauses[record.app].pausedTime(now: now)
    let destination = place ?? rules(of: record.app)?.destination(record.purchase.key.processor)
    guard let destination else { return ReceiptMoment(now: now, pausedTime: held) }
    let paused = breakers.pausedTime(AppDestination(record.app, destination), now: now)
    return ReceiptMoment(now: now, pausedTime: held + paused)
  }

  /// Sets a customer's newly known user for the customer's other purchases that lack one.
  private func shareUser(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard let user = record.purchase.userID, let customer = record.purchase.customerID else { return }
    if before?.purchase.userID == user, before?.purchase.customerID == customer { return }
    let processor = record.purchase.key.processor
    for other in try purchases.lackingUser(
      app: record.app, processor, customer: customer, besides: record.rowID)
    {
      var completed = other
      completed.purchase.learnUser(user, from: .customer)
      try decideAndSave(&completed, before: other)
    }
  }
}
