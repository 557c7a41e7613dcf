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
  let pastPurchases: PastPurchaseRows
  let awaited: AwaitedContextRows
  let dictionaries: DictionaryRows
  let search: SearchRows
  let leases = LeaseRows()
  private let bodies: BodyReader
  var rules: [AppSlug: AppRules]
  var now: Timestamp
  var changes = StoreChanges()
  /// Contexts that purchases released in the open transaction, or may lose now, and that have not been
  /// offered yet.
  var freedContexts: [(app: AppSlug, id: ContextID)] = []
  /// Purchases with changes that are not saved yet while other purchases are decided. The others take no
  /// context from them.
  var rowsInHand: Set<PurchaseRowID> = []
  private var random: any RandomNumberGenerator & Sendable
  let readAhead: (any ReadAhead)?

  init(
    _ connection: StoreConnection, rules: [AppSlug: AppRules], packers: BodyPackers,
    random: any RandomNumberGenerator & Sendable
  ) throws(StoreFault) {
    self.connection = connection
    readAhead = connection.engine.readAhead
    self.rules = rules
    self.random = random
    now = Timestamp(unixMilliseconds: 0)
    counts = try CountRows(connection)
    latencies = try LatencyRows(connection)
    bodies = BodyReader(connection)
    joins = try JoinRows(connection)
    purchases = try PurchaseRows(
      connection, counts: counts, joins: joins, bodies: bodies, packer: packers.receipt)
    contexts = try ContextRows(connection, bodies: bodies, joins: joins)
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
    pastPurchases = try PastPurchaseRows(connection)
    dictionaries = DictionaryRows(connection, bodies: bodies)
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
    freedContexts = []
    rowsInHand = []
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
      bodies.invalidate()
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
