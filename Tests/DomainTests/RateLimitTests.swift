// Tests rate limits and the table of buckets.

import Domain
import Formats
import Testing

@Suite("Rate limits") struct RateLimitTests {
  @Test func `The limit's number is admitted at once or evenly, then one as soon as there is room`() {
    var limiter = RateLimiter<String>(RateLimit(120, per: .minute), entriesMax: 10)
    for _ in 1...120 { #expect(limiter.acquire("a", nowMilliseconds: 0) == .zero) }
    #expect(limiter.acquire("a", nowMilliseconds: 0) == .milliseconds(500))
    #expect(limiter.acquire("a", nowMilliseconds: 500) == .zero)
    #expect(limiter.acquire("a", nowMilliseconds: 500) == .milliseconds(500))
    #expect(limiter.acquire("b", nowMilliseconds: 500) == .zero)
    for second in 1...300 {
      #expect(limiter.acquire("a", nowMilliseconds: Int64(second) * 500 + 500) == .zero)
    }
  }

  @Test func `A clock that stops or is set back admits no more`() {
    var limiter = RateLimiter<Int>(RateLimit(1, per: .hour), entriesMax: 4)
    #expect(limiter.acquire(1, nowMilliseconds: 10_000) == .zero)
    #expect(limiter.acquire(1, nowMilliseconds: 10_000) == .hours(1))
    #expect(limiter.acquire(1, nowMilliseconds: 0) == .hours(1))
    #expect(limiter.acquire(1, nowMilliseconds: 3_610_000) == .zero)
  }

  @Test func `The table is bounded, and a key at its limit stays limited while others come and go`() {
    var limiter = RateLimiter<Int>(RateLimit(2, per: .minute), entriesMax: 100)
    for _ in 1...2 { #expect(limiter.acquire(0, nowMilliseconds: 0) == .zero) }
    for key in 1...10_000 {
      #expect(limiter.acquire(key, nowMilliseconds: 1) == .zero)
      #expect(limiter.count <= 100)
    }
    #expect(limiter.acquire(0, nowMilliseconds: 1) > .zero)
    // Full buckets are dropped in one sweep.
    #expect(limiter.acquire(-1, nowMilliseconds: 60_000) == .zero)
    for key in 20_000...20_050 { _ = limiter.acquire(key, nowMilliseconds: 60_000) }
    #expect(limiter.count <= 60)
  }

  @Test func `Inactive keys are evicted: memory follows the active keys`() {
    var limiter = RateLimiter<Int>(RateLimit(60, per: .minute), entriesMax: 1_000_000)
    var most = 0
    // One key per millisecond; each bucket is full again after a second.
    for number in 0..<50_000 {
      #expect(limiter.acquire(number, nowMilliseconds: Int64(number)) == .zero)
      most = max(most, limiter.count)
    }
    #expect(most <= 2100, "\(most)")
  }

  @Test func `A printed limit is read as the same limit, and invalid texts are refused`() {
    for text in ["1/s", "120/m", "1000000/h"] { #expect(RateLimit(parsing: text)?.text == text) }
    #expect(RateLimit(parsing: "120/m") == RateLimit(120, per: .minute))
    for text in [
      "", "/", "120", "120/", "/m", "0/m", "-1/m", "+1/m", "1/d", "1/M", "1 /m", "1/m/s", "1000001/s",
      "1.5/s",
    ] {
      #expect(RateLimit(parsing: text) == nil, "\(text)")
    }
  }
}
