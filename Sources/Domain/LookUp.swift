// When the processor is asked for what a purchase lacks. Pure; any thread.

/// The schedule of look-ups.
public enum LookUp {
  /// Reasons to wait that the processor may have an answer to.
  public static let reasons: Set<Reason> = [.price, .user, .subscription, .checkout]

  /// Sister events come within moments; asking is for what they leave out.
  static let firstPauseMillisecondsMax: Int64 = 1500
  private static let pausesMilliseconds: [Int64] = [10_000, 60_000, 600_000, 3_600_000, 21_600_000]

  /// From the beginning of the wait to the first question: well before a price or a context is taken without
  /// the answer.
  public static func firstPauseMilliseconds(_ policy: JoinPolicy, for reason: Reason) -> Int64 {
    let wait = reason == .checkout ? policy.settleMilliseconds : policy.waitForProcessorPriceMilliseconds
    return min(firstPauseMillisecondsMax, max(0, wait) / 4)
  }

  /// From an answer that did not help to the next question.
  /// - Parameters:
  ///   - tries: answers so far, this one included.
  ///   - isUnknown: whether the processor knows no such object, which seldom changes.
  public static func pauseMilliseconds(tries: Int64, isUnknown: Bool) -> Int64 {
    let last = pausesMilliseconds.count - 1
    return pausesMilliseconds[isUnknown ? last : Int(clamping: min(max(tries, 1) - 1, Int64(last)))]
  }

  /// How long an app's questions rest after so many failures in a row.
  /// - Parameter retryAfterMilliseconds: what the processor asked for.
  public static func restMilliseconds(failures: Int, retryAfterMilliseconds: Int64?) -> Int64 {
    let doublings = min(max(failures, 1) - 1, 6)
    return max(retryAfterMilliseconds ?? 0, min(60_000, 1000 << Int64(doublings)))
  }

  /// How long they rest after the key was refused: a person has to correct it.
  public static let refusedRestMilliseconds: Int64 = 300_000
}
