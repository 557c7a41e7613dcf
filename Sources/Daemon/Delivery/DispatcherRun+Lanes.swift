// Creates the dispatcher's lanes from the configuration, and adjusts them to clock steps. The dispatcher's
// thread.

internal import Domain
internal import Formats
internal import Platform
internal import Service
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
    // New lanes have no pause yet.
    pausesReadAt = monotonic
    places = directory.apps.mapValues { app in app.routes.map { AppDestination(app.slug, $0.name) } }
    let current = Set(places.values.joined())
    for place in Set(lanes.keys).union(breakers.keys) where !current.contains(place) {
      if directory[place.app] == nil { lanes[place]?.retire() } else { closeUnused(place, breakers[place]) }
    }
    for (slug, app) in directory.apps {
      for route in app.routes {
        let place = AppDestination(slug, route.name)
        if tenures[slug] == nil { tenures[slug] = dispatcher.ownership.tenure(of: slug) }
        if lanes[place] != nil {
          lanes[place]?.use(app, route, now: now, monotonic: monotonic)
        } else {
          let breaker = breakers[place] ?? Breaker()
          lanes[place] = Lane(app, route, breaker: breaker, now: now, monotonic: monotonic)
        }
      }
    }
  }

  /// Closes the breaker of a destination that its app does not use any more: it stops nothing, and no probe
  /// would close it. If this is not saved, the next start or reload does it.
  /// - Parameter stored: nil if the database has none. It may be older than the lane's.
  private mutating func closeUnused(_ place: AppDestination, _ stored: Breaker?) {
    guard let tenure = dispatcher.ownership.tenure(of: place.app) else { return }
    let known = [lanes[place]?.breaker, stored].compactMap(\.self)
    let now = now
    lanes[place]?.retireUnused(now: now)
    guard let latest = known.first, known.contains(where: { $0.state != .closed || $0.restUntil != nil })
    else { return }
    let closed = Breaker(pausedTime: latest.pausedTime(now: now))
    _ = dispatcher.committer.submit(Fenced(tenure.fence, SaveBreaker(place, closed)), from: .internal) { _ in
    }
  }

  /// Adjusts planned times to a step of the wall clock.
  mutating func followClock(by step: Duration) {
    log.warning(
      "the wall clock was set; due times are adjusted. If you did not set it, check the machine's time",
      ["milliseconds": String(step.milliseconds)])
    let now = now
    // The stored ones follow a little later (`FollowClock`).
    pausesReadAt = monotonic.advanced(by: lookInterval)
    for place in lanes.keys {
      lanes[place]?.clockStepped(by: step, now: now)
      // The breaker of a retired lane stops nothing.
      guard let lane = lanes[place], !lane.isRetired, let tenure = tenures[place.app] else { continue }
      // If this save fails, the next attempt saves the breaker.
      let command = Fenced(tenure.fence, SaveBreaker(place, lane.breaker))
      _ = dispatcher.committer.submit(command, from: .internal) { _ in }
    }
  }
}
