// A point in time on the wall clock. Pure; any thread. The caller reads the clock.

/// Unix time in milliseconds. Arithmetic saturates, so no input can trap.
public struct Timestamp: Sendable, Hashable, Comparable {
  public let unixMilliseconds: Int64

  public init(unixMilliseconds: Int64) { self.unixMilliseconds = unixMilliseconds }

  /// - Parameter unixSeconds: any value; saturates.
  public init(unixSeconds: Int64) {
    let (milliseconds, overflow) = unixSeconds.multipliedReportingOverflow(by: 1000)
    unixMilliseconds = overflow ? (unixSeconds < 0 ? .min : .max) : milliseconds
  }

  public static func < (left: Self, right: Self) -> Bool { left.unixMilliseconds < right.unixMilliseconds }

  public func advanced(byMilliseconds milliseconds: Int64) -> Timestamp {
    let (sum, overflow) = unixMilliseconds.addingReportingOverflow(milliseconds)
    return Timestamp(unixMilliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
  }

  /// Milliseconds from `earlier` to this time; negative if `earlier` is later.
  public func milliseconds(since earlier: Timestamp) -> Int64 {
    let (difference, overflow) = unixMilliseconds.subtractingReportingOverflow(earlier.unixMilliseconds)
    return overflow ? (self < earlier ? .min : .max) : difference
  }
}
