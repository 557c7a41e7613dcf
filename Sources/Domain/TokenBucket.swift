// A rate limit, for deliveries of one app and for whoever posts. Pure; any thread. Time is a number of
// milliseconds that never goes back.

/// A token bucket: `ratePerSecond` on average, and never more than `burst` at once.
public struct TokenBucket: Sendable {
  private let ratePerSecond: Double
  private let burst: Double
  private var tokens: Double
  private var updatedAt: Int64

  /// Full.
  /// - Parameters:
  ///   - burst: one second's worth without it; at least one.
  ///   - nowMilliseconds: on a monotonic clock.
  public init(ratePerSecond: Double, burst: Double? = nil, nowMilliseconds: Int64) {
    self.ratePerSecond = ratePerSecond
    self.burst = max(1, burst ?? ratePerSecond)
    tokens = self.burst
    updatedAt = nowMilliseconds
  }

  /// Takes one token if there is one.
  public mutating func take(nowMilliseconds: Int64) -> Bool {
    refill(nowMilliseconds)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// Milliseconds until there is a token; 0 when there is one.
  public mutating func waitMilliseconds(nowMilliseconds: Int64) -> Int64 {
    refill(nowMilliseconds)
    guard tokens < 1, ratePerSecond > 0 else { return 0 }
    return Int64(exactly: ((1 - tokens) / ratePerSecond * 1000).rounded(.up)) ?? .max
  }

  /// Which share of its tokens it has, from 0 to 1. A full one need not be remembered: a new one is the same.
  public mutating func fill(nowMilliseconds: Int64) -> Double {
    refill(nowMilliseconds)
    return tokens / burst
  }

  private mutating func refill(_ now: Int64) {
    let elapsed = Double(max(0, now - updatedAt)) / 1000
    tokens = min(burst, tokens + elapsed * ratePerSecond)
    updatedAt = max(updatedAt, now)
  }
}
