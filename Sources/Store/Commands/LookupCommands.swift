// Stores the answers of processors, and plans further lookups.

public import Domain
internal import Formats

/// Ingests a processor's answer about a waiting purchase: one more report, without an event (R2).
public struct IngestLookup: StoreCommand {
  /// The processor that answered.
  public var place: AppProcessor
  public var purchase: PurchaseReference
  /// What the purchase waited for at the time of the request; nil if only events caused the lookup.
  public var asked: Reason?
  /// How many events required the purchase to be fetched.
  public var fetches: Int64
  /// Whether it was fetched: the processor returned its state, or said that it does not exist.
  public var isFetched: Bool
  /// Empty if the processor had no data.
  public var reports: [PurchaseReport]
  /// What was fetched for an event that named it, if it is no purchase: read as if the event had had it.
  public var said: IngestEvent.Content?
  /// When to retry if this does not help.
  public var nextAt: Timestamp

  public init(
    _ place: AppProcessor, of purchase: PurchaseReference, asked: Reason?, fetches: Int64 = 0,
    isFetched: Bool = false,
    reports: [PurchaseReport], said: IngestEvent.Content? = nil, nextAt: Timestamp
  ) {
    self.place = place
    self.purchase = purchase
    self.asked = asked
    self.fetches = fetches
    self.isFetched = isFetched
    self.reports = reports
    self.said = said
    self.nextAt = nextAt
  }

  public var reads: [ReadKey] {
    let mentioned = reports.isEmpty ? [ReadKey.mention(app: place.app, id: purchase.key.id.text)] : []
    return [.purchase(row: purchase.row)] + mentioned + reports.flatMap { $0.reads(app: place.app) }
      + (said?.reads(of: place) ?? [])
  }

  public struct Outcome: Sendable, Equatable {
    /// Whether the answer is the first that says that a started payment is paid: no event has named it.
    public var wasUnreported = false
    /// Whether events named something that the processor does not show, so that they are not read.
    public var isUnread = false
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    let row = purchase.row
    var joiner = Joiner(store)
    guard let before = try store.purchases.find(purchase) else {
      // What was asked about another purchase changes nothing about the lookups of this one.
      for report in reports { _ = try joiner.ingest(report, app: place.app, keep: false) }
      store.changes.note(lookupsDueAt: store.now, place)
      return Outcome()
    }
    if fetches > 0, isFetched, reports.isEmpty, before.receipt == nil, before.purchase.isOnlyNamed {
      return try replace(before, by: said ?? .nothing(.unparsed), &joiner)
    }
    let wasOpen = fetches > 0 && before.purchase.awaitsOutcome
    // Postponed first, so that a purchase that now lacks something else is looked up at once.
    try store.lookups.postpone(row: row, asked: asked, fetches: fetches, until: nextAt)
    for report in reports { _ = try joiner.ingest(report, app: place.app, keep: false) }
    if fetches > 0, isFetched { try store.noteFetched(row: row, fetches) }
    store.changes.note(lookupsDueAt: nextAt, place)
    guard wasOpen, try store.purchases.find(row: row)?.purchase.isPaid == true else { return Outcome() }
    return Outcome(wasUnreported: try !store.events.hasAny(ofPurchase: row))
  }

  /// Reads the events that named an object as if they had had it. The row that stood for it is deleted.
  private func replace(
    _ named: PurchaseRecord, by content: IngestEvent.Content, _ joiner: inout Joiner
  ) throws(StoreFault) -> Outcome {
    let store = joiner.store
    store.changes.note(lookupsDueAt: store.now, place)
    // If an event has come meanwhile, the object may have changed: it stays due.
    guard try store.lookups.noteFetched(row: named.rowID, fetches) else { return Outcome() }
    let (outcome, row) = try read(content, named, &joiner)
    try store.events.reassign(from: named.rowID, to: row, outcome: outcome)
    try store.purchases.delete(named)
    return Outcome(isUnread: outcome == .unparsed)
  }

  private func read(
    _ content: IngestEvent.Content, _ named: PurchaseRecord, _ joiner: inout Joiner
  ) throws(StoreFault) -> (EventOutcome, PurchaseRowID?) {
    let store = joiner.store
    var isErased = try store.erasures.hasErased(id: named.purchase.key.id.text, app: place.app)
    if !isErased, case .report(let report, _) = content {
      isErased = try store.erasures.isErased(report.key, sessionID: report.sessionID, app: place.app)
    }
    if isErased {
      try store.erasures.emptyEvents(ofPurchase: named.rowID)
      try store.erasures.forgetNotes()
      try store.search.erase(store.erasures.drainEvents(), of: .events)
      store.forgetKnown()
      return (.erased, nil)
    }
    switch content {
    case .report(let report, let keep): return try joiner.ingest(report, app: place.app, keep: keep)
    case .customer(let facts):
      try joiner.learn(facts, at: place)
      return (.noted, nil)
    case .nothing(let outcome): return (outcome, nil)
    case .fetch: return (.unparsed, nil)
    }
  }
}

