// Time as a value that is handed in: the wall clock for what is written down, the monotonic clock for waits.
// Any thread. Nothing else in the project asks the operating system for the time.

public import Glibc

/// A point on the monotonic clock, in nanoseconds since an arbitrary start (clock_gettime(2),
/// CLOCK_MONOTONIC).
public struct MonotonicInstant: Sendable, Comparable, Hashable {
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func now() -> MonotonicInstant {
    var time = Glibc.timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Saturates: a wait "for ever" stays one.
  public func advanced(byMilliseconds milliseconds: Int64) -> MonotonicInstant {
    let (delta, tooLong) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, tooFar) = nanoseconds.addingReportingOverflow(delta)
    return MonotonicInstant(nanoseconds: tooLong || tooFar ? (milliseconds < 0 ? .min : .max) : sum)
  }

  /// Whole milliseconds from `earlier` to here; negative when `earlier` is later. Saturates.
  public func milliseconds(since earlier: MonotonicInstant) -> Int64 {
    nanoseconds(since: earlier) / 1_000_000
  }

  /// Seconds from `earlier` to here.
  public func seconds(since earlier: MonotonicInstant) -> Double {
    Double(nanoseconds(since: earlier)) / 1e9
  }

  private func nanoseconds(since earlier: MonotonicInstant) -> Int64 {
    let (difference, tooFar) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return tooFar ? (self < earlier ? .min : .max) : difference
  }

  /// What lies before the clock's start is its start: the system takes nothing that is negative.
  @usableFromInline var timespec: Glibc.timespec {
    let nanoseconds = max(0, nanoseconds)
    return Glibc.timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

/// Where the time comes from; tests and simulations hand in their own.
public protocol Clock: Sendable {
  /// Unix time in milliseconds. Can jump either way.
  var wallMilliseconds: Int64 { get }
  /// Never goes back.
  var monotonic: MonotonicInstant { get }
}

/// The operating system's clocks.
public struct SystemClock: Clock {
  public init() {}

  public var wallMilliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  public var monotonic: MonotonicInstant { .now() }
}
