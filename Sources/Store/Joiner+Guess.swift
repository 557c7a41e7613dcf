// Assigns guessed contexts to purchases that name none. A paid purchase takes precedence over a promised one,
// and that over one that ended unpaid, in any order of arrival. The writer's thread.

internal import Domain

extension StoreSession {
  /// A context that a purchase may guess, and its present holder.
  struct Guess {
    var context: ContextRecord
    var holder: PurchaseRecord?
    /// Among how many contexts it was chosen.
    var candidates: Int64 = 1
  }

  /// Finds a context for a purchase: the posted context with the blob inside an event, else a guess.
  func completeContext(_ record: inout PurchaseRecord, _ rules: AppRules) throws(StoreFault) {
    try dropOutdatedGuess(&record, rules)
    let purchase = record.purchase
    guard purchase.deservesReceipt, purchase.contextID == nil, let user = purchase.userID else { return }
    if let blob = purchase.context {
      for posted in try contexts.posted(app: record.app, user: user, blob: blob.text)
      where try acquire(posted, for: record.rowID) {
        record.purchase.contextID = posted.id
        break
      }
      return
    }
    guard let chosen = try guess(for: record, rules) else { return }
    try claim(chosen.context, for: record.rowID, from: chosen.holder)
    record.purchase.contextID = chosen.context.id
    record.purchase.context = chosen.context.blob
    record.purchase.contextSource = .guess
    record.purchase.contextCandidates = chosen.candidates
  }

  /// Drops a guess made before the price was known, if another context fits better now or this one names
  /// another price. Waits until a new guess is allowed, because otherwise another purchase would get the
  /// context meanwhile.
  private func dropOutdatedGuess(_ record: inout PurchaseRecord, _ rules: AppRules) throws(StoreFault) {
    let purchase = record.purchase
    guard purchase.contextSource == .guess, let id = purchase.contextID, let guess = purchase.context,
      Join.isOutdated(guess, for: purchase),
      rules.mayGuess(for: purchase, now: now),
      let held = try contexts.find(app: record.app, id: id)
    else { return }
    let all = try guesses(for: record, rules).map(\.context.candidate) + [held.candidate]
    guard rules.choose(from: all, for: purchase, now: now)?.candidate.id != id else { return }
    try free(id, by: record)
    record.purchase.dropContext()
  }

  /// Guesses a context for a purchase that names none; nil for none, or none yet.
  func guess(for record: PurchaseRecord, _ rules: AppRules) throws(StoreFault) -> Guess? {
    guard rules.mayGuess(for: record.purchase, now: now) else {
      return nil
    }
    let all = try guesses(for: record, rules)
    guard
      let chosen = rules.choose(from: all.map(\.context.candidate), for: record.purchase, now: now),
      var guess = all.first(where: { $0.context.id == chosen.candidate.id })
    else { return nil }
    guess.candidates = chosen.among
    return guess
  }

  /// The contexts of a purchase's user that are unused, or that it may take from another purchase.
  private func guesses(for record: PurchaseRecord, _ rules: AppRules) throws(StoreFault) -> [Guess] {
    guard let user = record.purchase.userID else { return [] }
    let since = Join.windowStart(happenedAt: record.purchase.happenedAt, now: now, policy: rules.join)
    var found = try contexts.candidates(app: record.app, user: user, since: since).map {
      Guess(context: $0, holder: nil)
    }
    for holder in try purchases.withOpenGuess(app: record.app, user: user)
    where holder.yieldsContext(to: record) && !rowsInHand.contains(holder.rowID) {
      guard let id = holder.purchase.contextID, let context = try contexts.find(app: record.app, id: id),
        context.purchaseRow == holder.rowID, context.postedAt >= since
      else { continue }
      found.append(Guess(context: context, holder: holder))
    }
    // A checkout that began after this purchase ended unpaid must not be reported as cancelled.
    guard record.contextClaim == .ended else { return found }
    return found.filter { $0.context.postedAt <= record.purchase.createdAt }
  }

  /// Releases a context; at the end of the command it is offered to waiting purchases.
  func free(_ id: ContextID, by record: PurchaseRecord) throws(StoreFault) {
    try contexts.release(id: id, by: record.rowID)
    changes.contextIDs.insert(id)
    freedContexts.append((record.app, id))
  }

  /// Notes that a purchase keeps a guessed context with a weaker claim than before, for example after a
  /// failed payment. At the end of the command the context is offered to purchases with a stronger claim.
  func noteWeakerClaim(of record: PurchaseRecord, before: PurchaseRecord) {
    guard record.hasOpenGuess, let id = record.purchase.contextID, id == before.purchase.contextID,
      record.contextClaim < before.contextClaim
    else { return }
    freedContexts.append((record.app, id))
  }

  /// Offers released contexts to purchases that wait for one. Called last in a command, because it changes
  /// rows that the command may have read.
  func offerFreedContexts() throws(StoreFault) {
    while let (app, id) = freedContexts.popLast() {
      guard let context = try contexts.find(app: app, id: id) else { continue }
      let holder = context.isUnused ? nil : try holder(of: context)
      guard context.isUnused || holder?.hasOpenGuess ?? false else { continue }
      try offer(context.candidate, of: holder, app: app, user: context.userID)
    }
  }

  /// Gives a context to a purchase that waits for one. A paid purchase takes precedence, then one with the
  /// context's price, then the one that has waited longest.
  /// - Parameter holder: the purchase that has it; only purchases with a stronger claim take it.
  func offer(
    _ posted: Join.Candidate, of holder: PurchaseRecord? = nil, app: AppSlug, user: UserID
  ) throws(StoreFault) {
    guard let rules = rules(of: app) else { return }
    let waiting = try purchases.lackingContext(app: app, user: user).filter { record in
      holder?.yieldsContext(to: record) ?? true
        && rules.mayGuess(for: record.purchase, now: now)
        && rules.choose(from: [posted], for: record.purchase, now: now) != nil
    }
    let chosen = waiting.min { left, right in
      let key = { (record: PurchaseRecord) in
        let hasPrice = posted.blob.priceID.map(record.purchase.prices.contains) ?? false
        return (-record.contextClaim.rawValue, hasPrice ? 0 : 1, record.rowID)
      }
      return key(left) < key(right)
    }
    guard var record = chosen else { return }
    try decideAndSave(&record, before: chosen)
  }
}
