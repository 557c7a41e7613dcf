// The life cycle of captures: one function defines for each phase and event what follows. A customer is
// charged at most once, and a charge is never taken for a refusal:
//
// - A call that may have reached the processor is followed by a lookup. Only a lookup that shows that nothing
//   was captured permits the call again, and it is made at once.
// - A refusal counts only if no earlier call can have captured the payment; else a lookup must confirm it.
// - A failure proves nothing. After a week of failures the capture is abandoned, never declined.
// - A reply that makes the relay give up is followed by a lookup, too: someone else may have captured it.
//
// Pure; any thread.

internal import Formats

/// An event in a capture's life. `Capture.apply` defines what follows from it in each phase.
public enum CaptureEvent: Sendable, Equatable {
  /// The call that captures has ended.
  case sent(CaptureReply)
  /// A lookup has ended.
  case lookedUp(CaptureReply)
  /// The next call cannot be made before this time, for a reason that says nothing about the processor.
  case postponed(until: Timestamp)
  /// An app waits for the outcome, so the next lookup comes now, and the next pause is short.
  case awaited
}

/// What the reply to a call proves.
public enum CaptureReply: Sendable, Equatable {
  /// The payment's end.
  case ended(CaptureOutcome)
  /// Nothing was captured. Only a lookup proves that.
  case nothingCaptured
  /// The processor accepted the call, and lookups show its outcome later.
  case accepted
  /// The processor did not receive the call.
  case notSent
  /// Nothing: no answer, or none that can be used.
  case unclear
}

/// Why an event does not change a capture.
public enum CaptureRefusal: Error, Sendable, Equatable {
  /// Its phase does not allow it.
  case notAllowed(Capture.Phase)
}

extension Capture {
  private static let pauses: [Duration] = [
    .seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10),
  ]
  /// The longest pause after a failure.
  public static let longestPause: Duration = .hours(1)
  /// The pauses above, then hourly for seven days. Counting attempts instead of hours gives each capture all
  /// of its attempts, also across a long downtime of the relay and a wrong clock.
  static let failuresMax = Int64(pauses.count) + 7 * 24

  /// The pause after the last failure if an app waits for the outcome.
  static let awaitedPause: Duration = .seconds(10)
  /// After this many failures the pauses remain. Apps that ask often would use up the attempts of a week.
  static let awaitedFailuresMax: Int64 = 24

  /// The pause after a failure.
  /// - Parameter failures: so far, including this one.
  static func pause(failures: Int64) -> Duration {
    let position = Int(clamping: max(failures, 1) - 1)
    return pauses.indices.contains(position) ? pauses[position] : longestPause
  }

  /// Applies an event to the capture.
  /// - Throws: `CaptureRefusal` if its phase does not allow the event; the capture is then unchanged.
  public mutating func apply(_ event: CaptureEvent, now: Timestamp) throws(CaptureRefusal) {
    switch (event, phase) {
    case (_, .ended): throw .notAllowed(phase)
    case (.postponed(let until), _): dueAt = until
    case (.awaited, .sending): break
    case (.awaited, .lookingUp), (.awaited, .confirming), (.awaited, .accepted): hasten(now: now)
    case (.sent(let reply), .sending): sent(reply, now: now)
    case (.lookedUp(let reply), .lookingUp), (.lookedUp(let reply), .confirming),
      (.lookedUp(let reply), .accepted):
      lookedUp(reply, now: now)
    case (.sent, _), (.lookedUp, _): throw .notAllowed(phase)
    }
  }

  private mutating func hasten(now: Timestamp) {
    if failures <= Self.awaitedFailuresMax { retryAt = min(retryAt, now + Self.awaitedPause) }
    dueAt = dueAt.map { min($0, now) }
  }

  private mutating func sent(_ reply: CaptureReply, now: Timestamp) {
    switch reply {
    case .ended(let outcome) where outcome.kind == .abandoned || (outcome.kind != .captured && isInDoubt):
      refusal = outcome
      isInDoubt = true
      (phase, dueAt) = (.confirming, now)
    case .ended(let outcome):
      end(outcome)
    case .accepted:
      isInDoubt = true
      (phase, dueAt) = (.accepted, now)
    case .notSent:
      phase = .lookingUp
      fail(now: now)
    case .unclear, .nothingCaptured:
      isInDoubt = true
      phase = .lookingUp
      fail(now: now)
      if phase != .ended { dueAt = now }
    }
  }

  private mutating func lookedUp(_ reply: CaptureReply, now: Timestamp) {
    switch (reply, phase) {
    case (.ended(let outcome), _):
      end(outcome)
    case (.nothingCaptured, .confirming):
      if let refusal { end(refusal) } else { phase = .lookingUp }
    case (.nothingCaptured, .lookingUp) where now >= retryAt:
      (phase, dueAt) = (.sending, now)
    case (.nothingCaptured, .lookingUp):
      // This lookup came at once after a failure. The next one comes just before the call is made again.
      dueAt = retryAt
    case (.accepted, .lookingUp), (.accepted, .confirming):
      refusal = nil
      isInDoubt = true
      phase = .accepted
      failAgain(now: now)
    case (.nothingCaptured, _), (.accepted, _), (.notSent, _), (.unclear, _):
      failAgain(now: now)
    }
  }

  /// A lookup that comes at once after a failure is no other failure.
  private mutating func failAgain(now: Timestamp) {
    if now < retryAt { dueAt = retryAt } else { fail(now: now) }
  }

  private mutating func fail(now: Timestamp) {
    failures = min(failures, Self.failuresMax) + 1
    guard failures <= Self.failuresMax else { return end(.abandoned) }
    retryAt = now + Self.pause(failures: failures)
    dueAt = retryAt
  }

  private mutating func end(_ outcome: CaptureOutcome) {
    (phase, dueAt, refusal) = (.ended, nil, nil)
    self.outcome = outcome
  }
}
