// When the processor is asked for missing data of a purchase. Pure; any thread.

internal import Durations

/// The schedule of lookups.
public enum Lookup {
  /// Reasons to wait that the processor may be able to resolve.
  public static let reasons: Set<Reason> = [.price, .user, .subscription, .checkout]

  /// Sister events come within moments; a lookup is for what they leave out.
  static let firstPauseMax: Duration = .milliseconds(1500)
  private static let pauses: [Duration] = [.seconds(10), .seconds(60), .minutes(10), .hours(1), .hours(6)]

  /// The pause from the start of the wait to the first lookup, well before a price or a context is used
  /// without the answer.
  public static func firstPause(_ policy: JoinPolicy, for reason: Reason) -> Duration {
    let wait = reason == .checkout ? policy.settle : policy.waitForProcessorPrice
    return min(firstPauseMax, max(.zero, wait) / 4)
  }

  /// The pause from an answer that did not help to the next lookup.
  /// - Parameters:
  ///   - attempts: answers so far, including this one.
  ///   - isUnknown: whether the processor knows no such object, which seldom changes.
  public static func pause(attempts: Int64, isUnknown: Bool) -> Duration {
    let last = pauses.count - 1
    return pauses[isUnknown ? last : Int(clamping: min(max(attempts, 1) - 1, Int64(last)))]
  }

  /// How long an app's lookups pause after this many failures in a row.
  /// - Parameter retryAfter: the pause that the processor asked for.
  public static func rest(failures: Int, retryAfter: Duration?) -> Duration {
    let doublings = min(max(failures, 1) - 1, 6)
    return max(retryAfter ?? .zero, min(.seconds(60), .seconds(1 << doublings)))
  }

  /// How long lookups pause after the key was refused: an operator must correct it.
  public static let refusedRest: Duration = .minutes(5)
}
