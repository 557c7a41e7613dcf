// A token bucket, for deliveries of one app and for requests of one client. Pure; any thread. Time is in
// milliseconds and never goes back.

internal import Formats

/// A token bucket: on average `ratePerSecond`, at most `burst` at once.
public struct TokenBucket: Sendable {
  private let ratePerSecond: Double
  private let burst: Double
  private var tokens: Double
  private var updatedAt: Int64

  /// Makes a full bucket.
  /// - Parameters:
  ///   - burst: at least one; nil for one second's worth.
  ///   - nowMilliseconds: on a monotonic clock.
  public init(ratePerSecond: Double, burst: Double? = nil, nowMilliseconds: Int64) {
    self.ratePerSecond = ratePerSecond
    self.burst = max(1, burst ?? ratePerSecond)
    tokens = self.burst
    updatedAt = nowMilliseconds
  }

  /// Acquires one token if there is one.
  public mutating func acquire(nowMilliseconds: Int64) -> Bool {
    refill(nowMilliseconds)
    guard tokens >= 1 else { return false }
    tokens -= 1
    return true
  }

  /// The time until a token is available; zero if one is.
  public mutating func waitTime(nowMilliseconds: Int64) -> Duration {
    refill(nowMilliseconds)
    guard tokens < 1, ratePerSecond > 0 else { return .zero }
    let milliseconds = ((1 - tokens) / ratePerSecond * 1000).rounded(.up)
    return Int64(exactly: milliseconds).map { .milliseconds($0) } ?? .longest
  }

  /// The fill level, from 0 to 1. A full bucket need not be kept, because a new one is the same.
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
