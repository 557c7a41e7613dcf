// A world with one relay in it, made of the real rules and the real store on a simulated disk, network and
// clock. Everything that happens is drawn from one seed. One thread.

@testable import Configuration
@testable import Delivery
import Domain
import Platform
import SQLiteStore
import SimulatedDisk
import Store

@testable import Relay

/// The world outside of the relay, and the relay's fate.
final class SimulatedWorld {
  /// What may happen.
  enum Act {
    case shop
    case post(story: Int, context: Int, tries: Int)
    case send(story: Int, event: Int, tries: Int)
    case changeWeather(String)
    case rotateKey(String)
    case operate
    case reload
    case setClock
    case jump(Int64)
    case weather(String, Weather)
  }

  /// What the relay answered, or that it did not.
  enum Reply: Sendable {
    case context(story: Int, index: Int, tries: Int, id: String?)
    case event(story: Int, index: Int, tries: Int, isTaken: Bool)
  }

  /// An app that has no trouble of its own: nothing that befalls the others may delay it (R11).
  static let calmApp = "calm"
  static let apps = [calmApp, "stormy", "other"]
  static let second: Int64 = 1000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  /// At the end, so that everything comes to its end.
  static let quietDays: Int64 = 6

  let seed: UInt64
  var random: SeededGenerator
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  let network: SimulatedNetwork
  /// Whether somebody keeps setting the wall clock.
  let hasWildClock: Bool
  var agenda = Agenda<Act>()
  var stories: [Story] = []
  var events: [[SentEvent]] = []
  var memory = Memory()
  /// Answers on their way back.
  let mailbox = Monitor<[Reply]>([])
  /// Requests that the relay has not answered.
  var unanswered: [Act] = []
  var keys: [String: String] = [:]
  var rate = 50.0
  /// Whether crashes and bad weather are over.
  var isHealed = false
  var lookInterval = hour
  var crashes = 0
  var steps = 0
  var upSince: Int64 = 0

  /// An event that Stripe keeps sending until it is taken.
  struct SentEvent {
    var id: String
    var body: [UInt8]
  }

  init(seed: UInt64, hasWildClock: Bool = false) {
    self.seed = seed
    self.hasWildClock = hasWildClock
    random = SeededGenerator(seed: seed)
    disk = SimulatedDisk(seed: seed)
    network = SimulatedNetwork(clock: clock, seed: ~seed)
    for app in Self.apps {
      keys[app] = "key-\(app)-0"
      network.change(app) { $0.key = "key-\(app)-0" }
    }
  }

  var now: Int64 { clock.monotonicMilliseconds }
  var wall: Int64 { clock.wallMilliseconds }

  func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
  func between(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &random) }

  var configuration: Configuration {
    // By a clock that runs years ahead everything is old enough to go; so with such a clock nothing goes.
    let factor: Int64 = hasWildClock ? 10_000 : 1
    let retention = Configuration.Retention(
      contextsMilliseconds: 8 * Self.day * factor, eventsMilliseconds: 8 * Self.day * factor,
      attemptsMilliseconds: 3 * Self.day * factor, receiptsMilliseconds: 14 * Self.day * factor)
    let apps = Self.apps.map { app in
      AppConfiguration(
        slug: app, client: .open, stripe: .init(webhookSecrets: [Secret("whsec_simulated")]),
        purchasely: .init(url: SimulatedNetwork.url(of: app), apiKey: Secret(keys[app] ?? "")),
        delivery: DeliveryPolicy(
          concurrency: 4, ratePerSecond: app == Self.calmApp ? 50 : rate,
          breaker: BreakerPolicy(openForMilliseconds: 30 * Self.minute)))
    }
    return Configuration(databasePath: disk.path(), retention: retention, apps: apps)
  }

  // MARK: The course of things

  /// Lets so many days go by, with everything that can happen, and then enough quiet ones for all to end
  /// well.
  func live(days: Int64) throws {
    let end = now + days * Self.day
    agenda.add(.shop, at: now)
    agenda.add(.operate, at: now + Self.hour)
    agenda.add(.reload, at: now + 5 * Self.hour)
    if hasWildClock { agenda.add(.setClock, at: now + between(1...Self.day)) }
    for app in Self.apps where app != Self.calmApp {
      agenda.add(.changeWeather(app), at: now)
      agenda.add(.rotateKey(app), at: now + between(1...2 * Self.day))
    }
    while now < end { try runRelay(until: end) }
    heal()
    try runRelay(until: now + (Self.quietDays - 2) * Self.day)
    try replayEverything()
    try runRelay(until: now + 2 * Self.day)
    compareEnds()
  }

  private func heal() {
    isHealed = true
    disk.heal()
    for app in Self.apps {
      network.change(app) { site in
        site.weather = .fine
        site.key = keys[app] ?? ""
      }
    }
  }

  /// One life of the relay: from its start to that moment, or to its death.
  func runRelay(until end: Int64) throws {
    let dependencies = RelayDependencies(
      shared: Dependencies(
        log: Log(level: .error, clock: clock) { _ in }, clock: clock,
        random: SeededGenerator(seed: random.next()), lookIntervalMilliseconds: lookInterval),
      transport: network, onSyncFailure: { _ in })
    let engine = SQLiteEngine(
      owner: disk.path(), reserve: EndlessSpace(), log: dependencies.log,
      onSyncFailure: dependencies.onSyncFailure)
    let core = try RelayCore(configuration, engine, dependencies)
    upSince = now
    var life = try RelayLife(self, core)
    var fault: (any Error)?
    core.dispatcher.drive { run in
      do { try life.live(&run, until: end) } catch { fault = error }
    }
    if let fault { throw fault }
    takeReplies(areLost: life.isDead && oneIn(2))
    unanswered.forEach(fail)
    unanswered = []
    network.cut()
    if disk.isPowerCut || (life.isDead && oneIn(2)) {
      disk.crash(random: &random)
    } else {
      disk.kill()
    }
    if life.isDead {
      crashes += 1
      clock.advance(toMonotonic: now + (oneIn(20) ? between(1...Self.day) : between(1...20 * Self.second)))
    }
  }
}

/// A disk of this simulation is never full.
struct EndlessSpace: SpaceReserve {
  func take() -> SpaceTaken { .held }
  func giveUp() {}
}
