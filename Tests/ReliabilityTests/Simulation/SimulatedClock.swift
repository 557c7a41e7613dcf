// A clock that the simulation advances, and a wall clock that can be set.

import Platform

/// Both clocks of a simulated machine.
final class SimulatedClock: Clock {
  private let times = Monitor((wall: Int64(1_790_000_000_000), monotonic: Int64(1_000_000)))

  var wallMilliseconds: Int64 { times.withLock { $0.wall } }
  var monotonicMilliseconds: Int64 { times.withLock { $0.monotonic } }
  var monotonic: MonotonicInstant { MonotonicInstant(nanoseconds: monotonicMilliseconds * 1_000_000) }

  func advance(toMonotonic milliseconds: Int64) {
    times.withLock { times in
      let step = max(0, milliseconds - times.monotonic)
      times.monotonic += step
      times.wall += step
    }
  }

  /// A clock step: the wall clock is set, or the machine slept.
  func jump(by milliseconds: Int64) { times.withLock { $0.wall += milliseconds } }
}
