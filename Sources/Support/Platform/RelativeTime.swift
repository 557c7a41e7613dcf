// Relative times for people. Pure; thread-safe.

/// Formats a point in time relative to now.
public enum RelativeTime {
  /// `now`, `3 s ago`, `2 min ago`, `in 5 min`, `4 h ago`, `3 d ago`. Rounds down, so nothing looks older
  /// than it is.
  /// - Parameters:
  ///   - time: Unix milliseconds.
  ///   - now: Unix milliseconds.
  public static func text(of time: Int64, now: Int64) -> String {
    let (difference, overflow) = now.subtractingReportingOverflow(time)
    let isPast = overflow ? now > time : difference >= 0
    let seconds = (overflow ? UInt64.max : difference.magnitude) / 1000
    if seconds == 0 { return "now" }
    return isPast ? "\(span(seconds: seconds)) ago" : "in \(span(seconds: seconds))"
  }

  /// A duration in its largest whole unit: `59 s`, `2 min`, `47 h`, `3 d`.
  public static func span(seconds: UInt64) -> String {
    switch seconds {
    case ..<60: "\(seconds) s"
    case ..<3600: "\(seconds / 60) min"
    // "25 h ago" is more precise than "1 d ago".
    case ..<172_800: "\(seconds / 3600) h"
    default: "\(seconds / 86_400) d"
    }
  }
}
