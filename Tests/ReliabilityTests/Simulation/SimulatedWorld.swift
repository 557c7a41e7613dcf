// A world with one relay in it, made of the real rules and the real store on a simulated disk, network and
// clock. Everything that happens is drawn from one seed. One thread.

@testable import Configuration
import Domain
import Platform
@testable import Processors
import SQLite
import SimulatedDisk
import Store

@testable import Relay

/// The world outside of the relay, and the relay's fate.
final class SimulatedWorld {
  /// What may happen.
  enum Act {
    /// The weather changes at random where `SimulatedWorld.Place` says.
    case changeWeatherAt(Place)
    case rotateStripe(String)
    case rotateTokens(String)
    case visit(String)
    case knock(String, KnockingToken, tries: Int)
    /// Somebody buys; then, after a while, somebody else.
    case shop
    case buy
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

  /// What has weather of its own beside the destinations.
  enum Place {
    case stripe(String), provider(String), receiver
  }

  /// What the relay answered, or that it did not.
  enum Reply: Sendable {
    case context(story: Int, index: Int, tries: Int, id: String?)
    case event(story: Int, index: Int, tries: Int, isTaken: Bool)
  }

  /// An app that has no trouble of its own: nothing that befalls the others may delay it (R11).
  static let calmApp = "calm"
  static let stormyApp = "stormy"
  static let apps = [calmApp, stormyApp, "other"]
  /// Those that have a key for Stripe's API, and tokens.
  static let appsThatAsk = [calmApp, stormyApp]
  static let second: Int64 = 1000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  /// After how long a time in which it was down the relay fetches events.
  static let missingMilliseconds = 10 * minute
  /// At the end, so that everything comes to its end.
  static let quietDays: Int64 = 6

  let seed: UInt64
  var random: SeededGenerator
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  // What is outside, each with the network to it.
  let destinations: SimulatedDestinations
  let network: SimulatedTransport
  let stripe: SimulatedStripe
  let stripeNetwork: SimulatedTransport
  let provider: SimulatedIdentityProvider
  let keyNetwork: SimulatedTransport
  let receivers: SimulatedReceivers
  let alertNetwork: SimulatedTransport
  /// Whether somebody keeps setting the wall clock.
  let hasWildClock: Bool
  var agenda = Agenda<Act>()
  var stories: [Story] = []
  var events: [[SentEvent]] = []
  /// What the living relay's database is looked at through.
  var eye: SQLite.Connection?
  // What was promised and seen.
  var memory = Memory()
  var jobs = JobMemory()
  var lookUps = LookUpMemory()
  var alerts = AlertMemory()
  /// What the relay has decided about tokens, not looked at yet.
  let knocks = Monitor<[(app: String, token: KnockingToken, tries: Int, isAccepted: Bool)]>([])
  /// Answers on their way back.
  let mailbox = Monitor<[Reply]>([])
  /// Requests that the relay has not answered.
  var unanswered: [Act] = []
  var keys: [String: String] = [:]
  /// Which of Stripe's addresses and keys the configuration names.
  var stripeGenerations: [String: Int] = [:]
  var rate = 50.0
  /// Whether crashes and bad weather are over.
  var isHealed = false
  var lookInterval = hour
  var crashes = 0
  var steps = 0
  var upSince: Int64 = 0
  /// When the wall clock was last set.
  var clockSetAt: Int64 = 0
  /// When the relay was not there, and whether for so long that missing events are fetched.
  var downs: [ClosedRange<Int64>] = []
  var isLongDown = false
  /// From when on the address of alerts that has weather is well.
  var receiverFineSince: Int64? = 0

  /// An event that Stripe keeps sending until it is taken.
  struct SentEvent {
    var id: String
    var body: [UInt8]
    var madeAt: Int64 = 0
  }

  init(seed: UInt64, hasWildClock: Bool = false) throws {
    self.seed = seed
    self.hasWildClock = hasWildClock
    random = SeededGenerator(seed: seed)
    disk = SimulatedDisk(seed: seed)
    destinations = SimulatedDestinations(seed: ~seed)
    network = SimulatedTransport(clock, to: destinations)
    stripe = SimulatedStripe(seed: seed, apps: Self.appsThatAsk)
    stripeNetwork = SimulatedTransport(clock, to: stripe)
    provider = SimulatedIdentityProvider(seed: seed, pool: try TokenPool.made.get())
    keyNetwork = SimulatedTransport(clock, to: provider)
    receivers = SimulatedReceivers(seed: seed)
    alertNetwork = SimulatedTransport(clock, to: receivers)
    for app in Self.apps {
      keys[app] = "key-\(app)-0"
      destinations.change(app) { $0.key = "key-\(app)-0" }
    }
  }

  /// Whether things go wrong.
  var isTroubled: Bool { !isHealed }

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
        slug: app, client: client(of: app), stripe: stripe(of: app),
        purchasely: .init(url: SimulatedDestinations.url(of: app), apiKey: Secret(keys[app] ?? "")),
        delivery: DeliveryPolicy(
          concurrency: 4, ratePerSecond: app == Self.calmApp ? 50 : rate,
          breaker: BreakerPolicy(openForMilliseconds: 30 * Self.minute)))
    }
    let alerts = [SimulatedReceivers.calm, SimulatedReceivers.stormy].map { receiver in
      Configuration.Alert(
        to: Secret(SimulatedReceivers.url(receiver)), on: Self.conditions,
        everyMilliseconds: AlertMemory.everyMilliseconds)
    }
    let heartbeat = Configuration.Heartbeat(
      to: Secret(SimulatedReceivers.url(SimulatedReceivers.heartbeat)), everyMilliseconds: Self.hour)
    return Configuration(
      databasePath: disk.path(), retention: retention, apps: apps, alerts: alerts, heartbeat: heartbeat)
  }

  private func client(of app: String) -> AppConfiguration.ClientAccess {
    guard Self.appsThatAsk.contains(app) else { return .open }
    let url = SimulatedIdentityProvider.url(of: app)
    return .restricted(
      keys: [Secret("client-key")], tokens: .init(rules: TokenPool.rules, keys: .fetched(url: url)))
  }

  private func stripe(of app: String) -> StripeSection {
    var stripe = StripeSection(webhookSecrets: [Secret("whsec_simulated")])
    guard Self.appsThatAsk.contains(app) else { return stripe }
    let generation = stripeGenerations[app] ?? 0
    stripe.apiKey = Secret(SimulatedStripe.key(app, generation))
    stripe.settings.apiBase = SimulatedStripe.base(app, generation)
    stripe.backfill = .auto
    stripe.backfillAfter = Self.missingMilliseconds
    return stripe
  }
}

/// A disk of this simulation is never full.
struct EndlessSpace: SpaceReserve {
  func take() -> SpaceTaken { .held }
  func giveUp() {}
}
