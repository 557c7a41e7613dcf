// Time as an injected value: the wall clock for stored times, the monotonic clock for waits. Thread-safe.
// Only this file asks the operating system for the time.

internal import CLibC
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
    return Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
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

// MARK: - Boot

// Time that also passes while the machine sleeps. Thread-safe.

extension MonotonicInstant {
  /// CLOCK_BOOTTIME (clock_gettime(2)): like the monotonic clock, but it counts the time in which the machine
  /// was suspended. Its instants must not be compared with those of the monotonic clock.
  public static func sinceBoot() -> MonotonicInstant {
    var time = Glibc.timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

// MARK: - ClockDiscipline

// Whether something keeps this machine's clock right, as the kernel knows it (adjtimex(2)). Thread-safe.

/// The kernel's view of the clock's synchronisation. A program such as chronyd, ntpd or systemd-timesyncd
/// reports to the kernel; without one the kernel counts the clock as not synchronised.
public struct ClockDiscipline: Sendable, Equatable {
  /// Whether such a program synchronises the clock.
  public let isSynchronised: Bool
  /// By how much the clock may be wrong at most, as that program estimates it. Meaningless unless it is
  /// synchronised.
  public let errorMax: Duration

  public init(isSynchronised: Bool, errorMax: Duration) {
    self.isSynchronised = isSynchronised
    self.errorMax = errorMax
  }

  /// The present state; nil when the system does not report it, as in a container that forbids the call.
  public static func current() -> ClockDiscipline? {
    // All bits of `modes` are zero, so the call only reads.
    var state = timex()
    guard unsafe adjtimex(&state) >= 0 else { return nil }
    return ClockDiscipline(status: state.status, maxError: state.maxerror)
  }

  /// - Parameter maxError: in microseconds, whatever the unit of the other members is.
  init(status: Int32, maxError: Int) {
    isSynchronised = status & STA_UNSYNC == 0
    errorMax = .microseconds(maxError)
  }
}

// MARK: - ClockWatch

// Detects that the wall clock was set, or that the machine slept. The monotonic clock advances evenly and
// does not count sleep (clock_gettime(2)). Pure; confined to its owner.

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