/// Plans lookups for receipts that began to wait while the app had no key for their processor, a slice at a
/// time.
public struct PlanLookups: StoreCommand {
  public var place: AppProcessor
  public var reason: Reason
  /// The last receipt of the previous slice; empty for the first.
  public var after: ReceiptID

  public init(_ place: AppProcessor, reason: Reason, after: ReceiptID = "") {
    self.place = place
    self.reason = reason
    self.after = after
  }

  public var scope: CommandScope { .apps([place.app]) }

  /// The next slice; nil if there is none.
  public func apply(to store: StoreSession) throws(StoreFault) -> PlanLookups? {
    let last = try store.lookups.planSlice(place, reason: reason, after: after, at: store.now)
    store.changes.note(lookupsDueAt: store.now, place)
    return last.map { PlanLookups(place, reason: reason, after: $0) }
  }
}

/// Makes an app's fetches that failed due now, a slice at a time: a new configuration may have corrected what
/// made them fail.
public struct RetryFetches: StoreCommand {
  public var place: AppProcessor

  public init(_ place: AppProcessor) { self.place = place }

  public var scope: CommandScope { .apps([place.app]) }

  /// - Returns: whether there may be more.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    let count = try store.lookups.retry(place, at: store.now)
    if count > 0 { store.changes.note(lookupsDueAt: store.now, place) }
    return count == Int(LookupRows.slice)
  }
}

/// Records that receiptd is serving.
public struct NoteService: StoreCommand {
  /// The length of a silence after which a processor's events must be fetched for an app.
  public var backfillAfter: [AppProcessor: Duration]

  /// How long before the last record the missing events may begin: it is written once a minute, and the
  /// processor has a different clock.
  static let margin: Duration = .minutes(5)

  /// - Parameter backfillAfter: empty except at the start.
  public init(backfillAfter: [AppProcessor: Duration] = [:]) {
    self.backfillAfter = backfillAfter
  }

  public var scope: CommandScope { .apps(Set(backfillAfter.keys.map(\.app))) }

  /// - Returns: when receiptd last recorded that it was serving; nil if never.
  public func apply(to store: StoreSession) throws(StoreFault) -> Timestamp? {
    let last = try store.lookups.lastServed()
    if let last {
      let silence = store.now.duration(since: last)
      for (place, after) in backfillAfter where silence >= after {
        try store.lookups.addBackfill(place, since: last - Self.margin)
      }
    }
    try store.lookups.recordService(at: store.now)
    return last
  }
}

/// Records that a processor's events from that moment on were fetched for an app.
public struct NoteBackfilled: StoreCommand {
  public var place: AppProcessor
  public var since: Timestamp

  public init(_ place: AppProcessor, since: Timestamp) {
    self.place = place
    self.since = since
  }

  public var scope: CommandScope { .apps([place.app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.lookups.completeBackfill(place, since: since)
  }
}

// MARK: - Expedite

// Reschedules retries at a start, a takeover or a reload while an app's deliveries were stopped.

/// Makes an app's retries due now if they are due within their breaker's pause. The configuration may have
/// been corrected, so these receipts must not wait for the rest of the pause.
public struct Expedite: StoreCommand {
  public var app: AppSlug
  /// The length of a pause of the app's breakers.
  public var pause: Duration
  /// Leave out those of a destination that is only down: it may still be.
  public var onlyPaused: Bool

  public init(app: AppSlug, pause: Duration, onlyPaused: Bool = false) {
    self.app = app
    self.pause = pause
    self.onlyPaused = onlyPaused
  }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    guard store.rules(of: app) != nil else { return }
    let until = store.now.advanced(by: pause)
    var isStopped = false
    for destination in try store.purchases.pendingDestinations(of: app) {
      let place = AppDestination(app, destination)
      guard let breaker = store.breakers.byPlace[place], breaker.state != .closed else { continue }
      if onlyPaused, breaker.state != .paused { continue }
      // An earlier configuration may have had a longer pause.
      try store.purchases.expedite(place, now: store.now, until: max(until, breaker.probeAt ?? until))
      isStopped = true
    }
    guard isStopped else { return }
    store.changes.note(anythingDueAt: store.now, of: app)
  }
}

// MARK: - FetchPurchase

// Plans a fetch of a purchase because an operator asks for it.

/// Plans an immediate fetch of a purchase's state from its processor, as if an event had required it, also
/// when its follow-up has ended.
public struct FetchPurchase: StoreCommand {
  public var purchase: PurchaseReference

  public init(_ purchase: PurchaseReference) { self.purchase = purchase }

  /// Whether the fetch is planned, or why not.
  public enum Outcome: Sendable, Equatable {
    case planned
    case notFound
    /// The configuration has no key for the processor's API, or not the processor.
    case notAsked
    /// Its user was erased.
    case erased
  }

  public var reads: [ReadKey] { [.purchase(row: purchase.row)] }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let record = try store.purchases.find(purchase) else { return .notFound }
    if record.purchase.isErased { return .erased }
    guard store.rules(of: record.app)?.processor(of: record.purchase).isAsked == true else {
      return .notAsked
    }
    try store.lookups.fetch(row: record.rowID, of: record.place, at: store.now)
    store.changes.note(lookupsDueAt: store.now, record.place)
    return .planned
  }
}
