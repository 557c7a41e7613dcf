// Whether an app's contexts no longer join, for example because it posts wrong user ids. Pure; any thread.

internal import Formats

/// The rule by which contexts count as not joining.
public enum JoinHealth {
  /// The hours that are judged, the present one among them.
  public static let recentHours: Int64 = 6
  /// The hours before them that they are compared with.
  public static let earlierHours: Int64 = 7 * 24
  /// The receipts without a context, and the unclaimed contexts, below which nothing is wrong.
  public static let unjoinedMin: Int64 = 10
  /// The receipts that a comparison needs.
  private static let receiptsMin: Int64 = 20
  /// The share in percent that must join if there is nothing to compare with.
  private static let joinedMin: Int64 = 20

  /// Whether receipts lack contexts while contexts are posted that no purchase claims, and more of them than
  /// in the days before. An app that posts no contexts is healthy.
  /// - Parameters:
  ///   - recent: the last `recentHours`.
  ///   - earlier: the `earlierHours` before.
  public static func isBroken(recent: JoinTally, earlier: JoinTally) -> Bool {
    guard recent[.none] >= unjoinedMin, recent.unclaimed >= unjoinedMin,
      let joined = recent.joinedPercent
    else { return false }
    guard earlier.total >= receiptsMin, let usual = earlier.joinedPercent else {
      return recent.total >= receiptsMin && joined < joinedMin
    }
    return joined * 2 < usual
  }
}
