// Notices that the wall clock was set, or that the machine slept: the monotonic clock goes on evenly, and
// does not count sleep (clock_gettime(2)). Pure; whoever owns it.

/// The distance between the two clocks.
public struct ClockWatch: Sendable {
  /// Leap seconds and small corrections are none of anybody's business.
  public static let toleratedMilliseconds: Int64 = 2000

  private var distance: Int64

  public init(_ clock: any Clock) { distance = Self.distance(clock) }

  /// By how many milliseconds the wall clock has jumped since the last call that said so; nil when it has
  /// not.
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
