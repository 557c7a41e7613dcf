// Rate limits, and a table of token buckets by key. Pure; any thread. Time is in milliseconds and never goes
// back.

/// A number of requests in a period. After a pause of one period all of them may come at once.
public struct RateLimit: Sendable, Equatable {
  /// The period, with its letter in the configuration.
  public enum Period: String, Sendable, CaseIterable {
    case second = "s"
    case minute = "m"
    case hour = "h"

    var seconds: Double {
      switch self {
      case .second: 1
      case .minute: 60
      case .hour: 3600
      }
    }
  }

  /// The highest number of requests in a period.
  public static let countMax = 1_000_000

  /// From 1 to `countMax`.
  public let count: Int
  public let period: Period

  public init(_ count: Int, per period: Period) {
    self.count = min(max(1, count), Self.countMax)
    self.period = period
  }

  /// Parses `120/m`: digits, a slash, and `s`, `m` or `h`; nil for anything else.
  public init?(parsing text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let period = Period(rawValue: String(parts[1])), let count = Int(parts[0]),
      parts[0].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      (1...Self.countMax).contains(count)
    else { return nil }
    self.init(count, per: period)
  }

  public var text: String { "\(count)/\(period.rawValue)" }

  func bucket(nowMilliseconds: Int64) -> TokenBucket {
    TokenBucket(
      ratePerSecond: Double(count) / period.seconds, burst: Double(count), nowMilliseconds: nowMilliseconds)
  }
}

/// A limit for each of many keys, in a table of bounded size.
///
/// A full bucket is dropped at the next sweep, because a new bucket is the same. So memory follows the
/// recently active keys. If there are too many of these, the fullest buckets are evicted first: an evicted
/// key restarts with a full one.
public struct RateLimiter<Key: Hashable & Sendable>: Sendable {
  public let limit: RateLimit
  /// The maximum number of entries.
  public let entriesMax: Int
  private var buckets: [Key: TokenBucket] = [:]
  /// The number of entries at which full buckets are dropped: twice what the last sweep left, so the
  /// amortized cost is one or two checks per entry.
  private var sweepAt = Self.sweepMin

  private static var sweepMin: Int { 1024 }

  public init(_ limit: RateLimit, entriesMax: Int) {
    self.limit = limit
    self.entriesMax = max(1, entriesMax)
  }

  /// The present number of entries.
  public var count: Int { buckets.count }

  /// Counts one request of `key`.
  /// - Returns: zero if it is within the limit; otherwise the time until the next one is allowed.
  public mutating func acquire(_ key: Key, nowMilliseconds now: Int64) -> Duration {
    // Updated in place: removing and reinserting a bucket would cost two more hash lookups.
    if let wait = Self.acquire(&buckets[key], now) { return wait }
    if buckets.count >= min(sweepAt, entriesMax) { makeRoom(now) }
    var bucket = limit.bucket(nowMilliseconds: now)
    _ = bucket.acquire(nowMilliseconds: now)
    buckets[key] = bucket
    return .zero
  }

  private static func acquire(_ bucket: inout TokenBucket?, _ now: Int64) -> Duration? {
    guard bucket?.acquire(nowMilliseconds: now) == false else { return bucket == nil ? nil : .zero }
    return bucket?.waitTime(nowMilliseconds: now)
  }

  /// Drops full buckets. If the table was at its limit, also evicts the fullest until a quarter is free, so
  /// that the cost per new key stays small.
  private mutating func makeRoom(_ now: Int64) {
    func fill(_ bucket: TokenBucket) -> Double {
      var bucket = bucket
      return bucket.fill(nowMilliseconds: now)
    }
    let before = buckets.count
    buckets = buckets.filter { fill($0.value) < 1 }
    sweepAt = max(Self.sweepMin, 2 * buckets.count)
    guard before >= entriesMax else { return }
    let more = max(1, entriesMax / 4) - (before - buckets.count)
    guard more > 0 else { return }
    let fullest = buckets.map { (key: $0.key, fill: fill($0.value)) }.sorted { $0.fill > $1.fill }
    for entry in fullest.prefix(more) { buckets[entry.key] = nil }
  }
}
