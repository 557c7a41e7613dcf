// A clock that stands until a test moves it.

@testable import Housekeeping
import Platform
import Testing

@testable import Relay

/// Its monotonic time lies an hour ahead of the system's, so that whoever waits on it is woken by news alone.
final class ManualClock: Clock {
  private struct State {
    var wall: Int64
    var monotonic: MonotonicInstant
    var looks = 0
  }

  private let state = Monitor(
    State(
      wall: SystemClock().wallMilliseconds,
      monotonic: MonotonicInstant.now().advanced(byMilliseconds: 3_600_000)))

  var wallMilliseconds: Int64 { state.withLock { $0.wall } }

  var monotonic: MonotonicInstant {
    state.update { state in
      state.looks += 1
      return state.monotonic
    }
  }

  func advance(_ milliseconds: Int64) {
    state.update { state in
      state.wall += milliseconds
      state.monotonic = state.monotonic.advanced(byMilliseconds: milliseconds)
    }
  }

  /// Sets the wall clock alone, as a person or NTP does.
  func setWall(by milliseconds: Int64) { state.update { $0.wall += milliseconds } }

  /// How often somebody has looked at the monotonic time.
  var looks: Int { state.withLock { $0.looks } }

  /// Waits until somebody looks at it again.
  func waitForLook(after looks: Int) throws {
    let again: Bool? = state.wait(until: soon()) { $0.looks > looks ? true : nil }
    try #require(again != nil)
  }
}

extension Bench {
  /// Makes the housekeeper go round at least once from here, whatever it is at now: it looks at the time
  /// fewer than ten times a round.
  func goRound(_ clock: ManualClock) throws {
    for _ in 0..<20 {
      let looks = clock.looks
      housekeeper.lookNow()
      try clock.waitForLook(after: looks)
    }
  }
}
