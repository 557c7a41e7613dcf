// Reads what a batch has declared, in two round trips at most: by the declared ids, then the rows that were
// found. Only for an engine that reads ahead. The writer's thread.

internal import Domain

extension StoreSession {
  /// Locks the batch's apps and reads what its commands have declared.
  func readAhead(_ batch: BatchPlan) throws(StoreFault) {
    guard let readAhead else { return }
    var plan = batch
    if erasures.isInUse { plan.declared.formUnion(plan.declared.compactMap(erasures.erased)) }
    let found = Found(plan.declared)
    let reads =
      purchases.reads(objects: found.objects, rows: plan.purchases) + contexts.reads(ids: found.contexts)
      + events.reads(ids: found.events) + pastPurchases.reads(objects: found.objects)
      + erasures.reads(plan.declared)
      + breakers.reads(plan) + pauses.reads() + leases.reads(plan.declared)
      + awaited.reads(ids: found.contexts)
    let indices = reads.indices.filter { !reads[$0].isEmpty }
    let results = try readAhead.begin(plan, found.keys, indices.map { reads[$0] })
    purchases.expect(objects: found.objects, rows: plan.purchases)
    contexts.expect(ids: found.contexts, rows: [])
    events.expect(plan.declared)
    pastPurchases.expect(objects: found.objects)
    awaited.expect(ids: found.contexts)
    erasures.expect(plan.declared)
    try forEachRow(results, indices) { index, row throws(StoreFault) in
      switch reads[index].table {
      case "purchases": try purchases.add(row)
      case "contexts": try contexts.add(row)
      case "events": try events.add(row)
      case "past_purchases": try pastPurchases.add(row)
      case "awaited_contexts": try awaited.add(row)
      case "breakers": try breakers.add(row)
      case "pauses": try pauses.add(row)
      case "leases": try leases.add(row)
      case "erased_ids": try erasures.add(mention: row)
      default: try erasures.add(row)
      }
    }
    if let time = readAhead.now { now = time }
    try readFoundRows(found)
  }

  /// Bounds the memory of what was read ahead: a user may have many contexts. Who needs a row reads it again.
  func forgetIfLarge() {
    if contexts.known.map({ $0.count > Self.knownMax }) ?? false { contexts.forgetKnown() }
    if purchases.known.map({ $0.count > Self.knownMax }) ?? false { purchases.forgetKnown() }
  }

  /// Rows of a table in memory. A context may have 16 KiB, and most have one.
  static let knownMax = 4000

  /// Reads the rows of the keys, and the purchases that have the contexts.
  private func readFoundRows(_ found: Found) throws(StoreFault) {
    var rows: Set<PurchaseRowID> = []
    for key in found.purchaseKeys {
      for row in try connection.engine.keys.rows(key, limit: PurchaseRows.candidatesMax) {
        rows.insert(PurchaseRowID(row))
      }
    }
    var contextRows: Set<Int64> = []
    for key in found.contextKeys {
      contextRows.formUnion(try connection.engine.keys.rows(key, limit: ContextRows.candidatesMax))
    }
    for id in found.contexts {
      if let owner = try contexts.find(id: id)?.purchaseRow { rows.insert(owner) }
    }
    // Those that are left out are read by the command that needs them.
    try load(
      purchases: Set(rows.prefix(Self.knownMax / 2)), contexts: Set(contextRows.prefix(Self.knownMax / 2)))
  }

  /// Reads rows that are not known yet, in one round trip.
  private func load(purchases rows: Set<PurchaseRowID>, contexts contextRows: Set<Int64>) throws(StoreFault) {
    let (rows, contextRows) = (purchases.unknown(rows), contexts.unknown(contextRows))
    let reads = purchases.reads(objects: [], rows: rows) + contexts.reads(rows: contextRows)
    purchases.expect(objects: [], rows: rows)
    contexts.expect(ids: [], rows: contextRows)
    try readAhead?.read(reads) { index, row throws(StoreFault) in
      reads[index].table == "purchases" ? try purchases.add(row) : try contexts.add(row)
    }
  }
}

/// The declared reads, by the way in which they find rows.
private struct Found {
  var events: Set<EventID> = []
  var objects: Set<ObjectID> = []
  var contexts: Set<ContextID> = []
  var purchaseKeys: Set<RowKey> = []
  var contextKeys: Set<RowKey> = []
  var keys: Set<RowKey> { purchaseKeys.union(contextKeys) }

  init(_ declared: Set<ReadKey>) {
    for key in declared {
      switch key {
      case .event(_, _, let id): events.insert(id)
      case .object(_, let key): objects.insert(key.id)
      case .session(let app, _, let id):
        objects.insert(ObjectID(id.text))
        purchaseKeys.insert(RowKey(.session, id, app: app))
      case .customer(let app, _, let id): purchaseKeys.insert(RowKey(.customer, id, app: app))
      case .user(let app, let id): purchaseKeys.insert(RowKey(.user, id, app: app))
      case .contexts(let app, let id): contextKeys.insert(RowKey(.contextUser, id, app: app))
      case .blob(let app, let user, let digest):
        contextKeys.insert(RowKey(contextOf: user, digest: digest, app: app))
      case .context(_, let id): contexts.insert(id)
      case .payer, .purchase, .mention, .lease: break
      }
    }
  }
}
