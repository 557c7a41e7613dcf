// The database's clock, as far as this program knows it. Thread-safe.

internal import Formats
internal import Platform

/// Computes the database's time without a call: from a time that it read before, and the monotonic clock. So
/// a step of this machine's wall clock changes nothing.
final class DatabaseClock: Clock {
  private struct Anchor {
    var milliseconds: Int64
    var at: MonotonicInstant
  }

  private let local = SystemClock()
  /// Nil until the database was reached: then this machine's clock must do.
  private let anchor = Monitor<Anchor?>(nil)

  var monotonic: MonotonicInstant { local.monotonic }

  var wallMilliseconds: Int64 {
    let now = local.monotonic
    return anchor.withLock { anchor in
      anchor.map { $0.milliseconds + now.duration(since: $0.at).milliseconds } ?? local.wallMilliseconds
    }
  }

  /// Notes a time that the database reported between two moments.
  /// - Returns: by how much this machine's clock is ahead, in milliseconds, and by how much the database's
  ///   clock was set since the last time, or another server's clock differs from it.
  func note(
    _ milliseconds: Int64, between start: MonotonicInstant, and end: MonotonicInstant
  ) -> (ahead: Int64, step: Duration) {
    let middle = start.advanced(by: end.duration(since: start) / 2)
    let step: Duration = anchor.withLock { anchor in
      defer { anchor = Anchor(milliseconds: milliseconds, at: middle) }
      guard let anchor else { return .zero }
      let expected = anchor.milliseconds + middle.duration(since: anchor.at).milliseconds
      return .milliseconds(milliseconds - expected)
    }
    let localThen = local.wallMilliseconds - local.monotonic.duration(since: middle).milliseconds
    return (localThen - milliseconds, max(step, .zero - step) > ClockWatch.toleratedStep ? step : .zero)
  }
}
