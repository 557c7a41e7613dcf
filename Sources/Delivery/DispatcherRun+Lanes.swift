// Creates the dispatcher's lanes from the configuration, and adjusts them to clock steps. The dispatcher's
// thread.

internal import Apps
internal import Domain
internal import Durations
internal import Persistence
internal import Platform
internal import Store

extension DispatcherRun {
  /// Creates or updates the lanes of these apps. The lane of a removed app starts nothing more; its
  /// deliveries under way are still judged and stored.
  mutating func use(_ directory: AppDirectory) {
    let breakers: [String: Breaker]
    do throws(StoreFault) {
      breakers = try reader.breakers()
    } catch {
      // Without its row a breaker starts closed; the first attempts open it again if the destination still
      // fails.
      log.error(
        "could not read the breakers; they start closed. If this continues:  receiptctl db check",
        ["error": error.description])
      breakers = [:]
    }
    let (now, monotonic) = (now, monotonic)
    for slug in lanes.keys where directory[slug] == nil { lanes[slug]?.retire() }
    for (slug, app) in directory.apps {
      if lanes[slug] != nil {
        lanes[slug]?.use(app, now: now, monotonic: monotonic)
      } else {
        lanes[slug] = Lane(app, breaker: breakers[slug] ?? Breaker(), now: now, monotonic: monotonic)
      }
    }
  }

  /// Adjusts planned times to a step of the wall clock.
  mutating func followClock(by jump: Duration) {
    log.warning(
      "the wall clock was set; due times are adjusted. If you did not set it, check the machine's time",
      ["milliseconds": String(jump.milliseconds)])
    let now = now
    for index in unstored.indices {
      guard case .retry(let at, let spent) = unstored[index].attempt.decision else { continue }
      unstored[index].attempt.decision = .retry(at: at.advanced(by: jump), spent: spent)
    }
    for slug in lanes.keys {
      lanes[slug]?.clockStepped(by: jump, now: now)
      guard let breaker = lanes[slug]?.breaker else { continue }
      // If this save fails, the next attempt saves the breaker.
      _ = dispatcher.committer.submit(SaveBreaker(app: slug, breaker: breaker), from: .internal) { _ in }
    }
  }
}
