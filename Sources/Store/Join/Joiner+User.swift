// Finds out whose purchase it is: reads what the store knows of the users that may be meant, lets
// `Purchase.completeUser` decide, and passes on what a purchase teaches. The writer's thread.

internal import Domain

extension Joiner {
  /// Completes a purchase's user. The context of another user is released (R5).
  mutating func completeUser(_ record: inout PurchaseRecord, isNew: Bool) throws(StoreFault) {
    let unknown = unknownReference.flatMap { $0.row == record.rowID ? $0.user : nil }
    var facts = try store.identityFacts(for: record, besides: unknown)
    if facts.customerUsers.count == 1, !facts.awaitsName {
      facts.awaitsName = try awaitsContext(record.rowID, isNew: isNew)
    }
    let isAwaited = record.receipt.map { $0.state == .waiting } ?? record.purchase.deservesReceipt
    record.purchase.completeUser(facts, mayInfer: isNew || isAwaited)
    try dropContextOfOther(&record)
  }

  /// Whether a purchase named a context that is not posted yet.
  private func awaitsContext(_ row: PurchaseRowID, isNew: Bool) throws(StoreFault) -> Bool {
    if awaitingRows.contains(row) { return true }
    return isNew ? false : try !store.awaited.find(namedBy: row).isEmpty
  }

  /// Releases a context that belongs to another user than the purchase: a more certain source named the user
  /// since (R5).
  mutating func dropContextOfOther(_ record: inout PurchaseRecord) throws(StoreFault) {
    guard let contextID = record.purchase.contextID,
      let context = try store.contexts.find(app: record.app, id: contextID),
      context.userID != record.purchase.userID
    else { return }
    try free(contextID, by: record)
    record.purchase.dropContext()
  }

  /// Ends a purchase that turns out to be foreign: it has no context, and no receipt if that was never ready.
  /// One that was ready is cancelled, because an attempt may be under way whose outcome must be recorded.
  /// - Parameter known: the purchase before the report was merged.
  mutating func giveUpForeign(
    _ record: inout PurchaseRecord, had known: Purchase
  ) throws(StoreFault) {
    if let receipt = record.receipt, !receipt.isOpenToJoin || receipt.wasReady {
      let isUnsent = try store.isUnsent(record)
      record.purchase.keepContent(of: known)
      guard record.apply(.excepted, at: store.moment(of: record)) == nil, isUnsent else { return }
    } else {
      record.receipt = nil
    }
    if let contextID = known.contextID { try free(contextID, by: record) }
    record.purchase.dropContext()
    try rebuild(&record)
  }

  /// Sends a receipt that was cancelled as foreign, once an entry of the configuration names the sale.
  mutating func resumeForeign(_ record: inout PurchaseRecord) {
    guard record.receipt?.reason == .foreign else { return }
    let payload = try? store.payload(of: record)
    record.apply(.replayed(dueAt: store.now, force: false, payload: payload), at: store.moment(of: record))
  }

  /// Decides again about the customer's purchases that lack a user, if this one says more about the customer
  /// than before.
  mutating func shareUser(of record: PurchaseRecord, before: PurchaseRecord?) throws(StoreFault) {
    guard let customer = record.purchase.customerID, !record.purchase.lacksNamedUser,
      store.teaches(record)
    else { return }
    if let before, before.purchase.allNames == record.purchase.allNames,
      before.purchase.customerID == customer, store.teaches(before)
    {
      return
    }
    try decideLackingUser(customer, at: record.place, besides: record.rowID) { $0.receipt != nil }
  }

  /// Stores the users of a customer that an event without a purchase named, and decides again about the
  /// purchases that lack one.
  mutating func learn(_ facts: CustomerFacts, at place: AppProcessor) throws(StoreFault) {
    var names = facts.names.filter { $0.standing == .counts }
    let said = PurchaseReport(
      key: PurchaseKey(processor: place.processor, type: "", id: ""), clientReference: facts.clientReference,
      contextID: facts.contextID, happenedAt: facts.happenedAt)
    let standing = try store.standing(ofReferenceIn: said, app: place.app, known: nil)
    if let name = said.reference(standing), name.standing == .counts { names.append(name) }
    for (id, _) in said.namedContexts {
      guard let context = try store.contexts.find(app: place.app, id: id) else { continue }
      names.append(NamedUser(id: context.userID, source: .context, standing: .counts))
    }
    try store.customers.learn(facts, names, at: place)
    // The customer's metadata name the user of a purchase without a receipt, too.
    try decideLackingUser(facts.customerID, at: place, besides: nil) {
      facts.areOfCustomer || $0.receipt != nil
    }
    try offerFreedContexts()
  }

