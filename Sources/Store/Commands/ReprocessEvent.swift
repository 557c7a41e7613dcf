// Reads a stored event again.

public import Domain

/// Merges what a stored event says to this version's reader. Repeating this changes nothing (R2).
public struct ReprocessEvent: StoreCommand {
  /// The event as this version reads it; its id and bytes are those of the row.
  public var event: IngestEvent
  public var row: EventRowID

  public init(_ event: IngestEvent, row: EventRowID) {
    self.event = event
    self.row = row
  }

  public struct Outcome: Sendable, Equatable {
    /// The outcome before; nil if the event is no longer stored.
    public var before: EventOutcome?
    public var after: EventOutcome?
    /// Whether its purchase got a receipt from it.
    public var makesReceipt: Bool

    public init(before: EventOutcome?, after: EventOutcome?, makesReceipt: Bool = false) {
      self.before = before
      self.after = after
      self.makesReceipt = makesReceipt
    }

    /// Whether reading it again changed anything.
    public var isChange: Bool { before != after || makesReceipt }
  }

  public func apply(to store: StoreSession) throws(StoreFault) -> Outcome {
    guard let known = try store.events.find(row: row) else { return Outcome(before: nil, after: nil) }
    // An erased user's event has no content to read.
    if event.body.bytes.isEmpty { return Outcome(before: known.outcome, after: known.outcome) }
    // Retention deleted its receipt; a new one would be sent a second time (R3).
    if known.outcome == .receipt, known.purchaseRow == nil {
      return Outcome(before: known.outcome, after: known.outcome)
    }
    if try event.isAboutErased(in: store) { return Outcome(before: known.outcome, after: known.outcome) }
    switch known.isHint ? event.content.asHint : event.content {
    case .nothing(let outcome):
      // A purchase keeps what it merged, even if the event now reads differently.
      guard known.purchaseRow == nil else { return Outcome(before: known.outcome, after: known.outcome) }
      try store.events.update(row: row, type: event.type, outcome: outcome, purchaseRow: nil)
      return Outcome(before: known.outcome, after: outcome)
    case .customer(let facts):
      guard known.purchaseRow == nil else { return Outcome(before: known.outcome, after: known.outcome) }
      var joiner = Joiner(store)
      try joiner.learn(facts, at: AppProcessor(event.app, event.processor))
      try store.events.update(row: row, type: event.type, outcome: .noted, purchaseRow: nil)
      return Outcome(before: known.outcome, after: .noted)
    case .report(let report, let keep):
      let hadReceipt = try known.purchaseRow.map { row throws(StoreFault) in
        try store.purchases.find(row: row)?.receipt != nil
      }
      var joiner = Joiner(store)
      let ingested = try joiner.ingest(report, app: event.app, keep: keep)
      try store.events.update(
        row: row, type: event.type, outcome: ingested.outcome, purchaseRow: ingested.row)
      return Outcome(
        before: known.outcome, after: ingested.outcome,
        makesReceipt: ingested.outcome == .receipt && hadReceipt == false)
    case .fetch(let key, let sessionID, let keep):
      // The processor's answer comes later.
      guard let found = try store.fetch(key, sessionID: sessionID, app: event.app, keep: keep) else {
        return Outcome(before: known.outcome, after: known.outcome)
      }
      try store.events.update(row: row, type: event.type, outcome: found.outcome, purchaseRow: found.row)
      return Outcome(before: known.outcome, after: found.outcome)
    }
  }
}
