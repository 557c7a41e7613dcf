// Begins and ends the lanes of apps whose owner has changed. The dispatcher's thread.

internal import Domain
internal import Platform
internal import Service
internal import Store

extension DispatcherRun {
  /// Compares the apps that this program owns now with those whose lanes run.
  mutating func followOwnership() {
    // The only program on a database owns every app from the start (`use`).
    guard dispatcher.ownership.apps != nil else { return }
    // Also those that a reload has removed: their deliveries under way are completed.
    for app in Set(places.keys).union(tenures.keys) {
      let tenure = dispatcher.ownership.tenure(of: app)
      guard tenure != tenures[app] else {
        ending.remove(app)
        continue
      }
      if let present = tenures[app], dispatcher.ownership.endingTenure(of: app) == present {
        ending.insert(app)
        continue
      }
      // A new tenure of the same app has missed what another program has delivered meanwhile.
      if tenures[app] != nil { end(app) }
      if let tenure, places[app] != nil, begin(app) { tenures[app] = tenure }
    }
  }

  /// Whether a delivery of the app may start.
  func mayStart(_ app: AppSlug) -> Bool { tenures[app] != nil && !ending.contains(app) }

  /// Notes what is under way, for an instance that gives up an app. At the end of a step, so that what the
  /// step has started is included.
  func noteUnderWay() {
    guard dispatcher.ownership.apps != nil else { return }
    dispatcher.note(
      underWay: lanes.values.reduce(into: [:]) { $0[$1.place.app, default: 0] += $1.underWay.count })
  }

  /// Starts the lanes of an app with the breakers that its last owner has stored.
  /// - Returns: false if they cannot be read now.
  private mutating func begin(_ app: AppSlug) -> Bool {
    do throws(StoreFault) {
      let breakers = try reader.breakers()
      renewLanes(of: app, breakers)
      return true
    } catch {
      dispatcher.faultLines.logFault(
        "could not read the breakers of an app; its deliveries begin later", error, app: app, to: log,
        now: monotonic)
      return false
    }
  }

  private mutating func end(_ app: AppSlug) {
    tenures[app] = nil
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
      lanes[place] = Lane(
        lane.app, lane.route, breaker: breakers[place] ?? Breaker(), now: now, monotonic: monotonic)
    }
  }
}
