// The state of the open transaction for commands: rows, time, rules, and the changes to notify about after
// the commit. The writer's thread.

internal import Domain

/// The open transaction, as commands see it.
public final class StoreSession {
  let connection: StoreConnection
  let counts: CountRows
  let latencies: LatencyRows
  let joins: JoinRows
  let purchases: PurchaseRows
  let contexts: ContextRows
  let events: EventRows
  let attempts: AttemptRows
  let breakers: BreakerRows
  let pauses: PauseRows
  let retention: RetentionRows
  let audit: AuditRows
  let erasures: ErasureRows
  let payers: PayerRows
  let jobs: JobRows
  let alerts: AlertRows
  let lookups: LookupRows
  let captures: CaptureRows
  let claims: ClaimRows
  let announcements: AnnouncementRows
  let pastPurchases: PastPurchaseRows
  let awaited: AwaitedContextRows
  let customers: CustomerRows
  let search: SearchRows
  let leases = LeaseRows()
  var rules: [AppSlug: AppRules]
  var now: Timestamp
  var changes = StoreChanges()
  private var random: any RandomNumberGenerator & Sendable
  let readAhead: (any ReadAhead)?

  init(
    _ connection: StoreConnection, rules: [AppSlug: AppRules],
    random: any RandomNumberGenerator & Sendable
  ) throws(StoreFault) {
    self.connection = connection
    readAhead = connection.engine.readAhead
    self.rules = rules
    self.random = random
    now = Timestamp(unixMilliseconds: 0)
    counts = try CountRows(connection)
    latencies = try LatencyRows(connection)
    joins = try JoinRows(connection)
    purchases = try PurchaseRows(connection, counts: counts, joins: joins)
    contexts = try ContextRows(connection, joins: joins)
    events = try EventRows(connection)
    attempts = try AttemptRows(connection)
    breakers = try BreakerRows(connection)
    pauses = try PauseRows(connection)
    retention = try RetentionRows(connection, joins: joins)
    audit = try AuditRows(connection)
    awaited = try AwaitedContextRows(connection)
    erasures = try ErasureRows(connection, purchases: purchases, joins: joins, awaited: awaited)
    payers = try PayerRows(connection)
    jobs = try JobRows(connection)
    alerts = try AlertRows(connection)
    lookups = try LookupRows(connection)
    captures = try CaptureRows(connection)
    claims = ClaimRows(connection)
    announcements = AnnouncementRows(connection)
    pastPurchases = try PastPurchaseRows(connection)
    customers = try CustomerRows(connection)
    search = SearchRows(connection)
  }

  /// Makes a new receipt's identifier, which contains its row.
  func receiptIdentifier(row: PurchaseRowID) -> ReceiptID {
    ReceiptID.make(now: now, number: row.number, random: &random)
  }

  /// Creates the erasure key if needed. Called before any erasure.
  func prepareErasure() throws(StoreFault) { try erasures.prepare(random: &random) }

  /// A new key.
  func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }

  /// Makes a new job's identifier, which contains its row.
  func jobIdentifier(row: JobRowID) -> JobID {
    JobID.make(now: now, number: row.number, random: &random)
  }

  /// Makes the id and the token of a new claim.
  func makeClaim() -> (ClaimID, ClaimToken) {
    (ClaimID.make(now: now, random: &random), ClaimToken(random: &random))
  }

  /// Runs `body` with this cause for its changes.
  func withCause<Result>(
    _ cause: ChangeCause, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    purchases.cause = cause
    defer { purchases.cause = ChangeCause() }
    return try body()
  }

  /// Runs `body` in its own transaction: when this returns all changes are on disk; after an error there are
  /// none.
  /// - Parameter plan: what it needs.
  func transaction<Result>(
    _ plan: BatchPlan, now: Timestamp, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    self.now = now
    changes = StoreChanges()
    _ = purchases.drainTransitions()
    do throws(StoreFault) {
      let result = try connection.transaction { () throws(StoreFault) in
        forgetKnown()
        try readAhead(plan)
        try pauses.begin()
        try breakers.refresh(connection)
        try counts.begin()
        latencies.begin()
        joins.begin()
        contexts.begin()
        try erasures.begin()
        try pastPurchases.begin()
        try customers.begin()
        let result = try body()
        try counts.end(now: now)
        try latencies.end(now: now)
        try joins.end(now: now)
        return result
      }
      changes.transitions = purchases.drainTransitions()
      return result
    } catch {
      breakers.invalidate()
      erasures.invalidate()
      pastPurchases.invalidate()
      customers.invalidate()
      throw error
    }
  }

  /// Forgets the rows that were read: at the start of a transaction, and after a change that is not known row
  /// by row.
  func forgetKnown() {
    purchases.forgetKnown()
    contexts.forgetKnown()
    events.forgetKnown()
    pastPurchases.forgetKnown()
    awaited.forgetKnown()
    customers.forgetKnown()
  }

  /// The rules of a configured app; nil for one that is no longer configured.
  func rules(of app: AppSlug) -> AppRules? { rules[app] }

  /// How long the events of a purchase may come again.
  func repeatPeriod(of record: PurchaseRecord) -> Duration {
    (rules(of: record.app)?.processor(of: record.purchase) ?? ProcessorRules()).repeatPeriod
  }

  /// The longest time of all processors.
  var repeatPeriodMax: Duration {
    rules.values.lazy.flatMap(\.processors.values).map(\.repeatPeriod).max()
      ?? ProcessorRules.repeatPeriodDefault
  }
}

// MARK: - Read ahead

// Reads what a batch has declared, in two round trips at most: by the declared ids, then the rows that were
// found. Only for an engine that reads ahead. The writer's thread.

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
      + awaited.reads(ids: found.contexts) + customers.reads(found.customers)
    let indices = reads.indices.filter { !reads[$0].isEmpty }
    let results = try readAhead.begin(plan, found.keys, indices.map { reads[$0] })
    purchases.expect(objects: found.objects, rows: plan.purchases)
    contexts.expect(ids: found.contexts, rows: [])
    events.expect(plan.declared)
    pastPurchases.expect(objects: found.objects)
    awaited.expect(ids: found.contexts)
    customers.expect(found.customers)
    erasures.expect(plan.declared)
    try forEachRow(results, indices) { index, row throws(StoreFault) in
      switch reads[index].table {
      case "purchases": try purchases.add(row)
      case "contexts": try contexts.add(row)
      case "events": try events.add(row)
      case "past_purchases": try pastPurchases.add(row)
      case "awaited_contexts": try awaited.add(row)
      case "customer_users": try customers.add(row)
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
  var customers: Set<CustomerID> = []
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
      case .customer(let app, _, let id):
        customers.insert(id)
        purchaseKeys.insert(RowKey(.customer, id, app: app))
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
