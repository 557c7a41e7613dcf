// The pace of a job: even, also after a pause, a restart and a step of the clock.

import Domain
import Testing

@Suite("The pace of a job") struct PaceTests {
  private static func at(_ milliseconds: Int64) -> Timestamp { Timestamp(unixMilliseconds: milliseconds) }

  @Test func `Without a rate all items are due at once`() {
    var pace = Pace(ratePerSecond: nil)
    #expect(pace.acquire(now: Self.at(0), atMost: 1000) == 1000)
    #expect(pace.acquire(now: Self.at(0), atMost: 0) == 0)
    #expect(pace.nextAt(now: Self.at(7)) == Self.at(7))
  }

  @Test func `The first item is due at once, and each further one after the same time`() {
    var pace = Pace(ratePerSecond: 4)
    #expect(pace.acquire(now: Self.at(100_000), atMost: 10) == 1)
    #expect(pace.nextAt(now: Self.at(100_000)) == Self.at(100_250))
    #expect(pace.acquire(now: Self.at(100_249), atMost: 10) == 0)
    #expect(pace.acquire(now: Self.at(100_250), atMost: 10) == 1)
    #expect(pace.acquire(now: Self.at(100_999), atMost: 10) == 2)
    #expect(pace.acquire(now: Self.at(101_000), atMost: 10) == 1)
  }

  @Test func `What was not acquired at once stays due`() {
    var pace = Pace(ratePerSecond: 4)
    #expect(pace.acquire(now: Self.at(100_000), atMost: 1) == 1)
    #expect(pace.acquire(now: Self.at(100_750), atMost: 1) == 1)
    #expect(pace.acquire(now: Self.at(100_750), atMost: 9) == 2)
  }

  @Test(arguments: [(1250, 5), (1251, 1), (3_600_000, 1)] as [(Int64, Int)])
  func `A delay of a second is caught up with, a longer one is not`(milliseconds: Int64, due: Int) {
    var pace = Pace(ratePerSecond: 4)
    #expect(pace.acquire(now: Self.at(100_000), atMost: 1) == 1)
    #expect(pace.acquire(now: Self.at(100_000 + milliseconds), atMost: 10_000) == due)
  }

  @Test func `After the clock was set back one item is due, and then the rate is kept`() {
    var pace = Pace(ratePerSecond: 4)
    #expect(pace.acquire(now: Self.at(100_000), atMost: 1) == 1)
    #expect(pace.acquire(now: Self.at(50_000), atMost: 10) == 1)
    #expect(pace.acquire(now: Self.at(50_249), atMost: 10) == 0)
  }

  @Test func `Rates and times beyond every limit do not trap`() {
    for rate in [-1, 0, 1e-9, 1e300, .infinity] {
      for moment in [Int64.min, -1, 0, Int64.max] {
        var pace = Pace(ratePerSecond: rate)
        #expect(pace.acquire(now: Self.at(moment), atMost: .max) == 1)
      }
    }
  }
}
