// How an app's contexts join, and the contexts that a purchase did not get, as text. Pure; called from any
// thread. Nothing is sanitized or escaped.

public import Domain
internal import Formats
internal import Platform
public import Store

/// How the contexts and receipts of an app joined.
public enum JoinText {
  /// What is wrong with contexts that no longer join, as a sentence about the app without its full stop.
  public static func broken(_ tally: JoinTally) -> String {
    "\(CountText.grouped(tally[.none])) of \(CountText.of(tally.total, "receipt")) of the last "
      + "\(JoinHealth.recentHours) hours have no context, and \(CountText.of(tally.unclaimed, "context")) of "
      + "that time \(tally.unclaimed == 1 ? "was" : "were") claimed by no purchase"
  }

  /// The commands that find the cause.
  /// - Parameter app: as a command needs it.
  public static func commands(app: String) -> [String] {
    ["receiptctl status --joins --app \(app)", "receiptctl receipts list --app \(app) --join none --limit 5"]
  }

  /// The outcome as a few words.
  public static func name(_ outcome: JoinOutcome) -> String {
    switch outcome {
    case .exact: "named"
    case .user: "the user's only one"
    case .guessed: "guessed among several"
    case .none: "without a context"
    case .disputed: "disputed"
    }
  }

  /// One sentence for each context that the purchase did not get; empty if there is none.
  public static func nearMisses(_ detail: ReceiptDetail) -> [String] {
    guard let user = detail.record.purchase.userID else { return [] }
    return detail.nearMisses.map { miss in sentence(miss, user, detail.record.purchase) }
  }

  private static func sentence(_ miss: NearMiss, _ user: UserID, _ purchase: Purchase) -> String {
    let posted = "\(miss.contextID) of this user was posted"
    return switch miss.cause {
    case .early(let span): "\(posted) \(words(span)) before the window of this purchase began"
    case .late(let span): "\(posted) \(words(span)) after this receipt was made"
    case .claimed(let receipt):
      "\(miss.contextID) of this user belongs to another purchase\(receipt.map { ", \($0)" } ?? "")"
    case .otherPrice(let price):
      "\(miss.contextID) of this user names the price \(price), and this purchase "
        + "\(purchase.prices.map(\.text).joined(separator: ", "))"
    case .possible: "\(miss.contextID) of this user could be meant, too"
    case .otherUser(let isSimilar):
      "\(miss.contextID) of the user '\(miss.userID)' was posted \(distance(miss, purchase)), and no "
        + "purchase claimed it; "
        + (purchase.userSource?.isInferred ?? false
          ? "the user of this purchase, '\(user)', was inferred" : "this purchase names '\(user)'")
        + (isSimilar ? ", which differs only in form" : "")
    }
  }

  private static func distance(_ miss: NearMiss, _ purchase: Purchase) -> String {
    let before = purchase.happenedAt.duration(since: miss.postedAt)
    return before >= .zero
      ? "\(words(before)) before the payment" : "\(words(.zero - before)) after the payment"
  }

  private static func words(_ span: Duration) -> String {
    RelativeTime.span(seconds: UInt64(clamping: max(.zero, span).components.seconds))
  }
}
