// When to connect again after a failure. A value.

internal import Platform

/// Growing pauses between attempts, of random length: several programs must not come back at the same moment.
struct Backoff {
  private static let longest: Duration = .seconds(2)

  private var nextAt = MonotonicInstant(nanoseconds: .min)
  private var pause: Duration = .milliseconds(100)

  /// Whether the pause after the last failure is over.
  var allowsTry: Bool { MonotonicInstant.now() >= nextAt }

  /// Notes a failed attempt.
  mutating func fail() {
    nextAt = .now() + pause * Double.random(in: 0.5...1)
    pause = min(pause * 2, Self.longest)
  }
}
