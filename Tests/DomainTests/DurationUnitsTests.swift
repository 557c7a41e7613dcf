// Tests the units of durations at the ends of what a number holds.

import Formats
import Testing

@Suite("Units of durations")
struct DurationUnitsTests {
  private static let ends = [Duration(attoseconds: .max), Duration(attoseconds: .min)]

  @Test func `Minutes, hours and days are what they say`() {
    #expect(Duration.minutes(2) == .seconds(120))
    #expect(Duration.hours(-3) == .seconds(-10_800))
    #expect(Duration.days(400) == .seconds(34_560_000))
  }

  @Test(arguments: [Int64.min, .max])
  func `Any number of minutes, hours or days gives a duration`(count: Int64) {
    let end = Duration.seconds(count)
    #expect(Duration.minutes(count) == end)
    #expect(Duration.hours(count) == end)
    #expect(Duration.days(count) == end)
    // The promise of the file's head: ten of the longest can be added.
    #expect((1...10).reduce(Duration.zero) { sum, _ in sum + end } == end * 10)
  }

  @Test func `Whole milliseconds and nanoseconds are rounded towards zero`() {
    #expect(Duration.nanoseconds(1_999_999).milliseconds == 1)
    #expect(Duration.nanoseconds(-1_999_999).milliseconds == -1)
    #expect(Duration(attoseconds: 1_999_999_999).nanoseconds == 1)
    #expect(Duration(attoseconds: -1_999_999_999).nanoseconds == -1)
    #expect(Duration.milliseconds(Int64.max).milliseconds == .max)
    #expect(Duration.milliseconds(Int64.min).milliseconds == .min)
    #expect(Duration.nanoseconds(Int64.max).nanoseconds == .max)
  }

  @Test(arguments: ends)
  func `A duration beyond the range gives the end of the range`(duration: Duration) {
    let end: Int64 = duration > .zero ? .max : .min
    #expect(duration.milliseconds == end)
    #expect(duration.nanoseconds == end)
    #expect(abs(duration.inSeconds) > 9e15)
    #expect(Duration.longest.milliseconds == .max)
    #expect(abs(duration.secondsRoundedUp) >= .max / 1000)
  }

  @Test func `Seconds of a wait are rounded up`() {
    let rows: [(Int64, Int64)] = [(0, 0), (1, 1), (999, 1), (1000, 1), (1001, 2), (-1, 0), (-1500, -1)]
    for (milliseconds, seconds) in rows {
      #expect(Duration.milliseconds(milliseconds).secondsRoundedUp == seconds, "\(milliseconds) ms")
    }
    #expect(Duration.milliseconds(1234).inSeconds == 1.234)
  }
}
