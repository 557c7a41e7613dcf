// A point in time on the wall clock. Pure; any thread. The caller reads the clock.

internal import Formats

/// Unix time in milliseconds. Arithmetic saturates, so no input can trap: `time + .seconds(5)`,
/// `time - .days(1)`, `later.duration(since: earlier)`.
public struct Timestamp: Sendable, Hashable, Comparable {
  public let unixMilliseconds: Int64

  public init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

  /// - Parameter unixSeconds: any value; saturates.
  public init(unixSeconds: Int64) {
    let (milliseconds, overflow) = unixSeconds.multipliedReportingOverflow(by: 1000)
    unixMilliseconds = overflow ? (unixSeconds < 0 ? .min : .max) : milliseconds
  }

  public static func < (left: Self, right: Self) -> Bool { left.unixMilliseconds < right.unixMilliseconds }

  /// - Parameter duration: any duration, of which whole milliseconds count.
  public func advanced(by duration: Duration) -> Timestamp {
    let milliseconds = duration.milliseconds
    let (sum, overflow) = unixMilliseconds.addingReportingOverflow(milliseconds)
    return Timestamp(unixMilliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
  }

  /// From `earlier` to this time; negative if `earlier` is later. At most `Duration.longest` either way.
  public func duration(since earlier: Timestamp) -> Duration {
    let (difference, overflow) = unixMilliseconds.subtractingReportingOverflow(earlier.unixMilliseconds)
    return .milliseconds(overflow ? (self < earlier ? .min : .max) : difference)
  }

  public static func + (time: Self, duration: Duration) -> Self { time.advanced(by: duration) }

  public static func - (time: Self, duration: Duration) -> Self {
    let milliseconds = duration.milliseconds
    let (rest, overflow) = time.unixMilliseconds.subtractingReportingOverflow(milliseconds)
    return Timestamp(unixMilliseconds: overflow ? (milliseconds < 0 ? .max : .min) : rest)
  }
}

// MARK: - ClockOffset

// How far a clock is from those of other machines. Pure; any thread.

/// The difference between a clock and the clocks of several answers.
public enum ClockOffset {
  /// Fewer answers say nothing: a single server's clock may be wrong.
  public static let samplesMin = 5

  /// The median, because single answers were late on their way or come from a wrong clock.
  /// - Parameter samples: positive where the clock is ahead.
  /// - Returns: nil with too few samples.
  public static func median(_ samples: [Duration]) -> Duration? {
    guard samples.count >= samplesMin else { return nil }
    return samples.sorted()[samples.count / 2]
  }
}
