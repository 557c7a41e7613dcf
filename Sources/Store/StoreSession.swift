// The state of the open transaction for commands: rows, time, rules, and the changes to notify about after
// the commit. The writer's thread.

public import Domain

/// The parts of an app's configuration that the store needs.
public struct AppRules: Sendable {
  public var join: JoinPolicy
  /// The app's payment processors.
  public var processors: [ProcessorName: ProcessorRules]
  /// How many replays of the app may be due at once before jobs release no more.
  public var replayWindow: Int
  /// The app's destinations. A receipt that is still to be delivered to another is redirected.
  public var destinations: Set<DestinationName>
  /// The destination of a processor's purchases; nil if there is none now.
  public var destination: @Sendable (ProcessorName) -> DestinationName?
  /// Makes the body that a destination receives; nil if the app does not have the destination.
  public var compose: @Sendable (ReceiptContent, DestinationName) -> [UInt8]?
  /// Makes the body that reports a reversal to a destination; nil if the app does not have the destination,
  /// or it has no form for that.
  public var composeReversal: @Sendable (ReceiptContent, DestinationName) -> [UInt8]?

  public init(
    join: JoinPolicy, processors: [ProcessorName: ProcessorRules], replayWindow: Int = JobWork.windowDefault,
    destinations: Set<DestinationName>,
    destination: @escaping @Sendable (ProcessorName) -> DestinationName?,
    compose: @escaping @Sendable (ReceiptContent, DestinationName) -> [UInt8]?,
    composeReversal: @escaping @Sendable (ReceiptContent, DestinationName) -> [UInt8]? = { _, _ in nil }
  ) {
    self.join = join
    self.processors = processors
    self.replayWindow = max(1, replayWindow)
    self.destinations = destinations
    self.destination = destination
    self.compose = compose
    self.composeReversal = composeReversal
  }

  /// The processor of a purchase.
  func processor(of purchase: Purchase) -> ProcessorRules {
    processors[purchase.key.processor] ?? ProcessorRules()
  }

  /// The destinations that the app has for a purchase.
  func destinations(of purchase: Purchase) -> PurchaseDestinations {
    PurchaseDestinations(all: destinations, present: destination(purchase.key.processor))
  }

  /// The content in the format of its processor's destination; nil if there is no destination now.
  func payload(_ content: ReceiptContent, _ priceMismatch: Bool) -> ReceiptPayload? {
    guard let name = destination(content.key.processor), let body = compose(content, name) else { return nil }
    return ReceiptPayload(
      destination: name, priceID: content.priceID, priceMismatch: priceMismatch, body: body)
  }

  /// The content in the format of its processor's destination, for an operator who sends it.
  func payloadToSend(
    _ content: ReceiptContent, _ priceMismatch: Bool
  ) throws(SendingObstacle) -> ReceiptPayload {
    guard let payload = payload(content, priceMismatch) else { throw .lacks(.destination) }
    return payload
  }
}

/// Applies the rules of `Join` to a purchase of the app.
extension AppRules {
  func resolve(_ purchase: Purchase, now: Timestamp) -> Join.Resolution {
    Join.resolve(purchase, policy: join, processor: processor(of: purchase), now: now)
  }

  func mayGuess(for purchase: Purchase, now: Timestamp) -> Bool {
    Join.mayGuess(for: purchase, policy: join, processor: processor(of: purchase), now: now)
  }

  func choose(
    from candidates: [Join.Candidate], for purchase: Purchase, now: Timestamp
  ) -> Join.Candidate? {
    Join.choose(
      from: candidates, for: purchase, policy: join, processor: processor(of: purchase), now: now)
  }
}

/// The changes of a committed batch that other workers wait for.
public struct StoreChanges: Sendable, Equatable {
  /// Apps with new receipts to deliver, and when the earliest is due.
  public var dueAt: [AppSlug: Timestamp] = [:]
  /// The same for replays.
  public var replaysDueAt: [AppSlug: Timestamp] = [:]
  /// Contexts whose checkout status may have changed.
  public var contextIDs: Set<ContextID> = []
  /// When the earliest wait set by the batch ends.
  public var waitUntil: Timestamp?
  /// Whether jobs have changed.
  public var hasJobs = false
  /// State changes of receipts, for the log.
  public var transitions: [ReceiptTransition] = []
  /// Processors with planned lookups, and when the earliest is due.
  public var lookupsDueAt: [AppProcessor: Timestamp] = [:]
  /// Payments whose capture was ordered without an app's request.
  public var orderedCaptures: [PurchaseRowID: AppProcessor] = [:]

  public init() {}

