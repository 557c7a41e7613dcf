// How many receipts of an app a job may release now, which depends on the app's deliveries. A receipt
// released too early would wait in the delivery queue, where pausing the job does not stop it. Pure; any
// thread.

internal import Domain

/// How many receipts of one app a job may release now.
enum JobRoom: Equatable {
  /// This many; at least one.
  case open(Int)
  /// The app already has as many replays due as allowed at once.
  case full
  /// The app's deliveries are stopped.
  case held

  /// - Parameters:
  ///   - pause: an operator's pause of the app.
  ///   - window: how many replays of the app may be due at once.
  ///   - replaysDue: how many are due; counted up to `window`.
  ///   - hasDue: whether any receipt of the app is due.
  init(
    _ breaker: Breaker?, _ pause: AppPause?, window: Int, now: Timestamp, replaysDue: Int, hasDue: Bool
  ) {
    guard pause?.isActive(now: now) != true else {
      self = .held
      return
    }
    switch (breaker ?? Breaker()).admission(now: now, probing: false) {
    case .free: self = replaysDue < window ? .open(window - replaysDue) : .full
    // Only an attempt shows that the destination is back. If nothing else is due, the job releases one
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
