// The join inside the committing transaction: finds the row of a report, passes what was read to
// `Domain.Join`, and saves the decision. There is one writer and one consistent state, so two reports of one
// purchase cannot race (R2, R5). The writer's thread.

internal import Domain

/// Joins contexts and payments for one command.
///
/// A decision about one purchase may change others: those that lose a context are decided again at once,
/// freed contexts are offered when the command has saved its rows (`offerFreedContexts`).
struct Joiner {
  let store: StoreSession
  /// Contexts that purchases released in this command, or may lose now, and that have not been offered yet.
  var freedContexts: [(app: AppSlug, id: ContextID)] = []
  /// Purchases with changes that are not saved yet while other purchases are decided. The others take no
  /// context from them.
  var rowsBeingSaved: Set<PurchaseRowID> = []
  /// Purchases that named a context in this command that is not posted yet.
  var awaitingRows: Set<PurchaseRowID> = []
  /// The reference of the purchase under way, if it was just found to be no user of the app. Nil once a
  /// purchase is saved, whose receipt may make that user known.
  var unknownReference: (row: PurchaseRowID, user: UserID)?

  init(_ store: StoreSession) { self.store = store }

  /// Merges a report into its purchase.
  /// - Parameter keep: whether to make a row if the purchase is not known yet.
  /// - Returns: the event's outcome and its purchase.
  mutating func ingest(
    _ report: PurchaseReport, app: AppSlug, keep: Bool
  ) throws(StoreFault) -> (outcome: EventOutcome, row: PurchaseRowID?) {
    let found = try findAndMerge(report, app: app)
    if found == nil,
      try store.pastPurchases.contains(report.key, sessionID: report.sessionID, app: app, store.erasures)
    {
      return (.receipt, nil)
    }
    guard found != nil || keep else { return (.ignored, nil) }
    let reference = try store.standing(ofReferenceIn: report, app: app, known: found?.record.purchase)
    var record: PurchaseRecord
    let known: Purchase
    if let found {
      record = found.record
      known = record.purchase
      record.purchase.absorb(report, reference: reference)
    } else {
      record = PurchaseRecord(
        rowID: try store.counts.makePurchaseRow(), app: app,
        purchase: Purchase(report, reference: reference, now: store.now),
        receipt: nil, updatedAt: store.now)
      known = record.purchase
    }
    let unknown = reference == .unknown ? report.reference(reference)?.id : nil
    unknownReference = unknown.map { (record.rowID, $0) }
    if record.purchase.isForeign, record.receipt.map({ $0.state != .delivered && !$0.isReversal }) ?? true {
      try giveUpForeign(&record, had: known)
      try holdNamedContexts(of: report, for: record)
    } else if record.receipt?.isOpenToJoin ?? true {
      try claimNamedContext(of: report, for: &record, had: known)
      if known.isForeign { try claimHeldContexts(for: &record) }
      try releaseContextOfClosed(&record)
    } else {
      try learnLate(report, &record, had: known)
    }
    try decideAndSave(&record, before: found?.before)
    try store.captureIfAuthorised(record, before: found?.before.purchase)
    try shareUser(of: record, before: found?.before)
    try offerFreedContexts()
    let outcome = record.outcome
    return (outcome == .noted && !keep ? .ignored : outcome, record.rowID)
  }

  /// Decides about a purchase that is open to the join, and saves the row if it is new or changed.
  /// - Parameter before: the row in the database; nil if there is none yet.
  mutating func decideAndSave(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    if record.isCopy {
      try decideCopy(&record)
    } else if record.receipt?.isOpenToJoin ?? true {
      try decide(&record, isNew: before == nil)
    }
    store.reverse(&record)
    try save(&record, before: before)
    try correctLater(record)
  }

  /// Adds what events say of a purchase to the correction of its receipt, so that a reversal is reported for
  /// the receipt that counts.
  mutating func correctLater(_ record: PurchaseRecord) throws(StoreFault) {
    guard let id = record.receipt?.correctedBy, let correction = try store.purchases.find(receipt: id),
      !correction.purchase.isErased,
      !correction.purchase.observations.isSuperset(of: record.purchase.observations)
    else { return }
    var changed = correction
    changed.purchase.observations.formUnion(record.purchase.observations)
    try decideAndSave(&changed, before: correction)
  }

