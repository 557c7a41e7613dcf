// Points in time as people type them, on the command line and in the dashboard. Pure; thread-safe.

internal import Formats

/// The values of `--since` and `--until`, and of the same fields of the dashboard.
public enum MomentText {
  /// The accepted forms, for messages.
  public static let forms =
    "a time such as 2026-11-20T10:00:00Z, a date (2026-11-20, UTC) or how long ago (30m, 2h, 3d)"

  /// Reads an RFC 3339 timestamp, a date, or a duration before now.
  /// - Parameter now: Unix milliseconds.
  /// - Returns: Unix milliseconds; nil for any other form, and for a time before 1970.
  public static func unixMilliseconds(parsing text: String, now: Int64) -> Int64? {
    if let time = RFC3339.unixMilliseconds(parsing: text) { return time >= 0 ? time : nil }
    guard let duration = DurationText.duration(parsing: text), duration.milliseconds <= now else {
      return nil
    }
    return now - duration.milliseconds
  }
}
