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

// MARK: - Awaited

// Contexts that events name before they are posted. The writer's thread.

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

// MARK: - Sent

// Restores a receipt's sent content if its purchase lost the context while the attempt was under way. The
// store keeps what the destination received: every view shows the sent content, and a retry sends the same
// bytes. The writer's thread.

extension StoreSession {
  /// Restores the content that an attempt has sent, if the receipt was made again meanwhile.
  func keepSent(
    _ bytes: [UInt8], to destination: DestinationName, in record: inout PurchaseRecord
  ) throws(StoreFault) {
    guard let receipt = record.receipt, receipt.body != bytes, receipt.state != .delivered,
      !record.purchase.isErased
    else { return }
    var sent = SentReceipt(to: destination, body: bytes, content: nil)
    if let content = try content(of: bytes, to: destination, record) {
      if let old = record.purchase.contextID, old != content.purchase.contextID {
        changes.contextIDs.insert(old)
        // This context was guessed to replace the sent one, and belongs to another purchase.
        if record.purchase.contextSource == .guess { try free(old, by: record) }
      }
      record.purchase = content.purchase
      sent.content = .init(
        priceID: content.priceID, priceMismatch: content.priceMismatch, contextDisputed: content.isDisputed)
    }
    record.apply(.foundSent(sent), at: moment(of: record, sentTo: destination))
  }

  private typealias SentContent = (
    purchase: Purchase, priceID: PriceID?, priceMismatch: Bool, isDisputed: Bool
  )

  /// Parses a receipt's bytes: the purchase without a context, or with one of its user's.
  private func content(
    of bytes: [UInt8], to destination: DestinationName, _ record: PurchaseRecord
  ) throws(StoreFault) -> SentContent? {
    guard let rules = rules(of: record.app), let user = record.purchase.userID else { return nil }
    var bare = record.purchase
    bare.dropContext()
    func matches(_ purchase: Purchase, _ isDisputed: Bool) -> SentContent? {
      guard case .success(let ready) = Join.content(of: purchase, rules.processor(of: purchase)),
        rules.compose(ready.content, destination) == bytes
      else { return nil }
      return (purchase, ready.content.priceID, ready.priceMismatch, isDisputed)
    }
    if let found = matches(bare, false) { return found }
    for context in try contexts.newest(app: record.app, user: user) {
      var guessed = bare
      guessed.contextID = context.id
      guessed.context = context.blob
      guessed.contextSource = .guess
      guard let found = matches(guessed, !context.isFree(for: record.rowID)) else { continue }
      if context.isFree(for: record.rowID) {
        try contexts.claim(context, for: record.rowID)
      }
      changes.contextIDs.insert(context.id)
      return found
    }
    return nil
  }
}

// MARK: - Merge

// Finds the row of a report, and merges two rows of one purchase. The writer's thread.

extension StoreSession {
  /// Finds the row of a report. A purchase stored under its checkout's id, and the object that the checkout
  /// sold, which may have its own row, are merged once an event names both.
  /// - Returns: the row after and before the merge.
  func findAndMerge(
    _ report: PurchaseReport, app: AppSlug
  ) throws(StoreFault) -> (record: PurchaseRecord, before: PurchaseRecord)? {
    var known = try purchases.find(app: app, key: report.key)
    guard let sessionID = report.sessionID else { return known.map { ($0, $0) } }
    let processor = report.key.processor
    if known == nil { known = try purchases.find(app: app, processor, soldBy: sessionID) }
    guard !report.isOfCheckoutOnly else { return known.map { ($0, $0) } }
    guard let placeholder = try purchases.find(app: app, processor, knownByCheckout: sessionID) else {
      return known.map { ($0, $0) }
    }
    guard let survivor = known else { return (placeholder, placeholder) }
    return try merge(placeholder, into: survivor)
  }

