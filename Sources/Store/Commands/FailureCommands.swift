// Acknowledges groups of failures, and opens them again.

public import Domain

/// Notes who takes care of groups of failures. They stay quiet until they grow. Must be wrapped in `Audited`.
public struct AcknowledgeFailures: StoreCommand {
  public var app: AppSlug
  /// Which of the app's groups.
  public var filter: FailureChoice
  public var owner: String
  public var note: String
  public var actor: String

  public init(app: AppSlug, _ filter: FailureChoice, owner: String, note: String, actor: String) {
    self.app = app
    self.filter = filter
    self.filter.app = app
    self.owner = owner
    self.note = note
    self.actor = actor
  }

  public var scope: CommandScope { .apps([app]) }

  /// How many groups it acknowledged.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int {
    let count = try store.connection.prepare(
      """
      INSERT INTO acknowledgements (app, processor, reason, last_cause, entered, owner, note, actor, at)
        SELECT r.app, r.processor, r.reason, r.last_cause, r.entered, ?5, ?6, ?7, ?8 FROM receipt_counts r
        WHERE r.state = 'failed' AND r.count > 0 AND \(FailureChoice.condition("r"))
        ON CONFLICT (app, processor, reason, last_cause) DO UPDATE SET
          entered = excluded.entered, owner = excluded.owner, note = excluded.note,
          actor = excluded.actor, at = excluded.at
      """
    ).count(filter.values + [.text(owner), .text(note), .text(actor), .time(store.now)])
    return Int(clamping: count)
  }
}

/// Takes the acknowledgements of groups back. Must be wrapped in `Audited`.
public struct ReopenFailures: StoreCommand {
  public var app: AppSlug
  public var filter: FailureChoice

  public init(app: AppSlug, _ filter: FailureChoice) {
    self.app = app
    self.filter = filter
    self.filter.app = app
  }

  public var scope: CommandScope { .apps([app]) }

  /// How many groups it opened.
  public func apply(to store: StoreSession) throws(StoreFault) -> Int {
    let count = try store.connection.prepare(
      "DELETE FROM acknowledgements WHERE \(FailureChoice.condition("acknowledgements"))"
    ).count(filter.values)
    return Int(clamping: count)
  }
}

extension StoreSession {
  /// Deletes the acknowledgements of groups without failed receipts, which a replay has resolved.
  func forgetResolvedFailures() throws(StoreFault) {
    try connection.prepare(
      """
      DELETE FROM acknowledgements WHERE NOT EXISTS (
        SELECT 1 FROM receipt_counts r WHERE r.app = acknowledgements.app AND r.state = 'failed'
          AND r.reason = acknowledgements.reason AND r.last_cause = acknowledgements.last_cause
          AND r.processor = acknowledgements.processor AND r.count > 0)
      """
    ).run()
  }
}
