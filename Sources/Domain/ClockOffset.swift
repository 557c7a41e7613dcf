// How far a clock is from those of other machines. Pure; any thread.

internal import Formats

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
