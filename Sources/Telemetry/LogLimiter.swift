// Limits log lines about one trouble: one that any client can cause, or a fault that each request and each
// attempt meets again. Thread-safe.

public import Platform

/// Admits one line of a kind per interval, and counts the suppressed ones.
public final class LogLimiter: Sendable {
  public static let pause: Duration = .seconds(1)
  /// The interval for a fault that the relay's own attempts meet again.
  public static let faultPause: Duration = .seconds(60)

  private let pause: Duration
  private let kinds = Monitor<[String: (until: MonotonicInstant, leftOut: Int)]>([:])

  /// - Parameter pause: the shortest time between two lines of a kind.
  public init(pause: Duration = LogLimiter.pause) {
    self.pause = pause
  }

  /// Decides whether to write a line.
  /// - Parameter kind: one of a few; each is kept in memory.
  /// - Returns: how many lines of the kind were suppressed since the last one; nil if this one must be
  ///   suppressed, too.
  public func admit(_ kind: String, now: MonotonicInstant) -> Int? {
    kinds.withLock { kinds in
      if let last = kinds[kind], now < last.until {
        kinds[kind] = (last.until, last.leftOut + 1)
        return nil
      }
      let leftOut = kinds[kind]?.leftOut ?? 0
      kinds[kind] = (now.advanced(by: pause), 0)
      return leftOut
    }
  }
}
