// The rate of a job: evenly spaced, also across restarts and when two programs run the job. Pure; any thread.

/// A steady rate, stored as the time of the next item.
public struct Pace: Sendable, Equatable {
  /// The longest delay that is caught up with. After a longer one the job keeps its rate, because the
  /// operator set the rate to limit the load.
  static let catchUpNanosecondsMax: Int64 = 1_000_000_000

  /// Items in 1000 seconds; nil for no limit.
  public var perThousandSeconds: Int64?
  /// When the next item is due; Unix nanoseconds. Nil before the first.
  public var nextAtNanoseconds: Int64?

  public init(perThousandSeconds: Int64?, nextAtNanoseconds: Int64? = nil) {
    self.perThousandSeconds = perThousandSeconds.map { max(1, $0) }
    self.nextAtNanoseconds = nextAtNanoseconds
  }

  /// - Parameter ratePerSecond: clamped to valid rates, from one in 1000 s to a million per second.
  public init(ratePerSecond: Double?) {
    self.init(perThousandSeconds: ratePerSecond.map { Int64(max(1, min($0 * 1000, 1e9)).rounded()) })
  }

  /// The rate per second; nil for no limit.
  public var ratePerSecond: Double? { perThousandSeconds.map { Double($0) / 1000 } }

  /// Takes the items that are due now.
  /// - Returns: how many.
  public mutating func acquire(now: Timestamp, atMost: Int) -> Int {
    guard atMost > 0 else { return 0 }
    guard let interval = intervalNanoseconds else { return atMost }
    let now = Self.nanoseconds(now)
    let next = next(now, interval)
    guard now >= next else { return 0 }
    let taken = min(Int64(clamping: atMost), (now - next) / interval + 1)
    nextAtNanoseconds = next + taken * interval
    return Int(clamping: taken)
  }

  /// When the next item is due, rounded up; not before now.
  public func nextAt(now: Timestamp) -> Timestamp {
    guard let interval = intervalNanoseconds else { return now }
    let next = next(Self.nanoseconds(now), interval)
    return max(now, Timestamp(unixMilliseconds: next / 1_000_000 + (next % 1_000_000 > 0 ? 1 : 0)))
  }

  private var intervalNanoseconds: Int64? { perThousandSeconds.map { max(1, 1_000_000_000_000 / $0) } }

  /// Restarts from now after a clock step or a long delay.
  private func next(_ now: Int64, _ interval: Int64) -> Int64 {
    guard let next = nextAtNanoseconds, next >= now - Self.catchUpNanosecondsMax, next <= now + interval
    else { return now }
    return next
  }

  /// Clamped to the range in which nanoseconds fit into 64 bits, with room for arithmetic.
  private static func nanoseconds(_ time: Timestamp) -> Int64 {
    max(0, min(time.unixMilliseconds, 8_000_000_000_000)) * 1_000_000
  }
}