  /// Completes user and context of a purchase, and applies the join's decision to its receipt.
  /// - Parameter isNew: whether no row has it yet.
  mutating func decide(_ record: inout PurchaseRecord, isNew: Bool = false) throws(StoreFault) {
    guard let rules = store.rules(of: record.app), !record.purchase.isForeign else { return }
    // The clock may have been set back a moment ago, so that `FollowClock` has not been applied yet.
    record.purchase.bringBack(to: store.now)
    try completeUser(&record, isNew: isNew)
    // A purchase that ended without a receipt gets none, even if its user becomes known.
    if record.receipt == nil, record.purchase.hasEnded { return }
    if record.purchase.isBought, record.purchase.boughtAt == nil { record.purchase.boughtAt = store.now }
    try completeContext(&record, rules)
    var resolution = rules.resolve(record.purchase, now: store.now)
    if resolution == .none, record.receipt != nil {
      // The user who was inferred is one of two now.
      resolution = Join.awaitUser(record.purchase, policy: rules.join, now: store.now)
    }
    apply(resolution, rules, to: &record)
  }

  mutating func save(_ record: inout PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard record != before else { return }
    unknownReference = nil
    record.updatedAt = store.now
    let copy = try copy(of: &record, before: before)
    guard let before else {
      try store.insert(record)
      try write(copy)
      return try planAnnouncement(of: record, before: nil)
    }
    try store.purchases.update(record, from: before)
    store.changes.note(record)
    try write(copy)
    noteWeakerClaim(of: record, before: before)
    try revokeClaims(of: record, before: before)
    try planAnnouncement(of: record, before: before)
    try store.planLookup(of: record, before: before)
    try store.followOutcome(of: record, before: before)
  }

  private func apply(_ resolution: Join.Resolution, _ rules: AppRules, to record: inout PurchaseRecord) {
    let resolved: ReceiptResolution
    switch resolution {
    case .none: return
    case .waiting(let reason, let until):
      // A wait without a limit is decided again every hour, because the configuration may change.
      resolved = .waiting(reason, until: until ?? store.reconsideredAt)
    case .failed(let reason): resolved = .failed(reason)
    case .cancelled(let reason): resolved = .cancelled(reason)
    case .ready(let content, let mismatch):
      resolved =
        rules.payload(
          content, mismatch, to: rules.destinations(of: record.purchase, record.receipt).present
        ).map { .ready($0) } ?? .waiting(.destination, until: store.reconsideredAt)
    }
    if record.receipt == nil {
      record.receipt = .begin(
        id: store.receiptIdentifier(row: record.rowID), resolved, at: store.moment(of: record))
    } else {
      record.apply(.resolved(resolved), at: store.moment(of: record))
    }
  }
}

// MARK: - Awaited

// Contexts that events name before they are posted.

extension Joiner {
  /// A context that a report names. One that is not stored may still be posted by an app that could not reach
  /// the relay before the checkout, so the purchase waits for it.
  mutating func findOrAwait(
    _ id: ContextID, _ source: Purchase.ContextSource, _ report: PurchaseReport, _ record: PurchaseRecord
  ) throws(StoreFault) -> ContextRecord? {
    if let found = try store.contexts.find(app: record.app, id: id) { return found }
    // A payment that started at the relay named a context that was stored then.
    if report.startedBy == nil, let until = ContextIDRule.end(of: id, now: store.now) {
      try store.awaited.add(id, app: record.app, row: record.rowID, source: source, until: until)
      awaitingRows.insert(record.rowID)
    }
    return nil
  }

