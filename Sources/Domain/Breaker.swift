// The breaker of one app's deliveries: closed (all may go), open (the destination is down), paused (the
// configuration is wrong). A rest that the destination asked for is separate from this state. The state is
// stored in the database. Pure; any thread.

/// Whether an app's receipts may be sent now.
public struct Breaker: Sendable, Equatable {
  /// What stops the deliveries.
  public enum State: String, Sendable, CaseIterable {
    case closed, open, paused
  }

  /// What may be sent at a moment.
  public enum Admission: Sendable, Equatable {
    case free
    /// One receipt, to test whether the destination is available again.
    case probe
    /// Nothing before this moment.
    case none(until: Timestamp)
  }

  public var state: State
  /// Transient failures in a row while closed.
  public var failures: Int
  /// When the next probe is due while not closed.
  public var probeAt: Timestamp?
  /// The end of the rest that the destination asked for.
  public var restUntil: Timestamp?
  /// When the present state began.
  public var since: Timestamp?
  /// Why it is not closed.
  public var cause: Reason?
  /// The address that the cause concerns, and its error text.
  public var detail: String?
  /// How long the configuration was wrong in total, without the present pause.
  public var pausedTime: Duration

  public init(
    state: State = .closed, failures: Int = 0, probeAt: Timestamp? = nil, restUntil: Timestamp? = nil,
    since: Timestamp? = nil, cause: Reason? = nil, detail: String? = nil, pausedTime: Duration = .zero
  ) {
    self.state = state
    self.failures = failures
    self.probeAt = probeAt
    self.restUntil = restUntil
    self.since = since
    self.cause = cause
    self.detail = detail
    self.pausedTime = pausedTime
  }

  /// - Parameter probing: whether a probe is already under way; there is at most one.
  public func admission(now: Timestamp, probing: Bool) -> Admission {
    if let restUntil, now < restUntil { return .none(until: restUntil) }
    guard state != .closed else { return .free }
    let probeAt = probeAt ?? now
    if probing { return .none(until: max(probeAt, now.advanced(by: .seconds(1)))) }
    return now < probeAt ? .none(until: probeAt) : .probe
  }

  /// When the next probe is due while not closed, not before the end of a rest.
  public func nextAttemptAt(now: Timestamp) -> Timestamp? {
    guard state != .closed else { return restUntil.flatMap { $0 > now ? $0 : nil } }
    return probeAt.map { max($0, restUntil ?? $0) }
  }

  /// How long the configuration was wrong in total, up to now.
  public func pausedTime(now: Timestamp) -> Duration {
    guard state == .paused, let since else { return pausedTime }
    return pausedTime + max(.zero, now.duration(since: since))
  }

  /// Records the verdict of one attempt.
  /// - Parameter detail: more about a failure.
  public mutating func record(
    _ verdict: Verdict, detail: String? = nil, policy: BreakerPolicy, now: Timestamp
  ) {
    switch verdict {
    case .delivered, .refused:
      // The destination read and judged a receipt: it is up, and the credentials are valid.
      close(now: now)
    case .retry(let reason, _):
      failures += 1
      let isDown = state != .closed || failures >= policy.failures
      if isDown { stop(.open, cause: reason, detail: detail, policy: policy, now: now) }
    case .coolDown(_, let rest):
      let until = now.advanced(by: min(rest, Delivery.retryAfterMax))
      restUntil = max(restUntil ?? until, until)
      if state != .closed { probeAt = until }
    case .misconfigured(let reason):
      stop(.paused, cause: reason, detail: detail, policy: policy, now: now)
    }
  }

  /// Allows a probe now, or after the rest that the destination asked for: the cause may be fixed.
  public mutating func probeNow(now: Timestamp) {
    if state != .closed { probeAt = now }
  }

  /// An operator asked for a probe now, whatever the destination asked for.
  public mutating func retryNow(now: Timestamp) {
    endRest()
    probeNow(now: now)
  }

  /// Ends the rest after the destination or its credentials changed: the rest applied to the old ones.
  public mutating func endRest() { restUntil = nil }

  /// Adjusts to a clock step or a sleep of the machine: due times keep their distance, and the lost time
  /// counts against no receipt.
  public mutating func clockStepped(by jump: Duration) {
    probeAt = probeAt?.advanced(by: jump)
    restUntil = restUntil?.advanced(by: jump)
    since = since?.advanced(by: jump)
    pausedTime += jump
  }

  /// Adjusts a stored breaker to the present moment: no due time is later than the policy allows, in case a
  /// clock that ran ahead set it.
  public mutating func adopt(policy: BreakerPolicy, now: Timestamp) {
    let latestProbe = now.advanced(by: max(policy.openFor, .zero))
    let latestRest = now.advanced(by: Delivery.retryAfterMax)
    if let rest = restUntil, rest > latestRest { restUntil = nil }
    probeAt = probeAt.map { min($0, max(latestProbe, restUntil ?? latestProbe)) }
    since = since.map { min($0, now) }
  }

  private mutating func close(now: Timestamp) {
    pausedTime = pausedTime(now: now)
    let hadRest = restUntil
    self = Breaker(restUntil: hadRest.flatMap { $0 > now ? $0 : nil }, pausedTime: pausedTime)
  }

  private mutating func stop(
    _ stopped: State, cause: Reason, detail: String?, policy: BreakerPolicy, now: Timestamp
  ) {
    if state != stopped {
      pausedTime = pausedTime(now: now)
      state = stopped
      since = now
    }
    self.cause = cause
    self.detail = detail
    probeAt = now.advanced(by: policy.openFor)
  }
}
