// A trouble of the relay or of an app, as the commands and pages for operators show it. A value.

public import Domain

/// A trouble that exists now.
public struct CurrentTrouble: Sendable, Equatable {
  /// The condition with its limit, such as `oldest_pending>15m`.
  public let alert: String
  /// Nil if it concerns the whole relay.
  public let app: AppSlug?
  public let since: Timestamp
  public let summary: String
  public let advice: String

  public init(alert: String, app: AppSlug?, since: Timestamp, summary: String, advice: String) {
    self.alert = alert
    self.app = app
    self.since = since
    self.summary = summary
    self.advice = advice
  }
}
