// Time as an injected value: the wall clock for stored times, the monotonic clock for waits. Thread-safe.
// Only this file asks the operating system for the time.

internal import Formats
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

  /// - Parameter duration: any duration. Saturates, so an unlimited wait stays unlimited.
  public func advanced(by duration: Duration) -> MonotonicInstant {
    let delta = duration.nanoseconds
    let (sum, tooFar) = nanoseconds.addingReportingOverflow(delta)
    return MonotonicInstant(nanoseconds: tooFar ? (delta < 0 ? .min : .max) : sum)
  }

  /// From `earlier` to this instant; negative when `earlier` is later. Saturates.
  public func duration(since earlier: MonotonicInstant) -> Duration {
    .nanoseconds(nanoseconds(since: earlier))
  }

  public static func + (instant: Self, duration: Duration) -> Self { instant.advanced(by: duration) }

  public static func - (instant: Self, duration: Duration) -> Self {
    let delta = duration.nanoseconds
    let (rest, tooFar) = instant.nanoseconds.subtractingReportingOverflow(delta)
    return MonotonicInstant(nanoseconds: tooFar ? (delta < 0 ? .max : .min) : rest)
  }

  /// Seconds from `earlier` to this instant.
  public func seconds(since earlier: MonotonicInstant) -> Double {
    Double(nanoseconds(since: earlier)) / 1e9
  }

  private func nanoseconds(since earlier: MonotonicInstant) -> Int64 {
    let (difference, tooFar) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return tooFar ? (self < earlier ? .min : .max) : difference
  }

  /// Clamps to zero, because the system rejects negative times.
  @usableFromInline var timespec: Glibc.timespec {
    let nanoseconds = max(0, nanoseconds)
    return Glibc.timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}

/// The source of time; tests and simulations inject their own.
public protocol Clock: Sendable {
  /// Unix time in milliseconds. Can step in either direction.
  var wallMilliseconds: Int64 { get }
  /// Never decreases.
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
