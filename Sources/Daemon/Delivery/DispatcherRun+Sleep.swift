// How long the dispatcher may sleep. The dispatcher's thread.

internal import Domain
internal import Formats
internal import Platform
internal import Service
internal import Store

extension DispatcherRun {
  var lookInterval: Duration { dispatcher.dependencies.lookInterval }

  func sleepTime() -> Duration {
    var sleep = min(lookInterval, max(.zero, pausesReadAt.duration(since: monotonic)))
    // What is due for an app of another instance is not due here.
    for var lane in lanes.values where mayStart(lane.place.app) {
      if let wait = lane.waitTime(now: now, monotonic: monotonic) { sleep = min(sleep, wait) }
    }
    // Deliveries under way end with the right to deliver, also if nobody notices that it has ended.
    if dispatcher.ownership.apps != nil, !attempts.isEmpty { sleep = min(sleep, Self.ownershipPause) }
    return storingWait(atMost: sleep)
  }

  /// How often the right to deliver is checked while deliveries are under way.
  private static let ownershipPause: Duration = .milliseconds(200)

  /// The time until the next retry of storing an outcome.
  func storingWait(atMost sleep: Duration) -> Duration {
    let monotonic = monotonic
    return max(.zero, unstored.reduce(sleep) { min($0, $1.at.duration(since: monotonic)) })
  }
}