  private func merge(
    _ placeholder: PurchaseRecord, into survivor: PurchaseRecord
  ) throws(StoreFault) -> (record: PurchaseRecord, before: PurchaseRecord) {
    // A receipt's id contains its row. The placeholder's receipt was never sent, so it can continue as the
    // object's.
    let isPlaceholderKept = survivor.receipt == nil && placeholder.receipt != nil
    let (kept, dropped) = isPlaceholderKept ? (placeholder, survivor) : (survivor, placeholder)
    var merged = survivor
    merged.rowID = kept.rowID
    merged.receipt = kept.receipt
    merged.purchase.absorb(placeholder.purchase)
    let isOpen = survivor.receipt?.isOpenToJoin ?? true
    if !isOpen { merged.purchase.keepContent(of: survivor.purchase) }
    var replaces = Self.isBetterServed(
      placeholder.purchase, than: survivor.purchase, user: merged.purchase.userID, isOpen: isOpen)
    if replaces, !isOpen { replaces = try isUnsent(survivor) }
    if replaces { merged.purchase.replaceContext(by: placeholder.purchase) }
    for (owner, contextID) in [survivor, placeholder].map({ ($0, $0.purchase.contextID) }) {
      guard let contextID else { continue }
      changes.contextIDs.insert(contextID)
      // A receipt sent without a context still reports the state of the checkout for which the user posted
      // this context. A name applies to sent and unsent receipts.
      let isLate =
        !isOpen && (survivor.purchase.contextID == nil || owner.purchase.contextSource != .guess)
        && owner.purchase.userID == merged.purchase.userID
      if contextID == merged.purchase.contextID || isLate {
        try contexts.move(id: contextID, from: owner.rowID, to: kept.rowID)
      } else {
        try free(contextID, by: owner)
      }
    }
    if replaces, !isOpen { try rebuild(&merged) }
    try events.reassign(
      from: dropped.rowID, to: kept.rowID, outcome: merged.receipt == nil ? .noted : .receipt)
    try lookups.move(from: dropped.rowID, to: kept.rowID)
    try captures.move(from: dropped.rowID, to: kept.rowID)
    try awaited.move(from: dropped.rowID, to: kept.rowID)
    try purchases.delete(dropped)
    return (merged, kept)
  }

  /// Chooses between two contexts that one purchase claimed under two keys: the one that an event named, else
  /// the one with its price, else the newer, as if there had been one key from the start. A purchase whose
  /// receipt is ready gives up a guess for a name only.
  /// - Parameter user: the user of the merged purchase.
  private static func isBetterServed(
    _ one: Purchase, than other: Purchase, user: UserID?, isOpen: Bool
  ) -> Bool {
    guard let source = one.contextSource, one.userID == user else { return false }
    guard isOpen else { return source < (other.contextSource ?? .guess) }
    guard other.userID == user else { return true }
    func rank(_ purchase: Purchase) -> (Int64, Int, ContextID) {
      let hasPrice = purchase.context?.priceID.map((one.prices + other.prices).contains) ?? false
      return (-(purchase.contextSource ?? .guess).rawValue, hasPrice ? 1 : 0, purchase.contextID ?? "")
    }
    return other.context != nil && rank(one) > rank(other)
  }
}

// MARK: - Lookup

// Plans lookups. The join records which purchases need one, so that no search is needed. The writer's thread.

extension StoreSession {
  /// Updates the planned lookup when a receipt begins or stops to wait for something that the processor may
  /// know.
  func planLookup(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
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
      var record = PurchaseRecord(
        rowID: try counts.makePurchaseRow(), app: app, purchase: purchase, receipt: nil, updatedAt: now)
      try save(&record, before: nil)
      found = record
    }
    guard let found else { return nil }
    if !found.purchase.isFinal {
      try lookups.fetch(row: found.rowID, of: found.place, at: now)
      changes.note(lookupsDueAt: now, found.place)
    }
    return (found.receipt == nil ? .noted : .receipt, found.rowID)
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
