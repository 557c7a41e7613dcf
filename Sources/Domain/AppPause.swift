// An operator's hold on an app's deliveries. Pure; any thread.

/// Whether an operator holds an app's deliveries, and for how long they were held in all.
public struct AppPause: Sendable, Equatable {
  /// When the present or last pause began; nil if there was none.
  public var since: Timestamp?
  /// When it ends or ended; nil for one that only an operator ends.
  public var until: Timestamp?
  /// Who began it.
  public var actor: String
  /// The operator's reason.
  public var reason: String?
  /// The length of all pauses before it.
  public var earlier: Duration
  /// When an operator last asked to try again at once, whatever the breakers wait for; nil for never.
  public var retryAt: Timestamp?

  public init(
    since: Timestamp? = nil, until: Timestamp? = nil, actor: String = "", reason: String? = nil,
    earlier: Duration = .zero, retryAt: Timestamp? = nil
  ) {
    self.since = since
    self.until = until
    self.actor = actor
    self.reason = reason
    self.earlier = earlier
    self.retryAt = retryAt
  }

  /// Whether nothing is sent at that moment. A pause ends by its time: nothing has to be done then.
  public func isActive(now: Timestamp) -> Bool {
    guard since != nil else { return false }
    return until.map { now < $0 } ?? true
  }

  /// For how long the deliveries were held in all, up to now. This time counts against no receipt.
  public func pausedTime(now: Timestamp) -> Duration {
    guard let since else { return earlier }
    return earlier + max(.zero, min(now, until ?? now).duration(since: since))
  }

  /// When the last pause ended; nil if there was none, or if one is active.
  public func endedAt(now: Timestamp) -> Timestamp? { isActive(now: now) ? nil : until }

  /// Begins a pause, or gives the present one another end and another reason.
  public mutating func begin(now: Timestamp, until: Timestamp?, actor: String, reason: String?) {
    if !isActive(now: now) {
      earlier = pausedTime(now: now)
      since = now
    }
    (self.until, self.actor, self.reason) = (until, actor, reason)
  }

  /// Ends the pause.
  public mutating func end(now: Timestamp) { if isActive(now: now) { until = now } }

  /// Keeps the length of the pause, and what is left of it, after a step of the clock.
  public mutating func clockStepped(by step: Duration) {
    since = since?.advanced(by: step)
    until = until?.advanced(by: step)
  }
}
