// When the processor is asked for missing data of a purchase. Pure; any thread.

/// The schedule of lookups.
public enum Lookup {
  /// Reasons to wait that the processor may be able to resolve.
  public static let reasons: Set<Reason> = [.price, .user, .subscription, .checkout]

  /// Sister events come within moments; a lookup is for what they leave out.
  static let firstPauseMillisecondsMax: Int64 = 1500
  private static let pausesMilliseconds: [Int64] = [10_000, 60_000, 600_000, 3_600_000, 21_600_000]

  /// The pause from the start of the wait to the first lookup, well before a price or a context is used
  /// without the answer.
  public static func firstPauseMilliseconds(_ policy: JoinPolicy, for reason: Reason) -> Int64 {
    let wait = reason == .checkout ? policy.settleMilliseconds : policy.waitForProcessorPriceMilliseconds
    return min(firstPauseMillisecondsMax, max(0, wait) / 4)
  }

  /// The pause from an answer that did not help to the next lookup.
  /// - Parameters:
  ///   - attempts: answers so far, including this one.
  ///   - isUnknown: whether the processor knows no such object, which seldom changes.
  public static func pauseMilliseconds(attempts: Int64, isUnknown: Bool) -> Int64 {
    let last = pausesMilliseconds.count - 1
    return pausesMilliseconds[isUnknown ? last : Int(clamping: min(max(attempts, 1) - 1, Int64(last)))]
  }

  /// How long an app's lookups pause after this many failures in a row.
  /// - Parameter retryAfterMilliseconds: the pause that the processor asked for.
  public static func restMilliseconds(failures: Int, retryAfterMilliseconds: Int64?) -> Int64 {
    let doublings = min(max(failures, 1) - 1, 6)
    return max(retryAfterMilliseconds ?? 0, min(60_000, 1000 << Int64(doublings)))
  }

  /// How long lookups pause after the key was refused: an operator must correct it.
  public static let refusedRestMilliseconds: Int64 = 300_000
}
