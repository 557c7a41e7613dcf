// The join inside the committing transaction: finds the row that a report is about, hands what was read to
// the rules of `Domain.Join`, and writes down what they decide. One consistent state is seen and there is one
// writer, so two reports of one purchase cannot race (R2, R5). The writer's thread.

internal import Domain
internal import SQLite

extension StoreSession {
  /// How often a purchase about which nothing can be decided yet is looked at again.
  static let reconsiderMilliseconds: Int64 = 3_600_000

  /// Takes in what an event says.
  /// - Parameter keep: whether it is worth a row of its own when nothing is known of the purchase yet.
  /// - Returns: what became of the event, and the purchase it belongs to.
  func take(
    _ report: PurchaseReport, app: String, keep: Bool
  ) throws(SQLiteError) -> (outcome: EventOutcome, row: Int64?) {
    let found = try findAndMerge(report, app: app)
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
      try takeNamedContext(of: report, for: &record)
    } else {
      record.purchase.keepContent(of: known)
    }
    try settle(&record, before: found?.before)
    try shareUser(of: record, before: found?.before)
    if record.receipt != nil { return (.receipt, record.rowID) }
    return (keep ? .noted : .ignored, record.rowID)
  }

  /// The row that the report is about. A checkout that stood under its session's id, and a subscription that
  /// made a row of its own meanwhile, turn out to be one purchase as soon as one event names both.
  /// - Returns: the row, and the same as it was before anything was merged into it.
  private func findAndMerge(
    _ report: PurchaseReport, app: String
  ) throws(SQLiteError) -> (record: PurchaseRecord, before: PurchaseRecord)? {
    var known = try purchases.find(app: app, key: report.key)
    guard let sessionID = report.sessionID else { return known.map { ($0, $0) } }
    if known == nil { known = try purchases.find(app: app, session: sessionID) }
    guard report.key.type == .subscription else { return known.map { ($0, $0) } }
    let sessionKey = PurchaseKey(type: .checkoutSession, id: sessionID)
    guard let placeholder = try purchases.find(app: app, key: sessionKey) else {
      return known.map { ($0, $0) }
    }
    guard let survivor = known else { return (placeholder, placeholder) }
    return try merge(placeholder, into: survivor)
  }

  private func merge(
    _ placeholder: PurchaseRecord, into survivor: PurchaseRecord
  ) throws(SQLiteError) -> (record: PurchaseRecord, before: PurchaseRecord) {
    // A receipt names its row. Nothing of the placeholder's was ever sent, so it may go on as the
    // subscription's.
    let isPlaceholderKept = survivor.receipt == nil && placeholder.receipt != nil
    let (kept, dropped) = isPlaceholderKept ? (placeholder, survivor) : (survivor, placeholder)
    var merged = survivor
    merged.rowID = kept.rowID
    merged.receipt = kept.receipt
    merged.purchase.absorb(placeholder.purchase)
    let isOpen = survivor.receipt?.isOpenToJoin ?? true
    if !isOpen {
      merged.purchase.keepContent(of: survivor.purchase)
    } else if Self.isBetterServed(placeholder.purchase, than: survivor.purchase) {
      merged.purchase.contextID = placeholder.purchase.contextID
      merged.purchase.context = placeholder.purchase.context
    }
    for (owner, contextID) in [survivor, placeholder].map({ ($0.rowID, $0.purchase.contextID) }) {
      guard let contextID else { continue }
      changes.contextIDs.insert(contextID)
      // What was sent without a context is still what became of its user's checkout, for which this was
      // posted.
      let isLate =
        !isOpen && survivor.purchase.contextID == nil && placeholder.purchase.userID == merged.purchase.userID
      if contextID == merged.purchase.contextID || isLate {
        try contexts.move(id: contextID, from: owner, to: kept.rowID)
      } else {
        try contexts.release(id: contextID)
      }
    }
    try events.reassign(
      from: dropped.rowID, to: kept.rowID, outcome: merged.receipt == nil ? .noted : .receipt)
    try purchases.delete(row: dropped.rowID)
    return (merged, kept)
  }

  /// Of two contexts that one purchase claimed under two names, the one that an event named, else the one
  /// with its price, else the newer, as if there had been one name from the start.
  private static func isBetterServed(_ one: Purchase, than other: Purchase) -> Bool {
    guard let left = one.contextID, let right = other.contextID else { return false }
    func rank(_ purchase: Purchase, _ id: String) -> (Int, Int, String) {
      let hasPrice = purchase.context?.priceID.map((one.prices + other.prices).contains) ?? false
      return (purchase.userSource == .context ? 1 : 0, hasPrice ? 1 : 0, id)
    }
    return rank(one, left) > rank(other, right)
  }

  /// A context's blob inside an event, or a context that the event names by its id, goes before one that was
  /// found for the user. A name names the user, too; the context is claimed if it is free, and if there is
  /// something that it may serve.
  private func takeNamedContext(of report: PurchaseReport, for record: inout PurchaseRecord)
    throws(SQLiteError)
  {
    if let blob = report.context, let found = record.purchase.contextID, record.purchase.context != blob {
      try contexts.release(id: found)
      changes.contextIDs.insert(found)
      record.purchase.contextID = nil
      record.purchase.context = blob
    }
    guard let id = report.namedContextID, let context = try contexts.find(app: record.app, id: id) else {
      return
    }
    record.purchase.learnUser(context.userID, from: .context)
    guard context.isFree(for: record.rowID), record.purchase.userID == context.userID,
      record.purchase.contextID != id
    else { return }
    if record.purchase.isAbandoned || (record.purchase.context != nil && record.purchase.contextID == nil) {
      return
    }
    if let other = record.purchase.contextID { try contexts.release(id: other) }
    try claim(id, context.blob, for: &record)
  }

  private func claim(
    _ id: String, _ blob: ContextBlob, for record: inout PurchaseRecord
  ) throws(SQLiteError) {
    try contexts.claim(id: id, for: record.rowID)
    record.purchase.contextID = id
    record.purchase.context = blob
    changes.contextIDs.insert(id)
  }

  /// Completes what can be completed, decides, and writes the row if it is new or changed.
  /// - Parameter before: the row as it stands in the database; nil when it is not there yet.
  func settle(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(SQLiteError) {
    guard let rules = rules(of: record.app) else { return try save(&record, before: before) }
    if record.receipt?.isOpenToJoin ?? true {
      try completeUser(&record)
      try completeContext(&record, policy: rules.join)
      if record.purchase.isBought, record.purchase.boughtAt == nil { record.purchase.boughtAt = now }
      apply(Join.resolve(record.purchase, policy: rules.join, now: now), rules, to: &record)
    }
    try save(&record, before: before)
  }

  private func save(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(SQLiteError) {
    guard record != before else { return }
    record.updatedAt = now
    guard let before else {
      try purchases.insert(record)
      changes.note(record)
      return try planLookUp(of: record, before: nil)
    }
    try purchases.update(record, from: before)
    changes.note(record)
    try planLookUp(of: record, before: before)
    if record.receipt != nil, before.receipt == nil {
      try events.reassign(from: record.rowID, to: record.rowID, outcome: .receipt)
    }
  }

  private func completeUser(_ record: inout PurchaseRecord) throws(SQLiteError) {
    if record.purchase.userID == nil, let customer = record.purchase.customerID,
      let user = try purchases.user(app: record.app, ofCustomer: customer)
    {
      record.purchase.learnUser(user, from: .customer)
    }
    // A more certain source named another user: a context that was found for the old one is not this
    // purchase's (R5).
    if let contextID = record.purchase.contextID,
      let context = try contexts.find(app: record.app, id: contextID),
      context.userID != record.purchase.userID
    {
      try contexts.release(id: contextID)
      changes.contextIDs.insert(contextID)
      record.purchase.contextID = nil
      record.purchase.context = nil
    }
  }

  private func completeContext(_ record: inout PurchaseRecord, policy: JoinPolicy) throws(SQLiteError) {
    let purchase = record.purchase
    guard purchase.deservesReceipt, purchase.contextID == nil, let user = purchase.userID else { return }
    if let blob = purchase.context {
      // The event carried the blob itself; if the app posted it too, that post is served by this purchase.
      guard let id = try contexts.unused(app: record.app, user: user, blob: blob.text) else { return }
      return try claim(id, blob, for: &record)
    }
    let since = Join.windowStart(happenedAt: purchase.happenedAt, now: now, policy: policy)
    let candidates = try contexts.candidates(app: record.app, user: user, since: since)
    guard let chosen = Join.choose(from: candidates, for: purchase, policy: policy, now: now) else { return }
    try claim(chosen.id, chosen.blob, for: &record)
  }

  private func apply(_ resolution: Join.Resolution, _ rules: AppRules, to record: inout PurchaseRecord) {
    func receipt(_ state: ReceiptState, _ reason: Reason?, until: Timestamp? = nil) -> Receipt {
      var receipt =
        record.receipt
        ?? Receipt(
          id: receiptIdentifier(row: record.rowID), state: state, reason: reason, createdAt: now)
      receipt.state = state
      receipt.reason = reason
      receipt.waitUntil = until
      return receipt
    }
    switch resolution {
    case .none: break
    case .waiting(let reason, let until):
      // One that waits for as long as it takes is looked at now and then: the configuration may change.
      let until = until ?? now.advanced(byMilliseconds: Self.reconsiderMilliseconds)
      record.receipt = receipt(.waiting, reason, until: until)
    case .failed(let reason): record.receipt = receipt(.failed, reason)
    case .cancelled(let reason): record.receipt = receipt(.cancelled, reason)
    case .ready(let content, let mismatch):
      var ready = receipt(.pending, nil)
      ready.priceID = content.priceID
      ready.priceMismatch = mismatch
      ready.body = rules.compose(content)
      ready.readyAt = now
      ready.isReplay = false
      restartBudget(of: &ready, app: record.app, at: now)
      record.receipt = ready
    }
  }

  /// The receipt is due at that moment, with its whole retry budget.
  func restartBudget(of receipt: inout Receipt, app: String, at moment: Timestamp) {
    receipt.spentTries = 0
    receipt.retrySince = max(now, moment)
    receipt.pausedBaseMilliseconds = breakers.pausedMilliseconds(app: app, now: now)
    receipt.nextAttemptAt = moment
  }

  /// A user that becomes known for a customer is the user of the customer's other purchases that lack one.
  private func shareUser(of record: PurchaseRecord, before: PurchaseRecord?) throws(SQLiteError) {
    guard let user = record.purchase.userID, let customer = record.purchase.customerID else { return }
    if before?.purchase.userID == user, before?.purchase.customerID == customer { return }
    for other in try purchases.lackingUser(app: record.app, customer: customer)
    where other.rowID != record.rowID {
      var completed = other
      completed.purchase.learnUser(user, from: .customer)
      try settle(&completed, before: other)
    }
  }
}
