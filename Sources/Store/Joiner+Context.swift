// How purchases get their contexts. A name always beats a guess (R5): what an event names is taken from
// whoever got it by a guess, and a receipt that was not sent yet is made again without it. The writer's
// thread.

internal import Domain
internal import SQLite

extension StoreSession {
  /// A blob inside an event, or a context that the event names by its id, replaces what is less certain. A
  /// named context names the user, too.
  /// - Parameter known: the purchase before it absorbed the report.
  func takeNamedContext(
    of report: PurchaseReport, for record: inout PurchaseRecord, had known: Purchase
  ) throws(SQLiteError) {
    if let old = known.contextID, record.purchase.contextID != old { try free(old, by: record) }
    let isOver = record.purchase.isAbandoned || (record.receipt == nil && record.purchase.hasEnded)
    for (id, source) in report.namedContexts {
      guard let context = try contexts.find(app: record.app, id: id) else { continue }
      // Another context, named less certainly, may have named another user.
      let isOutranked =
        record.purchase.userSource == .context && record.purchase.contextSource.map { source < $0 } ?? false
      if !isOutranked { record.purchase.learnUser(context.userID, from: .context) }
      guard !isOver, isOutranked || record.purchase.userID == context.userID,
        try take(context, namedBy: source, for: &record)
      else { continue }
      record.purchase.userID = context.userID
    }
  }

  /// An event names the context of a purchase whose receipt is made. If the receipt was not sent yet it is
  /// made again; otherwise what was sent stays, and the context says what became of its checkout.
  func takeLateName(
    of report: PurchaseReport, for record: inout PurchaseRecord
  ) throws(SQLiteError) {
    guard report.context != nil || !report.namedContexts.isEmpty, !record.purchase.isErased else { return }
    guard try isUnsent(record) else {
      for (id, source) in report.namedContexts {
        guard record.purchase.contextSource.map({ source < $0 }) ?? true,
          let context = try contexts.find(app: record.app, id: id),
          context.userID == record.purchase.userID
        else { continue }
        _ = try acquire(context, for: record.rowID)
      }
      return
    }
    let before = record.purchase
    if let blob = report.context { record.purchase.take(blob) }
    if let old = before.contextID, record.purchase.contextID != old { try free(old, by: record) }
    for (id, source) in report.namedContexts {
      guard let context = try contexts.find(app: record.app, id: id),
        context.userID == record.purchase.userID
      else { continue }
      _ = try take(context, namedBy: source, for: &record)
    }
    if record.purchase.context != before.context { try rebuild(&record) }
  }

  /// Gives a purchase the context that an event named, unless it has one that was named more certainly.
  /// - Returns: whether it has that context now.
  private func take(
    _ context: ContextRecord, namedBy source: Purchase.ContextSource, for record: inout PurchaseRecord
  ) throws(SQLiteError) -> Bool {
    if let known = record.purchase.contextSource, known <= source { return false }
    if record.purchase.contextID != context.id {
      guard try acquire(context, for: record.rowID) else { return false }
      if let other = record.purchase.contextID { try free(other, by: record) }
      record.purchase.contextID = context.id
      record.purchase.context = context.blob
    }
    record.purchase.contextSource = source
    return true
  }

  /// Makes a purchase the one that a context belongs to, because something names it: nobody has it, or
  /// whoever does had it by a guess.
  /// - Returns: false when another purchase names it, too, and came first (R5).
  func acquire(_ context: ContextRecord, for row: Int64) throws(SQLiteError) -> Bool {
    let guesser = try holder(of: context, besides: row)
    if let guesser, guesser.purchase.contextSource != .guess { return false }
    try contexts.claim(id: context.id, for: row)
    changes.contextIDs.insert(context.id)
    if let guesser { try loseContext(guesser) }
    return true
  }

  /// Whether `acquire` would succeed.
  func mayAcquire(_ context: ContextRecord, for row: Int64) throws(SQLiteError) -> Bool {
    try holder(of: context, besides: row).map { $0.purchase.contextSource == .guess } ?? true
  }

  /// The other purchase that has a context; nil also for one that the context only tells of.
  private func holder(
    of context: ContextRecord, besides row: Int64
  ) throws(SQLiteError) -> PurchaseRecord? {
    guard !context.isFree(for: row), let owner = context.purchaseRow,
      let holder = try purchases.find(row: owner), holder.purchase.contextID == context.id
    else { return nil }
    return holder
  }

  /// A purchase had a context by a guess that another one names. What was sent is marked; what was not is
  /// made again, as if the guess had not been.
  private func loseContext(_ holder: PurchaseRecord) throws(SQLiteError) {
    var record = holder
    if try isUnsent(holder) {
      record.purchase.dropContext()
      try rebuild(&record)
    } else {
      record.receipt?.contextDisputed = true
    }
    try save(&record, before: holder)
  }

  /// Whether no destination can have got the receipt, as far as attempts on disk say. What is on its way
  /// right now is found when it comes back (`RecordAttempt`).
  func isUnsent(_ record: PurchaseRecord) throws(SQLiteError) -> Bool {
    guard let receipt = record.receipt else { return true }
    guard receipt.state != .delivered, receipt.lastStatus == nil else { return false }
    return receipt.body == nil ? true : try !attempts.haveReached(row: record.rowID)
  }

