// Creates the dispatcher's lanes from the configuration, and adjusts them to clock steps. The dispatcher's
// thread.

internal import Apps
internal import Domain
internal import Durations
internal import Persistence
internal import Platform
internal import Store

extension DispatcherRun {
  /// Creates or updates the lanes of these apps, one for each destination. The lane of a removed app or
  /// destination starts nothing more; its deliveries under way are still judged and stored.
  mutating func use(_ directory: AppDirectory) {
    let breakers: [AppDestination: Breaker]
    do throws(StoreFault) {
      breakers = try reader.breakers()
    } catch {
      // Without its row a breaker starts closed; the first attempts open it again if the destination still
      // fails.
      log.error(
        "could not read the breakers; they start closed. If this continues: receiptctl db check",
        ["error": error.description])
      breakers = [:]
    }
    let (now, monotonic) = (now, monotonic)
    places = directory.apps.mapValues { app in app.routes.map { AppDestination(app.slug, $0.name) } }
    let current = Set(places.values.joined())
    for place in lanes.keys where !current.contains(place) { lanes[place]?.retire() }
    for (slug, app) in directory.apps {
      for route in app.routes {
        let place = AppDestination(slug, route.name)
        if lanes[place] != nil {
          lanes[place]?.use(app, route, now: now, monotonic: monotonic)
        } else {
          let breaker = breakers[place] ?? Breaker()
          lanes[place] = Lane(app, route, breaker: breaker, now: now, monotonic: monotonic)
        }
      }
    }
    for (place, breaker) in breakers where directory[place.app] != nil && !current.contains(place) {
      closeUnused(place, breaker)
    }
  }

  /// Closes the breaker of a destination that its app does not use any more: it stops nothing, and no probe
  /// would close it. If this is not saved, the next start or reload does it.
  private func closeUnused(_ place: AppDestination, _ breaker: Breaker) {
    guard breaker.state != .closed || breaker.restUntil != nil else { return }
    let closed = Breaker(pausedTime: breaker.pausedTime(now: now))
    _ = dispatcher.committer.submit(SaveBreaker(place, closed), from: .internal) { _ in }
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
    for place in lanes.keys {
      lanes[place]?.clockStepped(by: jump, now: now)
      guard let breaker = lanes[place]?.breaker else { continue }
      // If this save fails, the next attempt saves the breaker.
      _ = dispatcher.committer.submit(SaveBreaker(place, breaker), from: .internal) { _ in }
    }
  }
}
