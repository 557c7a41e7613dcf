// Asking the processor: what it answered, and what is still to be asked.

public import Domain

/// Takes in what the processor answered about a purchase that waits: one more report, that comes from no
/// event (R2).
public struct TakeLookUp: StoreCommand {
  public var app: String
  public var row: Int64
  /// What the purchase waited for when the question was asked.
  public var asked: Reason
  /// Empty when the processor had nothing to say.
  public var reports: [PurchaseReport]
  /// When to ask again if this does not help.
  public var nextAt: Timestamp

  public init(app: String, row: Int64, asked: Reason, reports: [PurchaseReport], nextAt: Timestamp) {
    self.app = app
    self.row = row
    self.asked = asked
    self.reports = reports
    self.nextAt = nextAt
  }

  public var reads: [ReadKey] { [.purchase(row: row)] + reports.flatMap { $0.reads(app: app) } }

  public func apply(to store: StoreSession) throws(StoreFault) {
    // First, so that one that now lacks something else is asked about at once.
    try store.lookUps.postpone(row: row, asked: asked, until: nextAt)
    for report in reports { _ = try store.take(report, app: app, keep: false) }
    store.changes.asksAt[app] = min(store.changes.asksAt[app] ?? nextAt, nextAt)
  }
}

/// Plans look-ups for receipts that began to wait while the app had no key for its processor, a slice at a
/// time.
public struct PlanLookUps: StoreCommand {
  public var app: String
  public var reason: Reason
  /// The receipt that the slice before ended with; empty for the first.
  public var after: String

  public init(app: String, reason: Reason, after: String = "") {
    self.app = app
    self.reason = reason
    self.after = after
  }

  /// The next slice; nil when there is none.
  public func apply(to store: StoreSession) throws(StoreFault) -> PlanLookUps? {
    let last = try store.lookUps.planSlice(app: app, reason: reason, after: after, at: store.now)
    store.changes.asksAt[app] = store.now
    return last.map { PlanLookUps(app: app, reason: reason, after: $0) }
  }
}

/// Says that receiptd serves.
public struct NoteService: StoreCommand {
  /// After how long a silence an app's events are to be fetched from its processor.
  public var backfillAfterMilliseconds: [String: Int64]

  /// How long before the last sign of life the missing events may begin: signs come once a minute, and the
  /// processor's clock is another one.
  static let marginMilliseconds: Int64 = 300_000

  /// - Parameter backfillAfterMilliseconds: empty but at the start.
  public init(backfillAfterMilliseconds: [String: Int64] = [:]) {
    self.backfillAfterMilliseconds = backfillAfterMilliseconds
  }

  /// - Returns: since when it had not served; nil when it never did.
  public func apply(to store: StoreSession) throws(StoreFault) -> Timestamp? {
    let last = try store.lookUps.lastServed()
    if let last {
      let silence = store.now.milliseconds(since: last)
      for (app, after) in backfillAfterMilliseconds where silence >= after {
        try store.lookUps.owe(app: app, since: last.advanced(byMilliseconds: -Self.marginMilliseconds))
      }
    }
    try store.lookUps.serve(at: store.now)
    return last
  }
}

/// An app's events were fetched, from that moment on.
public struct NoteBackfilled: StoreCommand {
  public var app: String
  public var since: Timestamp

  public init(app: String, since: Timestamp) {
    self.app = app
    self.since = since
  }

  public func apply(to store: StoreSession) throws(StoreFault) {
    try store.lookUps.fill(app: app, since: since)
  }
}