  /// Decides again about a purchase whose context changed before its receipt was sent.
  func rebuild(_ record: inout PurchaseRecord) throws(SQLiteError) {
    guard var receipt = record.receipt else { return try decide(&record) }
    if receipt.isOpenToJoin { return try decide(&record) }
    if receipt.state == .pending {
      // It waits again, for nothing, until it is decided.
      receipt.state = .waiting
      receipt.reason = .context
      receipt.waitUntil = now.advanced(byMilliseconds: Self.reconsiderMilliseconds)
      receipt.body = nil
      receipt.readyAt = nil
      receipt.retrySince = nil
      receipt.nextAttemptAt = nil
      record.receipt = receipt
      return try decide(&record)
    }
    // It ended, unsent: should it be replayed, it goes as it is known now.
    receipt.body = nil
    _ = compose(&receipt, for: record)
    record.receipt = receipt
  }

  /// Finds a context for a purchase that has none: the post of a blob that came inside an event, else a
  /// guess.
  func completeContext(_ record: inout PurchaseRecord, _ rules: AppRules) throws(SQLiteError) {
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
    try contexts.claim(id: chosen.id, for: record.rowID)
    changes.contextIDs.insert(chosen.id)
    record.purchase.contextID = chosen.id
    record.purchase.context = chosen.blob
    record.purchase.contextSource = .guess
  }

  /// Lets a guess go that was made before the price was known, if another context fits better now or this one
  /// names another price. Not before a guess may be made again: another purchase would get it meanwhile.
  private func dropOutdatedGuess(_ record: inout PurchaseRecord, _ rules: AppRules) throws(SQLiteError) {
    let purchase = record.purchase
    guard purchase.contextSource == .guess, let id = purchase.contextID, let guess = purchase.context,
      Join.isOutdated(guess, for: purchase),
      Join.mayGuess(for: purchase, policy: rules.join, looksUp: rules.looksUp, now: now),
      let held = try contexts.find(app: record.app, id: id)
    else { return }
    // A context is posted `window` before it expires.
    let postedAt = held.expiresAt.advanced(byMilliseconds: -rules.join.windowMilliseconds)
    let candidate = Join.Candidate(id: id, blob: guess, receivedAt: max(held.receivedAt, postedAt))
    let all = try candidates(for: record, rules) + [candidate]
    guard Join.choose(from: all, for: purchase, policy: rules.join, now: now)?.id != id else { return }
    try free(id, by: record)
    record.purchase.dropContext()
  }

  /// The unused contexts of a purchase's user.
  private func candidates(
    for record: PurchaseRecord, _ rules: AppRules
  ) throws(SQLiteError) -> [Join.Candidate] {
    guard let user = record.purchase.userID else { return [] }
    let since = Join.windowStart(happenedAt: record.purchase.happenedAt, now: now, policy: rules.join)
    return try contexts.candidates(app: record.app, user: user, since: since)
  }

  /// The context that a purchase gets which names none; nil for none, or none yet.
  func guess(for record: PurchaseRecord, _ rules: AppRules) throws(SQLiteError) -> Join.Candidate? {
    let purchase = record.purchase
    guard Join.mayGuess(for: purchase, policy: rules.join, looksUp: rules.looksUp, now: now) else {
      return nil
    }
    return Join.choose(
      from: try candidates(for: record, rules), for: purchase, policy: rules.join, now: now)
  }

  /// Lets a context go; at the end of the command whoever waits for it gets it.
  func free(_ id: String, by record: PurchaseRecord) throws(SQLiteError) {
    try contexts.release(id: id, by: record.rowID)
    changes.contextIDs.insert(id)
    freedContexts.append((record.app, id))
  }

  /// Gives what was let go to purchases that wait for a context. Last in a command, because it changes rows
  /// that the command may have read.
  func offerFreedContexts() throws(SQLiteError) {
    while let (app, id) = freedContexts.popLast() {
      guard let context = try contexts.find(app: app, id: id), context.isUnused else { continue }
      let posted = try contexts.candidates(
        app: app, user: context.userID, since: Timestamp(unixMilliseconds: 0))
      guard let candidate = posted.first(where: { $0.id == id }) else { continue }
      try offer(candidate, app: app, user: context.userID)
    }
  }

  /// Gives a context to a purchase that waits for one: of several that could take it, the one with its price,
  /// else the one that has waited longest.
  func offer(_ posted: Join.Candidate, app: String, user: String) throws(SQLiteError) {
    guard let rules = rules(of: app) else { return }
    let waiting = try purchases.lackingContext(app: app, user: user).filter { record in
      Join.mayGuess(for: record.purchase, policy: rules.join, looksUp: rules.looksUp, now: now)
        && Join.choose(from: [posted], for: record.purchase, policy: rules.join, now: now) != nil
    }
    let chosen = waiting.min { left, right in
      let key = { (record: PurchaseRecord) in
        (posted.blob.priceID.map(record.purchase.prices.contains) ?? false ? 0 : 1, record.rowID)
      }
      return key(left) < key(right)
    }
    guard var record = chosen else { return }
    try settle(&record, before: chosen)
  }
}