  /// Gives a context to the purchases that named it before it was posted, as if their events came again.
  mutating func giveAwaited(_ id: ContextID, app: AppSlug) throws(StoreFault) {
    let awaiting = try store.awaited.find(id, app: app)
    guard !awaiting.isEmpty else { return }
    for (row, source) in awaiting.map({ ($0.row, $0.source) }) {
      guard let purchase = try store.purchases.find(row: row)?.purchase, !purchase.isErased else { continue }
      let report = PurchaseReport(
        key: purchase.key, clientReference: source == .metadata ? nil : id.text,
        contextID: source == .metadata ? id : nil, happenedAt: purchase.happenedAt)
      _ = try ingest(report, app: app, keep: false)
    }
    try store.awaited.remove(id, app: app)
  }
}

// MARK: - Operator

// Changes that an operator made.

extension Joiner {
  /// Applies an operator's change to a receipt, and saves it.
  mutating func apply(_ event: ReceiptEvent, to old: PurchaseRecord) throws(StoreFault) -> OperatorResult {
    var record = old
    if let refusal = record.apply(event, at: store.moment(of: old)) { return refusal.result }
    try write(&record, from: old)
    return .done
  }

  mutating func write(_ record: inout PurchaseRecord, from old: PurchaseRecord) throws(StoreFault) {
    unknownReference = nil
    record.updatedAt = store.now
    let copy = try copy(of: &record, before: old)
    try store.purchases.update(record, from: old)
    store.changes.note(record)
    try write(copy)
    noteWeakerClaim(of: record, before: old)
    try revokeClaims(of: record, before: old)
    try store.planLookup(of: record, before: old)
    try store.followOutcome(of: record, before: old)
  }
}

// MARK: - Sent

// Restores a receipt's sent content if its purchase lost the context while the attempt was under way. The
// store keeps what the destination received: every view shows the sent content, and a retry sends the same
// bytes.

extension Joiner {
  /// Restores the content that an attempt has sent, if the receipt was made again meanwhile.
  mutating func keepSent(
    _ bytes: [UInt8], to destination: DestinationName, in record: inout PurchaseRecord
  ) throws(StoreFault) {
    guard let receipt = record.receipt, receipt.body != bytes, receipt.state != .delivered,
      !record.purchase.isErased
    else { return }
    var sent = SentReceipt(to: destination, body: bytes, content: nil)
    if let content = try content(of: bytes, to: destination, record) {
      if let old = record.purchase.contextID, old != content.purchase.contextID {
        store.changes.contextIDs.insert(old)
        // This context was guessed to replace the sent one, or is another user's, so it belongs to another
        // purchase.
        let hasOtherUser = record.purchase.userID != content.purchase.userID
        if !record.isCopy, record.purchase.contextSource == .guess || hasOtherUser {
          try free(old, by: record)
        }
      }
      record.purchase = content.purchase
      sent.content = .init(
        priceID: content.priceID, priceMismatch: content.priceMismatch, contextDisputed: content.isDisputed)
    }
    record.apply(.foundSent(sent), at: store.moment(of: record, sentTo: destination))
  }

  private typealias SentContent = (
    purchase: Purchase, priceID: PriceID?, priceMismatch: Bool, isDisputed: Bool
  )

  /// Parses a receipt's bytes: the purchase of one of the users that it may have had, without a context, with
  /// the blob of an event, or with a context of the user's.
  private func content(
    of bytes: [UInt8], to destination: DestinationName, _ record: PurchaseRecord
  ) throws(StoreFault) -> SentContent? {
    for name in record.purchase.allNames where name.standing == .counts {
      if let found = try content(of: bytes, to: destination, record, of: name) { return found }
    }
    // A user who was inferred is not kept as another name when an event names one.
    guard let customer = record.purchase.customerID else { return nil }
    let named = try store.customers.users(customer, at: record.place, isNeeded: true)
    for user in try store.users(of: customer, named: named, besides: record).sorted() {
      let name = NamedUser(id: user, source: .customer, standing: .counts)
      if let found = try content(of: bytes, to: destination, record, of: name) { return found }
    }
    return nil
  }

