// A capture that is under way, or has ended. Only its life cycle (`CaptureLifeCycle.swift`) changes it. Pure;
// any thread.

/// The obligation to capture a payment: at most once, until the outcome is known. `orderedAt`, `failures`,
/// `retryAt`, `isGivenUp` and `outcome` are stored; a restart forgets the rest, and begins with a lookup.
public struct Capture: Sendable, Equatable {
  /// What is to be done next.
  public enum Phase: String, Sendable, CaseIterable {
    /// Make the call that captures. Either it is the first, or a lookup has just shown that the calls before
    /// it captured nothing.
    case sending
    /// Look up whether an earlier call captured the payment.
    case lookingUp = "looking_up"
    /// The processor refused a call, but one before it may have captured the payment: look it up.
    case confirming
    /// The processor accepted the call: look up its outcome, and never make the call again.
    case accepted
    /// Nothing.
    case ended
  }

  public let orderedAt: Timestamp
  public internal(set) var phase: Phase
  /// When the next call is due; nil once it has ended.
  public internal(set) var dueAt: Timestamp?
  /// The failures so far. Each makes the next pause longer.
  public internal(set) var failures: Int64
  /// When the pause after the last failure ends. A lookup after a lost answer does not wait for it.
  public internal(set) var retryAt: Timestamp
  /// Whether a call that captures may have reached the processor, without a usable answer.
  public internal(set) var isInDoubt: Bool
  /// The refusal that a lookup must confirm; nil unless it is `confirming`.
  public internal(set) var refusal: CaptureOutcome?
  /// Nil until it has ended.
  public internal(set) var outcome: CaptureOutcome?

  /// Makes a capture that was stored just now, and for which nothing was sent.
  /// - Parameters:
  ///   - isRepeat: whether the payment had another capture before, of which a call may still be on its way.
  ///   - needsLookup: whether only a lookup gives the call that captures.
  public init(orderedAt: Timestamp, isRepeat: Bool = false, needsLookup: Bool = false) {
    self.orderedAt = orderedAt
    phase = needsLookup ? .lookingUp : .sending
    dueAt = orderedAt
    failures = 0
    retryAt = orderedAt
    isInDoubt = isRepeat
  }

  /// Makes a capture from its stored columns, after a restart. Anything may have been sent before.
  /// - Parameter outcome: nil if it has not ended.
  public init(
    resuming orderedAt: Timestamp, failures: Int64, retryAt: Timestamp, isGivenUp: Bool = false,
    outcome: CaptureOutcome? = nil
  ) {
    self.orderedAt = orderedAt
    self.failures = max(0, failures)
    self.retryAt = retryAt
    self.outcome = outcome
    phase = outcome == nil ? .lookingUp : .ended
    if outcome == nil, isGivenUp { (phase, refusal) = (.confirming, .abandoned) }
    dueAt = outcome == nil ? retryAt : nil
    isInDoubt = true
  }

  /// Whether the processor refused it so that the relay gives up, unless a lookup shows another end. The call
  /// is not made again.
  public var isGivenUp: Bool { refusal?.kind == .abandoned }

  /// Moves times that a clock noted while it ran ahead to the pause of the last failure from now at most.
  public mutating func bringBack(to now: Timestamp) {
    let latest = now + Self.pause(failures: failures)
    dueAt = dueAt.map { min($0, latest) }
    retryAt = min(retryAt, latest)
  }

  /// Describes a violation of the rules of its phase; nil if there is none.
  public var contradiction: String? {
    switch phase {
    case .ended where outcome == nil: "a capture that ended has an outcome"
    case .ended where dueAt != nil: "a capture that ended is never due"
    case .ended: refusal == nil ? nil : "a capture that ended has nothing to confirm"
    case _ where outcome != nil: "a capture with an outcome has ended"
    case _ where dueAt == nil: "an open capture is due at some time"
    case .confirming where refusal == nil: "there is a refusal to confirm"
    case .confirming where !isInDoubt, .accepted where !isInDoubt: "a call was made"
    case .sending, .lookingUp, .accepted: refusal == nil ? nil : "only a lookup confirms a refusal"
    case .confirming: nil
    }
  }
}
