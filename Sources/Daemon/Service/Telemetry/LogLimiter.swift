// Limits log lines about one trouble: one that any client can cause, or a fault that each request and each
// attempt meets again. Thread-safe.

public import Domain
public import Platform
internal import Reports
public import Store

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

extension LogLimiter {
  /// Logs a fault of the database with the advice for it, at most once per interval for each app and kind of
  /// fault: a fault outlasts one attempt.
  /// - Parameters:
  ///   - what: what failed and what follows, without a full stop.
  ///   - fields: further fields of the line.
  public func logFault(
    _ what: String, _ error: StoreFault, app: AppSlug? = nil, _ fields: LogFields = [:], to log: Log,
    now: MonotonicInstant
  ) {
    guard let count = admit("\(what) \(app?.text ?? "") \(error.kind.rawValue)", now: now) else { return }
    log.error(
      "\(what). \(error.kind.advice)",
      ["app": app?.text] + fields
        + ["error": error.description, "left_out": count > 0 ? String(count) : nil])
  }
}
