// Durations in the configuration and on the command line: `250ms`, `30s`, `5m`, `72h`, `30d`. Pure;
// thread-safe.

internal import Formats

/// Durations as text.
public enum DurationText {
  /// The units, largest first, in milliseconds.
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
  ]

  /// - Returns: at most `Duration.longest`; nil for anything but digits and one unit, and for more.
  public static func duration(parsing text: String) -> Duration? {
    let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    guard let count = Int64(String(Substring(digits))) else { return nil }
    // Compares bytes, not characters: a combining character after the last digit is not a unit.
    let name = String(Substring(text.utf8.dropFirst(digits.count)))
    guard let unit = units.first(where: { $0.name == name }) else { return nil }
    let (product, tooLong) = count.multipliedReportingOverflow(by: unit.milliseconds)
    return tooLong ? nil : .milliseconds(product)
  }

  /// The shortest exact text: a day is `1d`, 90 seconds are `90s`, zero is `0s`.
  /// - Parameter duration: not negative; whole milliseconds count.
  public static func text(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    guard milliseconds != 0 else { return "0s" }
    let unit = units.first { milliseconds % $0.milliseconds == 0 } ?? (name: "ms", milliseconds: 1)
    return "\(milliseconds / unit.milliseconds)\(unit.name)"
  }
}

// MARK: - CountText

// Counts for people: `200,000 receipts`. Every count in a text for people is formatted here; JSON and metrics
// use plain numbers. Pure; thread-safe.

/// Formats counts for people.
public enum CountText {
  /// The digits in groups of three: `4,678`.
  public static func grouped(_ count: some BinaryInteger) -> String {
    let digits = String(count.magnitude)
    var out = count < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0 { out.append(",") }
      out.append(digit)
    }
    return out
  }

  /// A count with a word whose plural ends in s: `1 receipt`, `4,678 receipts`.
  public static func of(_ count: some BinaryInteger, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// A rate: `5/s`, `0.5/s`.
  public static func rate(_ perSecond: Double) -> String {
    let whole = Int64((perSecond * 1000).rounded())
    if whole % 1000 == 0 { return "\(whole / 1000)/s" }
    var digits = String(whole % 1000)
    digits = String(repeating: "0", count: 3 - digits.count) + digits
    while digits.last == "0" { digits.removeLast() }
    return "\(whole / 1000).\(digits)/s"
  }
}

// MARK: - RelativeTime

// Relative times for people. Pure; thread-safe.

/// Formats a point in time relative to now.
public enum RelativeTime {
  /// `now`, `3 s ago`, `2 min ago`, `in 5 min`, `4 h ago`, `3 d ago`. The past is rounded down and the
  /// future up, so nothing looks older or nearer than it is.
  /// - Parameters:
  ///   - time: Unix milliseconds.
  ///   - now: Unix milliseconds.
  public static func text(of time: Int64, now: Int64) -> String {
    let (difference, overflow) = now.subtractingReportingOverflow(time)
    let milliseconds = overflow ? UInt64.max : difference.magnitude
    if milliseconds < 1000 { return "now" }
    if time > now { return "in \(left(seconds: Double(milliseconds) / 1000))" }
    return "\(span(seconds: milliseconds / 1000)) ago"
  }

  /// What is left of a time, rounded up in its unit: a pause of two hours begins with `2 h`.
  public static func left(seconds: Double) -> String {
    let whole = UInt64(max(0, min(seconds, 1e15)).rounded(.up))
    let unit: UInt64 =
      switch whole {
      case ..<60: 1
      case ...3540: 60
      case ...169_200: 3600
      default: 86_400
      }
    return span(seconds: (whole + unit - 1) / unit * unit)
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

// MARK: - MomentText

// Points in time as people type them, on the command line and in the dashboard. Pure; thread-safe.

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