  public var isEmpty: Bool {
    dueAt.isEmpty && replaysDueAt.isEmpty && contextIDs.isEmpty && waitUntil == nil && !hasJobs
      && transitions.isEmpty
      && lookupsDueAt.isEmpty && orderedCaptures.isEmpty
  }

  /// Adds another batch's changes.
  mutating func formUnion(_ other: StoreChanges) {
    dueAt.merge(other.dueAt) { min($0, $1) }
    replaysDueAt.merge(other.replaysDueAt) { min($0, $1) }
    lookupsDueAt.merge(other.lookupsDueAt) { min($0, $1) }
    orderedCaptures.merge(other.orderedCaptures) { $1 }
    contextIDs.formUnion(other.contextIDs)
    transitions += other.transitions
    if let until = other.waitUntil { waitUntil = min(waitUntil ?? until, until) }
    hasJobs = hasJobs || other.hasJobs
  }

  /// Notes a lookup that is due at that moment.
  mutating func note(lookupsDueAt moment: Timestamp, _ place: AppProcessor) {
    lookupsDueAt[place] = min(lookupsDueAt[place] ?? moment, moment)
  }

  /// Notes that any receipt of an app may be due at that moment.
  mutating func note(anythingDueAt moment: Timestamp, of app: AppSlug) {
    dueAt[app] = moment
    replaysDueAt[app] = moment
  }

  mutating func note(_ record: PurchaseRecord) {
    guard let receipt = record.receipt else { return }
    if let contextID = record.purchase.contextID { contextIDs.insert(contextID) }
    if receipt.state == .pending, let at = receipt.nextAttemptAt {
      if receipt.isReplay {
        replaysDueAt[record.app] = min(replaysDueAt[record.app] ?? at, at)
      } else {
        dueAt[record.app] = min(dueAt[record.app] ?? at, at)
      }
    }
    if receipt.state == .waiting, let until = receipt.waitUntil { waitUntil = min(waitUntil ?? until, until) }
  }
}

/// The open transaction, as commands see it.
public final class StoreSession {
  let connection: StoreConnection
  let counts: CountRows
  let purchases: PurchaseRows
  let contexts: ContextRows
  let events: EventRows
  let attempts: AttemptRows
  let breakers: BreakerRows
  let retention: RetentionRows
  let audit: AuditRows
  let erasures: ErasureRows
  let payers: PayerRows
  let jobs: JobRows
  let alerts: AlertRows
  let lookups: LookupRows
  let captures: CaptureRows
  let pastPurchases: PastPurchaseRows
  let dictionaries: DictionaryRows
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
    bodies = BodyReader(connection)
    purchases = try PurchaseRows(connection, counts: counts, bodies: bodies, packer: packers.receipt)
    contexts = try ContextRows(connection, bodies: bodies)
    events = try EventRows(connection)
    attempts = try AttemptRows(connection)
    breakers = try BreakerRows(connection)
    retention = try RetentionRows(connection)
    audit = try AuditRows(connection)
    erasures = try ErasureRows(connection, purchases: purchases)
    payers = try PayerRows(connection)
    jobs = try JobRows(connection)
    alerts = try AlertRows(connection)
    lookups = try LookupRows(connection)
    captures = try CaptureRows(connection)
    pastPurchases = try PastPurchaseRows(connection)
    dictionaries = DictionaryRows(connection, bodies: bodies)
  }

  /// Makes a new receipt's identifier, which contains its row.
  func receiptIdentifier(row: PurchaseRowID) -> ReceiptID {
    ReceiptID.make(now: now, number: row.number, random: &random)
  }

  /// Creates the erasure key if needed. Called before any erasure.
  func prepareErasure() throws(StoreFault) { try erasures.prepare(random: &random) }

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
        try breakers.refresh(connection)
        try counts.begin()
        contexts.begin()
        try erasures.begin()
        try pastPurchases.begin()
        let result = try body()
        try counts.end(now: now)
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

  /// Bounds the memory of what was read ahead: a user may have many contexts. Who needs a row reads it again.
  func forgetIfLarge() {
    if contexts.known.map({ $0.count > Self.knownMax }) ?? false { contexts.forgetKnown() }
    if purchases.known.map({ $0.count > Self.knownMax }) ?? false { purchases.forgetKnown() }
  }

  /// Rows of a table in memory. A context may have 16 KiB, and most have one.
  static let knownMax = 4000

  /// Forgets the rows that were read: at the start of a transaction, and after a change that is not known row
  /// by row.
  func forgetKnown() {
    purchases.forgetKnown()
    contexts.forgetKnown()
    events.forgetKnown()
    pastPurchases.forgetKnown()
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
