// A clock that stands still until a test moves it.

import Formats
import Platform
import Testing

@testable import Upkeep

/// Its monotonic time is an hour ahead of the system's, so that only notifications wake a waiting thread.
final class ManualClock: Clock {
  private struct State {
    var wall: Int64
    var monotonic: MonotonicInstant
    var looks = 0
  }

  private let state = Monitor(
    State(wall: SystemClock().wallMilliseconds, monotonic: MonotonicInstant.now().advanced(by: .hours(1))))

  var wallMilliseconds: Int64 { state.withLock { $0.wall } }

  var monotonic: MonotonicInstant {
    state.update { state in
      state.looks += 1
      return state.monotonic
    }
  }

  func advance(_ duration: Duration) {
    state.update { state in
      state.wall += duration.milliseconds
      state.monotonic = state.monotonic.advanced(by: duration)
    }
  }

  /// Sets only the wall clock, as an operator or NTP does.
  func setWall(by duration: Duration) { state.update { $0.wall += duration.milliseconds } }

  /// How often the monotonic time was read.
  var looks: Int { state.withLock { $0.looks } }

  /// Waits until the monotonic time is read again.
  func waitForLook(after looks: Int) throws {
    let again: Bool? = state.wait(until: soon()) { $0.looks > looks ? true : nil }
    try #require(again != nil)
  }
}

extension Bench {
  /// Makes the housekeeper complete at least one step from here: it reads the time fewer than ten times a
  /// step.
  func step(_ clock: ManualClock) throws {
    for _ in 0..<20 {
      let looks = clock.looks
      housekeeper.checkNow()
      try clock.waitForLook(after: looks)
    }
  }
}
