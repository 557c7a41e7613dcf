// The join inside the committing transaction: finds the row that a report is about, hands what was read to
// the rules of `Domain.Join`, and writes down what they decide. One consistent state is seen and there is one
// writer, so two reports of one purchase cannot race (R2, R5). The writer's thread.

internal import Domain

extension StoreSession {
  /// How often a purchase about which nothing can be decided yet is looked at again.
  static let reconsiderMilliseconds: Int64 = 3_600_000

  /// Takes in what an event says.
  /// - Parameter keep: whether it is worth a row of its own when nothing is known of the purchase yet.
  /// - Returns: what became of the event, and the purchase it belongs to.
  func take(
    _ report: PurchaseReport, app: String, keep: Bool
  ) throws(StoreFault) -> (outcome: EventOutcome, row: Int64?) {
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
        rowID: counts.takePurchaseRow(), app: app, purchase: Purchase(report, now: now), receipt: nil,
        updatedAt: now)
    }
    let known = record.purchase
    record.purchase.absorb(report)
    if record.receipt?.isOpenToJoin ?? true {
      try takeNamedContext(of: report, for: &record, had: known)
    } else {
      record.purchase.keepContent(of: known)
      try takeLateName(of: report, for: &record)
    }
    try settle(&record, before: found?.before)
    try shareUser(of: record, before: found?.before)
    try offerFreedContexts()
    if record.receipt != nil { return (.receipt, record.rowID) }
    return (keep ? .noted : .ignored, record.rowID)
  }

  /// Completes what can be completed, decides, and writes the row if it is new or changed.
  /// - Parameter before: the row as it stands in the database; nil when it is not there yet.
  func settle(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    if record.receipt?.isOpenToJoin ?? true { try decide(&record) }
    try save(&record, before: before)
  }

  /// Completes what can be completed, and decides what becomes of a purchase that is open to it.
  func decide(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let rules = rules(of: record.app) else { return }
    try completeUser(&record)
    // What ended before it had a receipt gets none, whoever turns out to have bought it.
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
      return try planLookUp(of: record, before: nil)
    }
    try purchases.update(record, from: before)
    changes.note(record)
    noteWeakerClaim(of: record, before: before)
    try planLookUp(of: record, before: before)
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
    // A more certain source named another user: a context that was found for the old one is not this
    // purchase's (R5).
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
      // One that waits without a limit is decided again every hour: the configuration may change.
      resolved = .waiting(reason, until: until ?? reconsideredAt)
    case .failed(let reason): resolved = .failed(reason)
    case .cancelled(let reason): resolved = .cancelled(reason)
    case .ready(let content, let mismatch): resolved = .ready(rules.payload(content, mismatch))
    }
    if record.receipt == nil {
      record.receipt = .begin(
        id: receiptIdentifier(row: record.rowID), resolved, at: moment(of: record.app))
    } else {
      record.apply(.resolved(resolved), at: moment(of: record.app))
    }
  }

  /// When to decide again about a receipt about which nothing can be decided now.
  var reconsideredAt: Timestamp { now.advanced(byMilliseconds: Self.reconsiderMilliseconds) }

  /// Now, for the receipts of an app.
  func moment(of app: String) -> ReceiptMoment {
    ReceiptMoment(now: now, pausedMilliseconds: breakers.pausedMilliseconds(app: app, now: now))
  }

  /// A user that becomes known for a customer is the user of the customer's other purchases that lack one.
  private func shareUser(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard let user = record.purchase.userID, let customer = record.purchase.customerID else { return }
    if before?.purchase.userID == user, before?.purchase.customerID == customer { return }
    let processor = record.purchase.key.processor
    for other in try purchases.lackingUser(app: record.app, processor, customer: customer)
    where other.rowID != record.rowID {
      var completed = other
      completed.purchase.learnUser(user, from: .customer)
      try settle(&completed, before: other)
    }
  }
}
