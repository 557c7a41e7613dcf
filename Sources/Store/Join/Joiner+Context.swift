// Assigns contexts to purchases. A name always beats a guess (R5): a purchase that names a context takes it
// from one that guessed it, and a receipt that was not sent yet is made again without it. The writer's
// thread.

internal import Domain

extension Joiner {
  /// Replaces a less certain context by the blob inside an event, or by a context that the event names by its
  /// id. A named context also determines the user.
  /// - Parameter known: the purchase before the report was merged.
  mutating func claimNamedContext(
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
      let name = NamedUser(id: context.userID, source: .context, standing: .counts)
      isOutranked ? record.purchase.keep(name) : record.purchase.learn(name)
      guard !isOver, isOutranked || record.purchase.userID == context.userID,
        try assign(context, namedBy: source, for: &record)
      else { continue }
      if isOutranked { record.purchase.setUser(name) }
    }
  }

  /// Remembers the contexts that an event of a foreign sale named, because another event may name the sale as
  /// the app's.
  func holdNamedContexts(of report: PurchaseReport, for record: PurchaseRecord) throws(StoreFault) {
    guard !record.purchase.observations.contains(.excepted) else { return }
    for (id, source) in report.namedContexts {
      try store.awaited.add(
        id, app: record.app, row: record.rowID, source: source, until: store.now + ContextIDRule.ageMax)
    }
  }

  /// Claims the contexts that were named while the sale was foreign.
  mutating func claimHeldContexts(for record: inout PurchaseRecord) throws(StoreFault) {
    for held in try store.awaited.find(namedBy: record.rowID) {
      let report = PurchaseReport(
        key: record.purchase.key, clientReference: held.source == .metadata ? nil : held.id.text,
        contextID: held.source == .metadata ? held.id : nil, happenedAt: record.purchase.happenedAt)
      try claimNamedContext(of: report, for: &record, had: record.purchase)
    }
  }

  /// Releases the context of a started payment that ended without money, so that the user's next payment gets
  /// it.
  mutating func releaseContextOfClosed(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard record.isOnlyStarted, record.purchase.isAbandoned, let id = record.purchase.contextID else {
      return
    }
    try free(id, by: record)
    record.purchase.dropContext()
  }

  /// Handles an event of a purchase whose receipt is already made. If it names a user or a context more
  /// certainly, a receipt that was not sent yet is made again. Otherwise the sent content stays; the context
  /// reports the state of its checkout, and a user who was named differently is kept as another name.
  /// - Parameter known: the purchase before the report was merged.
  mutating func learnLate(
    _ report: PurchaseReport, _ record: inout PurchaseRecord, had known: Purchase
  ) throws(StoreFault) {
    let learned = record.purchase
    record.purchase.keepContent(of: known)
    resumeForeign(&record)
    let hasContext = report.context != nil || !report.namedContexts.isEmpty
    // A lookup's price lasts only until an event names one.
    let hasPrice = known.priceSource.isProvisional && learned.priceSource < known.priceSource
    let namesMore = learned.unknownReferences != known.unknownReferences
    guard hasContext || hasPrice || namesMore || learned.userID != known.userID, !known.isErased else {
      return
    }
    guard try store.isUnsent(record) else { return try claimLateContext(of: report, for: &record) }
    if let name = learned.winner, name.id != record.purchase.userID { record.purchase.setUser(name) }
    if hasPrice {
      (record.purchase.prices, record.purchase.priceSource) = (learned.prices, learned.priceSource)
    }
    if let blob = report.context { record.purchase.learnContext(blob) }
    try claimNamedContext(of: report, for: &record, had: known)
    try dropContextOfOther(&record)
    // Somebody who is named and may still become known may be another user than the customer's only one.
    let isDoubtful =
      record.purchase.lacksNamedUser && (namesMore || awaitingRows.contains(record.rowID))
    if isDoubtful || record.purchase.context != known.context || record.purchase.userID != known.userID
      || record.purchase.prices != known.prices
    {
      try rebuild(&record)
    }
  }

  /// Handles an event that names the context of a purchase whose receipt was sent.
  private mutating func claimLateContext(
    of report: PurchaseReport, for record: inout PurchaseRecord
  ) throws(StoreFault) {
    for (id, source) in report.namedContexts {
      guard let context = try findOrAwait(id, source, report, record) else { continue }
      record.purchase.keep(NamedUser(id: context.userID, source: .context, standing: .counts))
      guard record.purchase.contextSource.map({ source < $0 }) ?? true,
        context.userID == record.purchase.userID
      else { continue }
      _ = try acquire(context, for: record.rowID)
    }
  }

  /// Gives a purchase the context that an event named, unless it has one that was named more certainly.
  /// - Returns: whether the purchase has that context now.
  private mutating func assign(
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
  mutating func acquire(_ context: ContextRecord, for row: PurchaseRowID) throws(StoreFault) -> Bool {
    let holder = try store.holder(of: context, besides: row)
    if let holder, !holder.yieldsContextToName { return false }
    try claim(context, for: row, from: holder)
    return true
  }

  /// Gives a context to a purchase. The previous holder is decided again at once, but takes nothing from this
  /// purchase, which is not saved yet.
  /// - Parameter context: as it was read.
  mutating func claim(
    _ context: ContextRecord, for row: PurchaseRowID, from holder: PurchaseRecord?
  ) throws(StoreFault) {
    try store.contexts.claim(context, for: row)
    store.changes.contextIDs.insert(context.id)
    guard let holder else { return }
    let isFirst = rowsBeingSaved.insert(row).inserted
    defer { if isFirst { rowsBeingSaved.remove(row) } }
    try loseContext(holder)
  }

  /// Handles a purchase whose context another purchase names or has a stronger claim to. If it was only
  /// started, or if the context was a guess and the receipt was not sent, drops the context and makes the
  /// receipt again. Otherwise marks the receipt as disputed; the purchase keeps the context.
  private mutating func loseContext(_ holder: PurchaseRecord) throws(StoreFault) {
    var record = holder
    if holder.purchase.contextSource == .guess || holder.isOnlyStarted, try store.isUnsent(holder) {
      record.purchase.dropContext()
      try rebuild(&record)
    } else {
      record.apply(.contextDisputed, at: store.moment(of: record))
    }
    try save(&record, before: holder)
  }

  /// Decides again about a purchase whose context changed before its receipt was sent.
  mutating func rebuild(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let receipt = record.receipt, !receipt.isOpenToJoin else { return try decide(&record) }
    if receipt.state == .pending {
      record.apply(.withdrawn(.context, until: store.reconsideredAt), at: store.moment(of: record))
      return try decide(&record)
    }
    // It ended unsent: a replay will send what is known now.
    try dropContextOfOther(&record)
    guard receipt.body != nil else { return }
    record.apply(.recomposed(try? store.payload(of: record)), at: store.moment(of: record))
  }
}

