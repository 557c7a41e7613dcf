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
    // At a start there are no lanes: what is only down keeps its pause, so that a relay that cannot stay up
    // does not ask a destination again at each try.
    let isStart = lanes.isEmpty
    for app in directory.apps.values { expedite(app, onlyPaused: isStart) }
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
        if leases[slug] == nil { leases[slug] = parts.ownership.lease(of: slug) }
        if lanes[place] != nil {
          lanes[place]?.use(app, route, now: now, monotonic: monotonic)
        } else {
          lanes[place] = lane(app, route, breakers[place])
        }
      }
    }
  }

  /// A lane with a breaker that an earlier run or another program has stored. A configuration that was
  /// refused may have been corrected since, so a probe is due at once.
  private func lane(_ app: App, _ route: DeliveryRoute, _ stored: Breaker?) -> Lane {
    var breaker = stored ?? Breaker()
    if breaker.state == .paused { breaker.probeNow(now: now) }
    return Lane(app, route, breaker: breaker, now: now, monotonic: monotonic)
  }

  /// Makes receipts due that wait for the end of a breaker's pause: the configuration of a start, a takeover
  /// or a reload may have fixed the cause, or an operator asked to try again. Submitted between the last
  /// outcome that was decided before and the first probe after it: an outcome stored later would wait for the
  /// whole pause, and a successful probe closes the breaker, after which nothing is expedited.
  /// - Parameter onlyPaused: leave out those of a destination that is only down.
  func expedite(_ app: App, onlyPaused: Bool = false) {
    guard parts.ownership.lease(of: app.slug) != nil else { return }
    let present = lanes.values.map(\.app).filter { $0.slug == app.slug }
    // If this is not stored, the receipts become due after that pause anyway.
    let pause = (present + [app]).map(\.delivery.breaker.openFor).max() ?? .zero
    _ = parts.committer.submit(
      Expedite(app: app.slug, pause: pause, onlyPaused: onlyPaused), from: .internal
    ) { _ in }
  }

  /// Closes the breaker of a destination that its app does not use any more: it stops nothing, and no probe
  /// would close it. If this is not saved, the next start or reload does it.
  /// - Parameter stored: nil if the database has none. It may be older than the lane's.
  private mutating func closeUnused(_ place: AppDestination, _ stored: Breaker?) {
    guard let lease = parts.ownership.lease(of: place.app) else { return }
    let known = [lanes[place]?.breaker, stored].compactMap(\.self)
    let now = now
    lanes[place]?.retireUnused(now: now)
    guard let latest = known.first, known.contains(where: { $0.state != .closed || $0.restUntil != nil })
    else { return }
    let closed = Breaker(pausedTime: latest.pausedTime(now: now))
    _ = parts.committer.submit(Fenced(lease.fence, SaveBreaker(place, closed)), from: .internal) { _ in
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
      guard let lane = lanes[place], !lane.isRetired, let lease = leases[place.app] else { continue }
      // If this save fails, the next attempt saves the breaker.
      let command = Fenced(lease.fence, SaveBreaker(place, lane.breaker))
      _ = parts.committer.submit(command, from: .internal) { _ in }
    }
  }
}

// MARK: - Ownership

// Begins and ends the lanes of apps whose owner has changed. The dispatcher's thread.

extension DispatcherRun {
  /// Compares the apps that this program owns now with those whose lanes run.
  mutating func followOwnership() {
    // The only program on a database owns every app from the start (`use`).
    guard parts.ownership.apps != nil else { return }
    // Also those that a reload has removed: their deliveries under way are completed.
    for app in Set(places.keys).union(leases.keys) {
      let lease = parts.ownership.lease(of: app)
      guard lease != leases[app] else {
        ending.remove(app)
        continue
      }
      if let present = leases[app], parts.ownership.endingLease(of: app) == present {
        ending.insert(app)
        continue
      }
      // A run under a new lease of the same app has missed what another program has delivered meanwhile.
      if leases[app] != nil { end(app) }
      if let lease, places[app] != nil, begin(app) { leases[app] = lease }
    }
  }

  /// Whether a delivery of the app may start.
  func mayStart(_ app: AppSlug) -> Bool { leases[app] != nil && !ending.contains(app) }

  /// Publishes how many deliveries of each app are under way, for an instance that gives up an app. Runs at
  /// the end of a step, to include the deliveries that the step has started.
  func noteUnderWay() {
    guard parts.ownership.apps != nil else { return }
    dispatcher.note(
      underWay: lanes.values.reduce(into: [:]) { $0[$1.place.app, default: 0] += $1.underWay.count })
  }

  /// Starts the lanes of an app with the breakers that its last owner has stored.
  /// - Returns: false if they cannot be read now.
  private mutating func begin(_ app: AppSlug) -> Bool {
    do throws(StoreFault) {
      let breakers = try reader.breakers()
      if let known = places[app]?.compactMap({ lanes[$0]?.app }).first { expedite(known, onlyPaused: true) }
      renewLanes(of: app, breakers)
      return true
    } catch {
      parts.logFault(
        "could not read the breakers of an app; its deliveries begin later", error, app: app)
      return false
    }
  }

  private mutating func end(_ app: AppSlug) {
    leases[app] = nil
    ending.remove(app)
    cancelDeliveries(of: app)
    unstored.removeAll { $0.attempt.command.place.app == app }
    renewLanes(of: app, [:])
    if places[app] == nil { lanes = lanes.filter { $0.key.app != app } }
  }

  private mutating func renewLanes(of app: AppSlug, _ breakers: [AppDestination: Breaker]) {
    pausesReadAt = monotonic
    for place in places[app] ?? [] {
      guard let lane = lanes[place] else { continue }
      lanes[place] = self.lane(lane.app, lane.route, breakers[place])
    }
  }
}
