// Decides what follows from one delivery attempt. Pure; any thread.

internal import Formats

/// How much of a receipt's retry budget is used.
public struct RetryBudget: Sendable, Equatable {
  /// Failed attempts that counted since the receipt became ready or was replayed.
  public var spentAttempts: Int64
  /// When the receipt became ready or was replayed.
  public var startedAt: Timestamp
  /// How long the app's configuration was wrong since then; this time does not count.
  public var pausedTime: Duration

  public init(spentAttempts: Int64, startedAt: Timestamp, pausedTime: Duration) {
    self.spentAttempts = spentAttempts
    self.startedAt = startedAt
    self.pausedTime = pausedTime
  }

  /// Whether the time for attempts is used up.
  public func isUsedUp(policy: RetryPolicy, now: Timestamp) -> Bool {
    now.duration(since: startedAt) - max(.zero, pausedTime) >= policy.giveUpAfter
  }
}

/// The rules for retries (contract: Delivery).
public enum Delivery {
  /// The longest `Retry-After` that is honoured, then the rest after a 429 without one.
  public static let retryAfterMax: Duration = .days(1)
  public static let coolDownDefault: Duration = .minutes(10)

  /// What follows for the receipt.
  public enum Decision: Sendable, Equatable {
    case delivered(importID: String?)
    /// - spent: whether the attempt counts against the budget.
    case retry(at: Timestamp, spent: Bool)
    case failed(Reason)
  }

  /// - Parameters:
  ///   - probe: whether the attempt tested if an unavailable destination is back; a probe spends no budget.
  public static func decide(
    _ verdict: Verdict, budget: RetryBudget, probe: Bool, policy: DeliveryPolicy, now: Timestamp,
    random: inout some RandomNumberGenerator
  ) -> Decision {
    switch verdict {
    case .delivered(let importID): return .delivered(importID: importID)
    case .refused(let reason): return .failed(reason)
    case .misconfigured:
      return .retry(at: now.advanced(by: policy.breaker.openFor), spent: false)
    case .retry(_, let notBefore): return retry(after: notBefore)
    case .coolDown(_, let rest): return retry(after: rest)
    }

    func retry(after notBefore: Duration?) -> Decision {
      if budget.isUsedUp(policy: policy.retry, now: now) { return .failed(.gaveUp) }
      let pause = pause(afterAttempts: budget.spentAttempts, policy: policy.retry, random: &random)
      let wait = max(pause, min(notBefore ?? .zero, retryAfterMax))
      return .retry(at: now.advanced(by: wait), spent: !probe)
    }
  }

  /// The schedule's pause with jitter; the last entry repeats.
  static func pause(
    afterAttempts attempts: Int64, policy: RetryPolicy, random: inout some RandomNumberGenerator
  ) -> Duration {
    guard let last = policy.schedule.last else { return .zero }
    let position = Int(clamping: attempts)
    let schedule = policy.schedule
    let pause = schedule.indices.contains(position) ? schedule[position] : last
    let spread = max(0, min(1, policy.jitter))
    let factor = spread > 0 ? Double.random(in: (1 - spread)...(1 + spread), using: &random) : 1
    let milliseconds = Int64(exactly: (Double(pause.milliseconds) * factor).rounded())
    return milliseconds.map { .milliseconds($0) } ?? pause
  }
}
