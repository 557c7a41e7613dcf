// An operator's pause of an app, as text. Pure; called from any thread.

public import Domain
internal import Platform

/// Who holds an app's deliveries, until when and why. Not sanitized: names and reasons are unchanged.
public struct PauseText: Sendable, Equatable {
  /// The predicate after "Deliveries of this app".
  public let sentence: String
  /// A sentence with the command that ends it.
  public let advice: String
  /// The command that ends it.
  public let command: String
  /// A few words for a table: `paused by anna, 57 min left`.
  public let short: String

  /// - Parameter app: as a command needs it.
  /// - Returns: nil if the deliveries are not paused.
  public init?(_ pause: AppPause?, app: String, now: Timestamp) {
    guard let pause, let since = pause.since, pause.isActive(now: now) else { return nil }
    let why = pause.reason.map { ": \($0)" } ?? ""
    let end =
      pause.until.map { "They resume \($0.relative(to: now)), at \($0.rfc3339)" }
      ?? "They stay so until an operator resumes them"
    sentence = "were paused by \(pause.actor) \(since.past(to: now))\(why)."
    command = "receiptctl apps resume \(app)"
    advice = "\(end); to resume them now: \(command)"
    let left = pause.until.map { until in
      let seconds = UInt64(clamping: until.duration(since: now).components.seconds)
      return ", \(RelativeTime.span(seconds: seconds)) left"
    }
    short = "paused by \(pause.actor)\(left ?? "")"
  }
}
