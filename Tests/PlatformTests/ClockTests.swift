// The monotonic clock: arithmetic that cannot trap.

import Formats
import Testing

@testable import Platform

@Suite("The clocks") struct ClockTests {
  private static func at(_ nanoseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: nanoseconds)
  }

  @Test func `Adding and subtracting a duration saturate at both ends`() {
    let cases: [(start: Int64, duration: Duration, end: Int64)] = [
      (0, .milliseconds(1), 1_000_000), (0, .milliseconds(-1), -1_000_000), (5, .zero, 5),
      (0, .longest, .max), (0, .zero - .longest, .min), (.max, .nanoseconds(1), .max),
      (.max, .nanoseconds(-1), .max - 1), (.min, .nanoseconds(-1), .min), (.min, .nanoseconds(1), .min + 1),
      (.max, .longest, .max), (.min, .zero - .longest, .min), (-1, .nanoseconds(Int64.max), .max - 1),
      (0, Duration(attoseconds: .max), .max), (0, Duration(attoseconds: .min), .min),
    ]
    for (start, duration, end) in cases {
      #expect(Self.at(start).advanced(by: duration) == Self.at(end), "\(start) \(duration)")
      #expect(Self.at(start) + duration == Self.at(end), "\(start) \(duration)")
    }
    #expect(Self.at(5) - .nanoseconds(7) == Self.at(-2))
    #expect(Self.at(5) - Duration(attoseconds: .min) == Self.at(.max))
    #expect(Self.at(5) - Duration(attoseconds: .max) == Self.at(5 - .max))
  }

  @Test func `Differences saturate, too`() {
    #expect(Self.at(5_999_999).duration(since: Self.at(0)) == .nanoseconds(5_999_999))
    #expect(Self.at(0).duration(since: Self.at(5_000_000)) == .milliseconds(-5))
    #expect(Self.at(.max).duration(since: Self.at(.min)) == .nanoseconds(Int64.max))
    #expect(Self.at(.min).duration(since: Self.at(.max)) == .nanoseconds(Int64.min))
    #expect(Self.at(1_500_000_000).seconds(since: Self.at(0)) == 1.5)
    #expect(Self.at(.max).seconds(since: Self.at(.min)) > 9e9)
  }

  @Test func `The kernel's state of the clock: synchronised or not, and how wrong at most`() throws {
    // STA_PLL and STA_NANO; and STA_UNSYNC (adjtimex(2)).
    let good = ClockDiscipline(status: 0x2001, maxError: 1500)
    #expect(good == ClockDiscipline(isSynchronised: true, errorMax: .microseconds(1500)))
    #expect(!ClockDiscipline(status: 0x0040, maxError: 16_000_000).isSynchronised)
    // Where the system reports it, the figure is one of the kernel's: at most 16 s (NTP_PHASE_LIMIT).
    if let state = ClockDiscipline.current() { #expect((.zero ... .seconds(16)).contains(state.errorMax)) }
  }

  @Test func `The monotonic clock never goes back, and the wall clock is in this century`() {
    let clock = SystemClock()
    var last = clock.monotonic
    for _ in 0..<1000 {
      let next = clock.monotonic
      #expect(next >= last)
      last = next
    }
    #expect((1_600_000_000_000..<4_102_444_800_000).contains(clock.wallMilliseconds))
  }
}
