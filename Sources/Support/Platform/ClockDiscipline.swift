// Whether something keeps this machine's clock right, as the kernel knows it (adjtimex(2)). Thread-safe.

internal import CLibC

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
