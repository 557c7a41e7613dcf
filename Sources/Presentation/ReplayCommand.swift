// The command that messages name when receipts are to be sent again. Pure; any thread.

public import Domain

/// `receiptctl receipts replay`, ready to be copied.
public enum ReplayCommand {
  /// Receipts per second that a destination which has just come back can be expected to bear.
  public static let suggestedRate = "5/s"

  /// Sends an app's receipts again that failed for a reason and are not older than a moment.
  public static func text(app: String, reason: String, since: Timestamp) -> String {
    "receiptctl receipts replay --app \(app) --state failed --reason \(reason) --since \(since.rfc3339) "
      + "--rate \(suggestedRate)"
  }
}
