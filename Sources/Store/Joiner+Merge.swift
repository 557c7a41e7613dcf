// Finds the row of a report, and merges two rows of one purchase. The writer's thread.

internal import Domain

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
