// The replay command that messages suggest. Pure; called from any thread.

public import Domain

/// `receiptctl receipts replay`, ready to be copied.
public enum SuggestedReplay {
  /// Receipts per second that a destination can handle right after it recovered.
  public static let suggestedRate = "5/s"

  /// Replays an app's receipts that failed for a reason and were created at or after a time.
  public static func text(app: AppSlug, reason: String, since: Timestamp) -> String {
    "receiptctl receipts replay --app \(app) --state failed --reason \(reason) --since \(since.rfc3339) "
      + "--rate \(suggestedRate)"
  }
}
