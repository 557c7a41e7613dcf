// Asking the processor: what it answered, and what is still to be asked.

public import Domain

/// Takes in what the processor answered about a purchase that waits: one more report, that comes from no
/// event (R2).
public struct TakeLookUp: StoreCommand {
  /// Who was asked.
  public var place: AppProcessor
  public var row: Int64
  /// What the purchase waited for when the question was asked; nil when events alone asked for it.
  public var asked: Reason?
  /// How many events asked for the purchase to be fetched.
  public var fetches: Int64
  /// Whether that was done: the processor said how it stands, or that there is no such thing.
  public var isFetched: Bool
  /// Empty when the processor had nothing to say.
  public var reports: [PurchaseReport]
  /// When to ask again if this does not help.
  public var nextAt: Timestamp

  public init(
    _ place: AppProcessor, row: Int64, asked: Reason?, fetches: Int64 = 0, isFetched: Bool = false,
    reports: [PurchaseReport], nextAt: Timestamp
  ) {
    self.place = place
    self.row = row
    self.asked = asked
    self.fetches = fetches
    self.isFetched = isFetched
    self.reports = reports
    self.nextAt = nextAt
  }

  public var reads: [ReadKey] { [.purchase(row: row)] + reports.flatMap { $0.reads(app: place.app) } }

  public func apply(to store: StoreSession) throws(StoreFault) {
    // First, so that one that now lacks something else is asked about at once.
    try store.lookUps.postpone(row: row, asked: asked, fetches: fetches, until: nextAt)
    for report in reports { _ = try store.take(report, app: place.app, keep: false) }
    if fetches > 0, isFetched { try store.noteFetched(row: row, fetches) }
    store.changes.note(asksAt: nextAt, place)
  }
}

/// Plans look-ups for receipts that began to wait while the app had no key for its processor, a slice at a
/// time.
public struct PlanLookUps: StoreCommand {
  public var app: String
  /// Those that can be asked.
  public var processors: Set<ProcessorName>
  public var reason: Reason
  /// The receipt that the slice before ended with; empty for the first.
  public var after: String

  public init(app: String, _ processors: Set<ProcessorName>, reason: Reason, after: String = "") {
    self.app = app
    self.processors = processors
    self.reason = reason
    self.after = after
  }

  /// The next slice; nil when there is none.
  public func apply(to store: StoreSession) throws(StoreFault) -> PlanLookUps? {
    let last = try store.lookUps.planSlice(
      app: app, processors, reason: reason, after: after, at: store.now)
    for processor in processors { store.changes.note(asksAt: store.now, AppProcessor(app, processor)) }
    return last.map { PlanLookUps(app: app, processors, reason: reason, after: $0) }
  }
}

/// Says that receiptd serves.
public struct NoteService: StoreCommand {
  /// After how long a silence an app's events are to be fetched from a processor.
  public var backfillAfterMilliseconds: [AppProcessor: Int64]

  /// How long before the last sign of life the missing events may begin: signs come once a minute, and the
  /// processor's clock is another one.
  static let marginMilliseconds: Int64 = 300_000

  /// - Parameter backfillAfterMilliseconds: empty but at the start.
  public init(backfillAfterMilliseconds: [AppProcessor: Int64] = [:]) {
    self.backfillAfterMilliseconds = backfillAfterMilliseconds
  }

  /// - Returns: since when it had not served; nil when it never did.
  public func apply(to store: StoreSession) throws(StoreFault) -> Timestamp? {
    let last = try store.lookUps.lastServed()
    if let last {
      let silence = store.now.milliseconds(since: last)
      for (place, after) in backfillAfterMilliseconds where silence >= after {
        try store.lookUps.owe(place, since: last.advanced(byMilliseconds: -Self.marginMilliseconds))
      }
    }
    try store.lookUps.serve(at: store.now)
    return last
  }
}

/// An app's events were fetched from a processor, from that moment on.
public struct NoteBackfilled: StoreCommand {
  public var place: AppProcessor
  public var since: Timestamp

  public init(_ place: AppProcessor, since: Timestamp) {
    self.place = place
    self.since = since
  }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.lookUps.fill(place, since: since)
  }
}
