// How many receipts of an app a job may release now: as many as the deliveries under way leave room for.
// What is released before it can be sent only waits elsewhere, where no pause of the job reaches it. Pure;
// any thread.

internal import Domain

/// What a job may release of one app now.
enum JobRoom: Equatable {
  /// So many; at least one.
  case open(Int)
  /// As many replays of the app are due as may be at once.
  case full
  /// Deliveries of the app do not go.
  case held

  /// - Parameters:
  ///   - window: how many replays of the app may be due at once.
  ///   - replaysDue: how many are; counted up to `window`.
  ///   - hasDue: whether any receipt of the app is due.
  init(_ breaker: Breaker?, window: Int, now: Timestamp, replaysDue: Int, hasDue: Bool) {
    switch (breaker ?? Breaker()).admission(now: now, probing: false) {
    case .free: self = replaysDue < window ? .open(window - replaysDue) : .full
    // Only an attempt shows that the destination is back. When nothing else is due, the job gives one
    // receipt.
    case .probe: self = hasDue ? .held : .open(1)
    case .none: self = .held
    }
  }

  var count: Int {
    if case .open(let count) = self { return count }
    return 0
  }
}
