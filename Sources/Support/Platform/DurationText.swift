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
