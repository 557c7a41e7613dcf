// How fast a job may go: so many a second, evenly, whoever takes them and however often that ends and begins
// again. Pure; any thread.

/// A steady pace, as what comes next and when.
public struct Pace: Sendable, Equatable {
  /// After a longer standstill nothing is caught up with: who asked for a pace did so to be gentle.
  static let catchUpNanosecondsMax: Int64 = 1_000_000_000

  /// How many in 1000 seconds; nil is as fast as it goes.
  public var perThousandSeconds: Int64?
  /// When the next may go; Unix nanoseconds. Nil before the first.
  public var nextAtNanoseconds: Int64?

  public init(perThousandSeconds: Int64?, nextAtNanoseconds: Int64? = nil) {
    self.perThousandSeconds = perThousandSeconds.map { max(1, $0) }
    self.nextAtNanoseconds = nextAtNanoseconds
  }

  /// How many may go now. They count as gone.
  public mutating func take(now: Timestamp, atMost: Int) -> Int {
    guard atMost > 0 else { return 0 }
    guard let interval = intervalNanoseconds else { return atMost }
    let now = Self.nanoseconds(now)
    let next = next(now, interval)
    guard now >= next else { return 0 }
    let taken = min(Int64(clamping: atMost), (now - next) / interval + 1)
    nextAtNanoseconds = next + taken * interval
    return Int(clamping: taken)
  }

  /// When the next may go, rounded up; not before now.
  public func nextAt(now: Timestamp) -> Timestamp {
    guard let interval = intervalNanoseconds else { return now }
    let next = next(Self.nanoseconds(now), interval)
    return max(now, Timestamp(unixMilliseconds: next / 1_000_000 + (next % 1_000_000 > 0 ? 1 : 0)))
  }

  private var intervalNanoseconds: Int64? { perThousandSeconds.map { max(1, 1_000_000_000_000 / $0) } }

  /// What was planned by a clock that stood elsewhere, or before a standstill, is planned anew.
  private func next(_ now: Int64, _ interval: Int64) -> Int64 {
    guard let next = nextAtNanoseconds, next >= now - Self.catchUpNanosecondsMax, next <= now + interval
    else { return now }
    return next
  }

  /// Clamped to the years in which nanoseconds fit, with room to calculate.
  private static func nanoseconds(_ time: Timestamp) -> Int64 {
    max(0, min(time.unixMilliseconds, 8_000_000_000_000)) * 1_000_000
  }
}