// MARK: - Guess

// Assigns guessed contexts to purchases that name none. A paid purchase takes precedence over a promised one,
// and that over one that ended unpaid, in any order of arrival.

extension Joiner {
  /// A context that a purchase may guess, and its present holder.
  struct Guess {
    var context: ContextRecord
    var holder: PurchaseRecord?
    /// Among how many contexts it was chosen.
    var candidates: Int64 = 1
  }

  /// Finds a context for a purchase: the posted context with the blob inside an event, else a guess. None for
  /// a purchase in an app store.
  mutating func completeContext(_ record: inout PurchaseRecord, _ rules: AppRules) throws(StoreFault) {
    try dropOutdatedGuess(&record, rules)
    let purchase = record.purchase
    guard purchase.deservesReceipt, !purchase.isOfStore, purchase.contextID == nil,
      let user = purchase.userID
    else { return }
    if let blob = purchase.context {
      for posted in try store.contexts.posted(app: record.app, user: user, blob: blob.text)
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
  private mutating func dropOutdatedGuess(_ record: inout PurchaseRecord, _ rules: AppRules)
    throws(StoreFault)
  {
    let purchase = record.purchase
    guard purchase.contextSource == .guess, let id = purchase.contextID, let guess = purchase.context,
      Join.isOutdated(guess, for: purchase),
      rules.mayGuess(for: purchase, now: store.now),
      let held = try store.contexts.find(app: record.app, id: id)
    else { return }
    let all = try guesses(for: record, rules).map(\.context.candidate) + [held.candidate]
    guard rules.choose(from: all, for: purchase, now: store.now)?.candidate.id != id else { return }
    try free(id, by: record)
    record.purchase.dropContext()
  }

  /// Guesses a context for a purchase that names none; nil if none matches or guessing is not allowed yet.
  func guess(for record: PurchaseRecord, _ rules: AppRules) throws(StoreFault) -> Guess? {
    guard rules.mayGuess(for: record.purchase, now: store.now) else {
      return nil
    }
    let all = try guesses(for: record, rules)
    guard
      let chosen = rules.choose(from: all.map(\.context.candidate), for: record.purchase, now: store.now),
      var guess = all.first(where: { $0.context.id == chosen.candidate.id })
    else { return nil }
    guess.candidates = chosen.among
    return guess
  }

  /// The contexts of a purchase's user that are unused, or that it may take from another purchase.
  private func guesses(for record: PurchaseRecord, _ rules: AppRules) throws(StoreFault) -> [Guess] {
    guard let user = record.purchase.userID else { return [] }
    let since = Join.windowStart(happenedAt: record.purchase.happenedAt, now: store.now, policy: rules.join)
    var found = try store.contexts.candidates(app: record.app, user: user, since: since).map {
      Guess(context: $0, holder: nil)
    }
    for holder in try store.purchases.withOpenGuess(app: record.app, user: user)
    where holder.yieldsContext(to: record) && !rowsBeingSaved.contains(holder.rowID) {
      guard let id = holder.purchase.contextID,
        let context = try store.contexts.find(app: record.app, id: id),
        context.purchaseRow == holder.rowID, context.postedAt >= since
      else { continue }
      found.append(Guess(context: context, holder: holder))
    }
    // A checkout that began after this purchase ended unpaid must not be reported as cancelled.
    guard record.contextClaim == .ended else { return found }
    return found.filter { $0.context.postedAt <= record.purchase.createdAt }
  }

  /// Releases a context; at the end of the command it is offered to waiting store.purchases.
  mutating func free(_ id: ContextID, by record: PurchaseRecord) throws(StoreFault) {
    try store.contexts.release(id: id, by: record.rowID)
    store.changes.contextIDs.insert(id)
    freedContexts.append((record.app, id))
  }

  /// Notes that a purchase keeps a guessed context with a weaker claim than before, for example after a
  /// failed payment. At the end of the command the context is offered to purchases with a stronger claim.
  mutating func noteWeakerClaim(of record: PurchaseRecord, before: PurchaseRecord) {
    guard record.hasOpenGuess, let id = record.purchase.contextID, id == before.purchase.contextID,
      record.contextClaim < before.contextClaim
    else { return }
    freedContexts.append((record.app, id))
  }

  /// Offers released contexts to purchases that wait for one. Called last in a command, because it changes
  /// rows that the command may have read.
  mutating func offerFreedContexts() throws(StoreFault) {
    while let (app, id) = freedContexts.popLast() {
      guard let context = try store.contexts.find(app: app, id: id) else { continue }
      let holder = context.isUnused ? nil : try store.holder(of: context)
      guard context.isUnused || holder?.hasOpenGuess ?? false else { continue }
      try offer(context.candidate, of: holder, app: app, user: context.userID)
    }
  }

  /// Gives a context to a purchase that waits for one. A paid purchase takes precedence, then one with the
  /// context's price, then the one that has waited longest. Purchases whose reference was no user before are
  /// decided first.
  /// - Parameter holder: the purchase that has it; only purchases with a stronger claim take it.
  mutating func offer(
    _ posted: Join.Candidate, of holder: PurchaseRecord? = nil, app: AppSlug, user: UserID
  ) throws(StoreFault) {
    guard let rules = store.rules(of: app) else { return }
    let open = try store.purchases.waiting(app: app, namedFor: user)
    for record in open where record.purchase.userID != user {
      var admitted = record
      try decideAndSave(&admitted, before: record)
    }
    if open.contains(where: { $0.purchase.userID != user }),
      try store.contexts.find(app: app, id: posted.id)?.isUnused == false, holder == nil
    {
      return
    }
    let waiting = open.filter { record in
      record.purchase.userID == user && record.purchase.context == nil
        && holder?.yieldsContext(to: record) ?? true
        && rules.mayGuess(for: record.purchase, now: store.now)
        && rules.choose(from: [posted], for: record.purchase, now: store.now) != nil
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
