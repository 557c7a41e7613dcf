// The course of a simulation: lives of the relay, one after the other, and the times in between. One thread.

import Formats
import Platform
import SimulatedDisk
import Store

@testable import Daemon
@testable import Reports
@testable import SQLiteStore
@testable import Service
@testable import Upkeep

extension SimulatedWorld {
  /// Simulates this many days of trouble, and then enough quiet ones to finish everything.
  func live(days: Int64) throws {
    let end = now + days * Self.day
    begin()
    while now < end { try runRelay(until: end) }
    heal()
    try resumeJobs()
    try runRelay(until: now + (Self.quietDays - 2) * Self.day)
    try resumeJobs()
    try replayEverything()
    try runRelay(until: now + 2 * Self.day)
    try memory.checkEverything(try reader(), wall: wall, now: now)
    memory.faults += try jobs.unfinished(reader())
    compareEnds()
  }

  private func begin() {
    agenda.add(.shop, at: now)
    agenda.add(.operate, at: now + Self.hour)
    agenda.add(.reload, at: now + 5 * Self.hour)
    if hasWildClock { agenda.add(.setClock, at: now + between(1...Self.day)) }
    for app in Self.apps where app != Self.calmApp {
      agenda.add(.changeWeather(app), at: now)
      agenda.add(.rotateKey(app), at: now + between(1...2 * Self.day))
    }
    for app in Self.appsThatAsk {
      agenda.add(.visit(app), at: now)
      agenda.add(.rotateTokens(app), at: now + between(1...2 * Self.day))
    }
    agenda.add(.rotateStripe(Self.stormyApp), at: now + between(1...4 * Self.day))
    for place in [Place.stripe(Self.stormyApp), .provider(Self.stormyApp), .receiver] {
      agenda.add(.changeWeatherAt(place), at: now)
    }
  }

  private func heal() {
    isHealed = true
    database?.heal()
    disk.heal()
    for app in Self.apps {
      destinations.change(app) { site in
        site.weather = .fine
        site.key = keys[app] ?? ""
      }
      stripe.change(app, weather: .fine)
      noteStripe(app, .fine)
      stripe.move(app, to: stripeGenerations[app] ?? 0)
      provider.change(app, weather: .fine, now: now)
    }
    receivers.change(weather: .fine)
    receiverFineSince = now
  }

  /// One life of the relay: from its start to this time, or to its death.
  func runRelay(until end: Int64) throws {
    let isDead = try liveOnce(until: end)
    drainReplies(areLost: isDead && oneIn(2))
    unanswered.forEach(fail)
    unanswered = []
    for transport in [network, stripeNetwork, keyNetwork, alertNetwork] { transport.cut() }
    provider.forget()
    alerts.forget()
    database?.endRelay()
    if disk.isPowerCut || (isDead && oneIn(2)) {
      disk.crash(random: &random)
    } else {
      disk.kill()
    }
    if isDead {
      crashes += 1
      stayDown(until: now + (oneIn(12) ? between(1...20 * Self.hour) : between(1...20 * Self.second)))
    }
  }

  /// - Returns: whether it died.
  private func liveOnce(until end: Int64) throws -> Bool {
    let dependencies = dependencies()
    let engine = engine(dependencies)
    let core = try RelayCore(configuration, engine, dependencies)
    core.readiness.clear(.starting)
    let sources = AlertSources(
      metrics: core.metrics, committer: core.committer, freeBytes: { nil },
      unreadiness: { [readiness = core.readiness] in readiness.reasons().map(\.text) })
    let alerter = Alerter(
      try AlertPlan(configuration), sources: sources, transport: alertNetwork,
      reader: try RelayCore.reader(engine), dependencies: dependencies.shared, ownership: core.ownership)
    upSince = now
    lives += 1
    lookups.forget(now: now)
    let eye = try reader()
    self.eye = eye
    defer { self.eye = nil }
    let relay = SimulatedRelay(core: core, alerter: alerter, dependencies: dependencies.shared)
    let life = try RelayLife(self, relay, eye)
    try life.live(until: end)
    return life.isDead
  }

  private func engine(_ dependencies: RelayDependencies) -> any StoreEngine {
    if let database { return NetworkEngine(path: disk.path(), keySizes: Life.keySizes, database) }
    var services = SQLiteEngine.Services()
    services.keySizes = Life.keySizes
    return SQLiteEngine(
      owner: disk.path(), services: services, reserve: EndlessSpace(), log: dependencies.log,
      onSyncFailure: dependencies.onSyncFailure)
  }

  private func dependencies() -> RelayDependencies {
    RelayDependencies(
      shared: Dependencies(
        log: log(), clock: clock,
        random: SeededGenerator(seed: random.next()), lookInterval: .milliseconds(lookInterval)),
      transport: network, lookupTransport: stripeNetwork, keyTransport: keyNetwork,
      onSyncFailure: { _ in }, noteServiceInterval: .hours(1), holdPause: .zero)
  }

  /// The relay is down; the world continues.
  private func stayDown(until end: Int64) {
    isLongDown = end - now > Self.missing
    if isLongDown { for _ in 0..<3 { agenda.add(.buy, at: between(now...end)) } }
    downs.append(now...end)
    while let next = agenda.nextAt, next <= end {
      clock.advance(toMonotonic: next)
      while let act = agenda.next(until: now) { perform(act) }
    }
    clock.advance(toMonotonic: end)
    isLongDown = false
  }
}
