// The rate limit of one app's deliveries. Pure; any thread. Time is a number of milliseconds that never goes
// back.

/// A token bucket: `ratePerSecond` on average, and never more than one second's worth at once.
public struct TokenBucket: Sendable {
  private let ratePerSecond: Double
  private var tokens: Double
  private var updatedAt: Int64

  /// - Parameter nowMilliseconds: on a monotonic clock.
  public init(ratePerSecond: Double, nowMilliseconds: Int64) {
    self.ratePerSecond = ratePerSecond
    tokens = max(1, ratePerSecond)
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

  private mutating func refill(_ now: Int64) {
    let elapsed = Double(max(0, now - updatedAt)) / 1000
    tokens = min(max(1, ratePerSecond), tokens + elapsed * ratePerSecond)
    updatedAt = max(updatedAt, now)
  }
}
