// Time that also passes while the machine sleeps. Thread-safe.

internal import Glibc

extension MonotonicInstant {
  /// CLOCK_BOOTTIME (clock_gettime(2)): like the monotonic clock, but it counts the time in which the machine
  /// was suspended. Its instants must not be compared with those of the monotonic clock.
  public static func sinceBoot() -> MonotonicInstant {
    var time = Glibc.timespec()
    unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return MonotonicInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
