// When the processor is asked for missing data of a purchase. Pure; any thread.

internal import Formats

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

  /// How long a started payment without an outcome is fetched again, and how long a fetch that an event
  /// requires is retried.
  public static let followedFor: Duration = .days(7)

  private static let followUpPauseMin: Duration = .seconds(1)

  /// When to fetch a started payment whose outcome is unknown: first after `first`, then at pauses of half
  /// its age; nil when it is too old.
  public static func followUp(startedAt: Timestamp, first: Duration, now: Timestamp) -> Timestamp? {
    let age = max(.zero, now.duration(since: startedAt))
    guard age < followedFor else { return nil }
    return max(startedAt.advanced(by: first), now.advanced(by: max(age / 2, followUpPauseMin)))
  }

  /// The pauses between fetches of a payment that started at the relay; after that, it is fetched hourly.
  private static let fetchPauses: [Duration] = [
    .seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10),
  ]

  /// About as many as there are in `followedFor`.
  private static let fetchesMax = 7 * 24

  /// The pause from a fetch without an answer to the next; nil when there is none.
  /// - Parameter attempts: fetches without an answer so far, including this one.
  public static func fetchPause(attempts: Int64) -> Duration? {
    let attempts = Int(clamping: max(attempts, 1))
    if attempts <= fetchPauses.count { return fetchPauses[attempts - 1] }
    return attempts < fetchesMax ? .hours(1) : nil
  }

  /// The time of a fetch that was given up: never, until an event or an operator requires another.
  public static let never = Timestamp(unixMilliseconds: 253_402_300_799_000)

  /// How long an app's lookups pause after this many failures in a row.
  /// - Parameter retryAfter: the pause that the processor asked for.
  public static func rest(failures: Int, retryAfter: Duration?) -> Duration {
    let doublings = min(max(failures, 1) - 1, 6)
    return max(retryAfter ?? .zero, min(.seconds(60), .seconds(1 << doublings)))
  }

  /// How long lookups pause after the key was refused: an operator must correct it.
  public static let refusedRest: Duration = .minutes(5)
}
