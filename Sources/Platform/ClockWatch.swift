// Detects that the wall clock was set, or that the machine slept. The monotonic clock advances evenly and
// does not count sleep (clock_gettime(2)). Pure; confined to its owner.

/// The difference between the wall clock and the monotonic clock.
public struct ClockWatch: Sendable {
  /// Leap seconds and small corrections are ignored.
  public static let toleratedMilliseconds: Int64 = 2000

  private var distance: Int64

  public init(_ clock: any Clock) { distance = Self.distance(clock) }

  /// The milliseconds by which the wall clock has stepped since the last call that returned a step; nil when
  /// it has not stepped.
  public mutating func jump(_ clock: any Clock) -> Int64? {
    let now = Self.distance(clock)
    let (jump, isTooFar) = now.subtractingReportingOverflow(distance)
    guard isTooFar || jump.magnitude > UInt64(Self.toleratedMilliseconds) else { return nil }
    distance = now
    return isTooFar ? (now < 0 ? .min : .max) : jump
  }

  private static func distance(_ clock: any Clock) -> Int64 {
    clock.wallMilliseconds.subtractingReportingOverflow(clock.monotonic.nanoseconds / 1_000_000).partialValue
  }
}
