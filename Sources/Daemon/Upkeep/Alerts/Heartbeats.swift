// When the next heartbeat is due. It is sent only if the committer answers and the relay is ready. The
// alerter's thread.

internal import Formats
internal import Platform

struct Heartbeats {
  enum Step {
    case none
    /// Ask the committer for a pulse.
    case ask
    case send
  }

  private enum Phase {
    case resting, asked, moving, sending
  }

  let address: AlertPlan.Address
  private let every: Duration
  private var phase = Phase.resting
  private var dueAt: MonotonicInstant
  private(set) var isFailing = false

  init(_ address: AlertPlan.Address, every: Duration, _ monotonic: MonotonicInstant) {
    self.address = address
    self.every = every
    dueAt = monotonic
  }

  /// When to check again; nil while an answer is outstanding.
  var nextAt: MonotonicInstant? { phase == .resting ? dueAt : nil }

  mutating func step(monotonic: MonotonicInstant, isReady: Bool) -> Step {
    switch phase {
    case .asked, .sending: return .none
    case .resting:
      guard monotonic >= dueAt else { return .none }
      phase = .asked
      return .ask
    case .moving:
      guard isReady else {
        rest(retryPause, from: monotonic)
        return .none
      }
      phase = .sending
      return .send
    }
  }

  /// Records the committer's answer.
  mutating func pulse(_ isMoving: Bool, monotonic: MonotonicInstant) {
    guard phase == .asked else { return }
    if isMoving { phase = .moving } else { rest(retryPause, from: monotonic) }
  }

  /// Records the address's answer or failure.
  /// - Returns: whether it is the first failure, or the first success after a failure.
  mutating func finish(_ attempt: AlertAttempt, monotonic: MonotonicInstant) -> Bool {
    defer { isFailing = !attempt.isAccepted }
    rest(attempt.isAccepted ? every : max(retryPause, attempt.retryAfter ?? .zero), from: monotonic)
    return isFailing == attempt.isAccepted
  }

  private var retryPause: Duration { min(every, Alerter.beatRetryPause) }

  private mutating func rest(_ duration: Duration, from monotonic: MonotonicInstant) {
    phase = .resting
    dueAt = monotonic.advanced(by: duration)
  }
}
