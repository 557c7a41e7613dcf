// The monotonic clock: arithmetic that cannot trap.

import Platform
import Testing

@Suite("The clocks") struct ClockTests {
  private static func at(_ nanoseconds: Int64) -> MonotonicInstant {
    MonotonicInstant(nanoseconds: nanoseconds)
  }

  @Test("Adding milliseconds saturates at both ends")
  func saturation() {
    let cases: [(start: Int64, milliseconds: Int64, end: Int64)] = [
      (0, 1, 1_000_000), (0, -1, -1_000_000), (5, 0, 5), (0, .max, .max), (0, .min, .min), (.max, 1, .max),
      (.max, -1, .max - 1_000_000), (.min, -1, .min), (.min, 1, .min + 1_000_000), (.max, .max, .max),
      (.min, .min, .min), (-1, .max, .max), (1, .min, .min),
    ]
    for (start, milliseconds, end) in cases {
      #expect(
        Self.at(start).advanced(byMilliseconds: milliseconds) == Self.at(end), "\(start) \(milliseconds)")
    }
  }

  @Test("Differences saturate, too")
  func differences() {
    #expect(Self.at(5_999_999).milliseconds(since: Self.at(0)) == 5)
    #expect(Self.at(0).milliseconds(since: Self.at(5_000_000)) == -5)
    #expect(Self.at(.max).milliseconds(since: Self.at(.min)) == .max / 1_000_000)
    #expect(Self.at(.min).milliseconds(since: Self.at(.max)) == .min / 1_000_000)
    #expect(Self.at(1_500_000_000).seconds(since: Self.at(0)) == 1.5)
    #expect(Self.at(.max).seconds(since: Self.at(.min)) > 9e9)
  }

  @Test("The monotonic clock never goes back, and the wall clock is in this century")
  func now() {
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