  private mutating func decideLackingUser(
    _ customer: CustomerID, at place: AppProcessor, besides own: PurchaseRowID?,
    where isWanted: (PurchaseRecord) -> Bool
  ) throws(StoreFault) {
    let found = try store.purchases.lackingUser(
      app: place.app, place.processor, customer: customer, besides: own)
    for row in found.filter(isWanted).map(\.rowID) {
      // An earlier one may have changed this one, by giving it its context.
      guard let other = try store.purchases.find(row: row) else { continue }
      var decided = other
      guard other.receipt?.state == .pending else {
        try decideAndSave(&decided, before: other)
        continue
      }
      // The user was inferred, and the receipt was not sent.
      let facts = try store.identityFacts(for: other)
      decided.purchase.completeUser(facts, mayInfer: false)
      guard decided.purchase.userID != other.purchase.userID, try store.isUnsent(other) else { continue }
      decided = other
      try rebuild(&decided)
      try save(&decided, before: other)
    }
  }
}

extension StoreSession {
  /// The standing of a report's reference as a user. Looks for the user only if the configuration asks for
  /// that, and the purchase does not have the user already.
  func standing(
    ofReferenceIn report: PurchaseReport, app: AppSlug, known: Purchase?
  ) throws(StoreFault) -> NamedUser.Standing {
    guard let user = report.reference(.counts)?.id, user != known?.userID else { return .counts }
    return try standing(of: user, app: app, report.key.processor)
  }

  private func standing(
    of user: UserID, app: AppSlug, _ processor: ProcessorName
  ) throws(StoreFault) -> NamedUser.Standing {
    let policy = rules(of: app)?.processors[processor]?.reference ?? .knownUser
    return try policy.standing { () throws(StoreFault) in
      if try contexts.have(app: app, user: user) { return true }
      return try purchases.haveReceipt(app: app, of: user)
    }
  }

  /// What the store knows of the users that a purchase may have.
  /// - Parameter unknown: a user who was just found to be none of the app.
  func identityFacts(
    for record: PurchaseRecord, besides unknown: UserID? = nil
  ) throws(StoreFault) -> IdentityFacts {
    var facts = IdentityFacts()
    let purchase = record.purchase
    // A reference that could not win is looked for only once, when it comes.
    let mayWin = purchase.userSource.map { Purchase.UserSource.reference < $0 } ?? true
    for user in mayWin ? purchase.unknownReferences.filter({ $0 != unknown }) : []
    where try standing(of: user, app: record.app, purchase.key.processor) == .counts {
      facts.knownUsers.insert(user)
    }
    guard let customer = purchase.customerID else { return facts }
    let named = try customers.users(customer, at: record.place, isNeeded: purchase.lacksNamedUser)
    facts.customerNames = named.filter(\.source.isOfCustomersMetadata)
    guard purchase.lacksNamedUser, facts.customerNames.isEmpty else { return facts }
    facts.customerUsers = try users(of: customer, named: named, besides: record)
    guard facts.customerUsers.count == 1 else { return facts }
    // Of a customer whose other user was erased, the one who remains is not the only one ever seen.
    if try erasures.hasErased(id: customer.text, app: record.app) { facts.customerUsers = [] }
    let policy = rules(of: record.app)?.processor(of: purchase).reference ?? .knownUser
    // Of a user who was erased only the hash is left: the purchase was somebody's.
    facts.awaitsName =
      policy == .knownUser && !purchase.unknownReferences.isEmpty
      || purchase.otherNames.contains { Purchase.isErased($0.id) }
    return facts
  }

  /// Every user of a customer: those whom events without a purchase named, and those of other purchases.
  func users(
    of customer: CustomerID, named: [NamedUser], besides record: PurchaseRecord
  ) throws(StoreFault) -> Set<UserID> {
    try purchases.users(record.place, ofCustomer: customer, besides: record.rowID, where: teaches)
      .union(named.map(\.id))
  }

  /// The only customer of a user's purchases that were known at a moment; nil if anything names another user
  /// of that customer: what the processor keeps of one user must not be shown to another.
  func onlyCustomer(
    of user: UserID, at place: AppProcessor, until moment: Timestamp
  ) throws(StoreFault) -> CustomerID? {
    let found = try purchases.customers(of: user, at: place, until: moment, where: teaches)
    guard found.count == 1, let customer = found.first else { return nil }
    let named = try customers.users(customer, at: place, isNeeded: true)
    let users = try purchases.users(place, ofCustomer: customer, besides: nil, where: teaches)
    return users.union(named.map(\.id)) == [user] ? customer : nil
  }

  /// Whether a purchase says something about its customer's users: it is the app's, and its receipt was not
  /// corrected. A copy may keep a user with whom it was sent.
  func teaches(_ record: PurchaseRecord) -> Bool {
    guard !record.purchase.isForeign, !record.purchase.isErased, !record.isCopy else { return false }
    guard record.receipt?.correctedBy == nil else { return false }
    guard record.receipt?.readyAt == nil, let rules = rules(of: record.app) else { return true }
    return !Join.isUndecided(record.purchase, rules.processor(of: record.purchase))
  }
}