  /// The same, if the user was this one.
  private func content(
    of bytes: [UInt8], to destination: DestinationName, _ record: PurchaseRecord, of name: NamedUser
  ) throws(StoreFault) -> SentContent? {
    guard let rules = store.rules(of: record.app) else { return nil }
    var own = record.purchase
    if name.id != own.userID { own.setUser(name) }
    func matches(_ purchase: Purchase, _ isDisputed: Bool) -> SentContent? {
      // Until an event named a price, the receipt had the context's.
      for prices in [purchase.prices, []] {
        var priced = purchase
        priced.prices = prices
        guard case .success(let ready) = Join.content(of: priced, rules.processor(of: purchase)),
          rules.compose(ready.content, destination) == bytes
        else { continue }
        return (purchase, ready.content.priceID, ready.priceMismatch, isDisputed)
      }
      return nil
    }
    var bare = own
    bare.dropContext()
    if let found = matches(bare, false) { return found }
    if own.contextID == nil, own.context != nil, let found = matches(own, false) { return found }
    // A copy has the context of the purchase's own row.
    let row = record.receipt?.copyOf?.receipt.purchaseRow ?? record.rowID
    for context in try store.contexts.newest(app: record.app, user: name.id) {
      var guessed = bare
      guessed.contextID = context.id
      guessed.context = context.blob
      guessed.contextSource = .guess
      guard let found = matches(guessed, !context.isFree(for: row)) else { continue }
      if !record.isCopy, context.isFree(for: row) {
        try store.contexts.claim(context, for: record.rowID)
      }
      store.changes.contextIDs.insert(context.id)
      return found
    }
    return nil
  }
}

// MARK: - Merge

// Finds the row of a report, and merges two rows of one purchase.

extension Joiner {
  /// Finds the row of a report. A purchase stored under its checkout's id, and the object that the checkout
  /// sold, which may have its own row, are merged once an event names both.
  /// - Returns: the row after and before the merge.
  mutating func findAndMerge(
    _ report: PurchaseReport, app: AppSlug
  ) throws(StoreFault) -> (record: PurchaseRecord, before: PurchaseRecord)? {
    var known = try store.purchases.find(app: app, key: report.key)
    guard let sessionID = report.sessionID else { return known.map { ($0, $0) } }
    let processor = report.key.processor
    if known == nil { known = try store.purchases.find(app: app, processor, soldBy: sessionID) }
    guard !report.isOfCheckoutOnly else { return known.map { ($0, $0) } }
    guard let placeholder = try store.purchases.find(app: app, processor, knownByCheckout: sessionID) else {
      return known.map { ($0, $0) }
    }
    guard let survivor = known else { return (placeholder, placeholder) }
    return try merge(placeholder, into: survivor)
  }

  private mutating func merge(
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
    if replaces, !isOpen { replaces = try store.isUnsent(survivor) }
    if replaces { merged.purchase.replaceContext(by: placeholder.purchase) }
    for (owner, contextID) in [survivor, placeholder].map({ ($0, $0.purchase.contextID) }) {
      guard let contextID else { continue }
      store.changes.contextIDs.insert(contextID)
      // A receipt sent without a context still reports the state of the checkout for which the user posted
      // this context. A name applies to sent and unsent receipts.
      let isLate =
        !isOpen && (survivor.purchase.contextID == nil || owner.purchase.contextSource != .guess)
        && owner.purchase.userID == merged.purchase.userID
      if contextID == merged.purchase.contextID || isLate {
        try store.contexts.move(id: contextID, from: owner.rowID, to: kept.rowID)
      } else {
        try free(contextID, by: owner)
      }
    }
    if replaces, !isOpen { try rebuild(&merged) }
    try store.events.reassign(from: dropped.rowID, to: kept.rowID, outcome: merged.outcome)
    try store.lookups.move(from: dropped.rowID, to: kept.rowID)
    try store.captures.move(from: dropped.rowID, to: kept.rowID)
    try store.awaited.move(from: dropped.rowID, to: kept.rowID)
    // Only a receipt has claims.
    if dropped.receipt != nil {
      try store.claims.move(from: dropped.rowID, to: kept.rowID)
      if merged.purchase.userID != nil { try store.claims.revokeAll(kept.rowID, at: store.now) }
    }
    try store.purchases.delete(dropped)
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
