// Detects that the wall clock was set, or that the machine slept. The monotonic clock advances evenly and
// does not count sleep (clock_gettime(2)). Pure; confined to its owner.

internal import Formats

/// The difference between the wall clock and the monotonic clock.
public struct ClockWatch: Sendable {
  /// Leap seconds and small corrections are ignored.
  public static let toleratedStep: Duration = .seconds(2)

  /// In milliseconds.
  private var distance: Int64

  public init(_ clock: any Clock) { distance = Self.distance(clock) }

  /// The time by which the wall clock has stepped since the last call that returned a step; nil when
  /// it has not stepped.
  public mutating func clockStep(_ clock: any Clock) -> Duration? {
    let now = Self.distance(clock)
    let (step, isTooFar) = now.subtractingReportingOverflow(distance)
    guard isTooFar || step.magnitude > Self.toleratedStep.milliseconds else { return nil }
    distance = now
    return .milliseconds(isTooFar ? (now < 0 ? .min : .max) : step)
  }

  private static func distance(_ clock: any Clock) -> Int64 {
    clock.wallMilliseconds.subtractingReportingOverflow(clock.monotonic.nanoseconds / 1_000_000).partialValue
  }
}
