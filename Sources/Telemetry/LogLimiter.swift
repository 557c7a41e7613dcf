// Keeps one and the same trouble from filling the log: one that strangers can cause at will, or a fault that
// each request and each attempt meets again. Any thread.

public import Platform

/// Lets one line of a kind through in a while, and counts the others.
public final class LogLimiter: Sendable {
  public static let pauseMilliseconds: Int64 = 1000
  /// For a fault that the relay meets again by itself, in each of its attempts.
  public static let faultPauseMilliseconds: Int64 = 60_000

  private let pauseMilliseconds: Int64
  private let kinds = Monitor<[String: (until: MonotonicInstant, leftOut: Int)]>([:])

  /// - Parameter pauseMilliseconds: the shortest time between two lines of a kind.
  public init(pauseMilliseconds: Int64 = LogLimiter.pauseMilliseconds) {
    self.pauseMilliseconds = pauseMilliseconds
  }

  /// - Parameter kind: one of few.
  /// - Returns: how many lines of the kind were left out since the last one; nil when this one is to be left
  ///   out, too.
  public func admit(_ kind: String, now: MonotonicInstant) -> Int? {
    kinds.withLock { kinds in
      if let last = kinds[kind], now < last.until {
        kinds[kind] = (last.until, last.leftOut + 1)
        return nil
      }
      let leftOut = kinds[kind]?.leftOut ?? 0
      kinds[kind] = (now.advanced(byMilliseconds: pauseMilliseconds), 0)
      return leftOut
    }
  }
}
