// The units that the standard library's Duration lacks, and the numbers that databases, JSON and C functions
// take. Pure; any thread.
//
// Arithmetic of Duration traps beyond 1.7e20 seconds. Untrusted input (configuration, headers, claims, the
// database) is a number of milliseconds or seconds in an Int64, so a sum of ten such durations fits. Code
// that multiplies one clamps it to `longest` first.

extension Duration {
  /// The longest duration that Int64 holds in milliseconds, 292 million years; stands for "unlimited".
  public static var longest: Duration { .milliseconds(Int64.max) }

  /// - Parameter count: any value; saturates at the range of Int64 in seconds.
  public static func minutes(_ count: Int64) -> Duration { times(60, count) }

  /// - Parameter count: any value; saturates at the range of Int64 in seconds.
  public static func hours(_ count: Int64) -> Duration { times(3600, count) }

  /// Days of 24 hours.
  /// - Parameter count: any value; saturates at the range of Int64 in seconds.
  public static func days(_ count: Int64) -> Duration { times(86_400, count) }

  private static func times(_ seconds: Int64, _ count: Int64) -> Duration {
    let (product, overflow) = count.multipliedReportingOverflow(by: seconds)
    return .seconds(overflow ? (count < 0 ? .min : .max) : product)
  }

  /// Whole milliseconds, rounded towards zero. Any duration; saturates at the range of Int64.
  public var milliseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000_000_000) }

  /// Whole nanoseconds, rounded towards zero. Any duration; saturates at the range of Int64, 292 years.
  public var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }

  /// Seconds with a fraction of whole milliseconds, for metrics and texts.
  public var inSeconds: Double { Double(milliseconds) / 1000 }

  /// Whole seconds, rounded up, so that a caller who waits for them does not come too early. Saturates.
  public var secondsRoundedUp: Int64 {
    let milliseconds = milliseconds
    return milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0)
  }
}
