// A world with one relay: the real rules and the real store on a simulated disk, network and clock. One seed
// determines everything. One thread.

import Domain
import Formats
import Platform
import SQLiteStore
import SimulatedDisk

@testable import Config
@testable import Partners

/// The relay's environment, and its faults.
final class SimulatedWorld: SimulatedStage {
  /// The possible acts.
  enum Act {
    /// A random change of the weather at a `SimulatedWorld.Place`.
    case changeWeatherAt(Place)
    case rotateStripe(String)
    case rotateTokens(String)
    case visit(String)
    case knock(String, KnockingToken, attempts: Int)
    /// A purchase; the next one follows after a while.
    case shop
    case buy
    case post(story: Int, context: Int, attempts: Int)
    case send(story: Int, event: Int, attempts: Int)
    case changeWeather(String)
    case rotateKey(String)
    case operate
    case reload
    case setClock
    case jump(Int64)
    case weather(String, Weather)
  }

  /// The places with their own weather, besides the destinations.
  enum Place {
    case stripe(String), provider(String), receiver
  }

  /// The relay's answer, or its absence.
  enum Reply: Sendable {
    case context(story: Int, index: Int, attempts: Int, id: String?)
    case event(story: Int, index: Int, attempts: Int, isTaken: Bool)
  }

  /// An app without trouble: troubles of other apps must not delay it (R11).
  static let calmApp = "calm"
  static let stormyApp = "stormy"
  /// An app whose purchases go to two destinations.
  static let doubleApp = "double"
  static let apps = [calmApp, stormyApp, "other", doubleApp]
  /// The apps with a key for Stripe's API, and with tokens.
  static let appsThatAsk = [calmApp, stormyApp]
  static let second: Int64 = 1000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  /// After this downtime the relay fetches missed events.
  static let missing = 10 * minute
  /// At the end, so that everything can finish.
  static let quietDays: Int64 = 6

  let seed: UInt64
  var random: SeededGenerator
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  // The servers outside, each with the network to it.
  let destinations: SimulatedDestinations
  let network: SimulatedTransport
  let stripe: SimulatedStripe
  let stripeNetwork: SimulatedTransport
  let provider: SimulatedIdentityProvider
  let keyNetwork: SimulatedTransport
  let receivers: SimulatedReceivers
  let alertNetwork: SimulatedTransport
  /// Whether the wall clock is set again and again.
  let hasWildClock: Bool
  /// What the database does as a server behind a network, with other relays; nil for SQLite alone.
  let database: SharedDatabase?
  var agenda = Agenda<Act>()
  var stories: [Story] = []
  var events: [[SentEvent]] = []
  /// The connection that reads the running relay's database.
  var eye: SQLiteStore.Connection?
  // The models.
  var memory = Memory()
  var deliveries = DeliveryMemory()
  var jobs = JobMemory()
  var lookups = LookupMemory()
  var alerts = AlertMemory()
  /// The relay's decisions about tokens that are not checked yet.
  let knocks = Monitor<[(app: String, token: KnockingToken, attempts: Int, isAccepted: Bool)]>([])
  /// Answers in transit.
  let mailbox = Monitor<[Reply]>([])
  /// Requests that the relay has not answered.
  var unanswered: [Act] = []
  var keys: [String: String] = [:]
  /// The generation of Stripe's address and key in the configuration, by app.
  var stripeGenerations: [String: Int] = [:]
  var rate = 50.0
  /// Whether crashes and bad weather have ended.
  var isHealed = false
  var lookInterval = hour
  var crashes = 0
  /// The number of the relay's present life.
  var lives = 0
  var steps = 0
  var upSince: Int64 = 0
  /// When the wall clock was last set.
  var clockSetAt: Int64 = 0
  /// Receipts that another relay, or a commit whose answer was lost, has changed: the relay may find that
  /// late.
  var unannounced: Set<String> = []
  /// With which right the relay last sent alerts.
  var dutyEpoch: Int64?
  /// When the troubles were last looked for.
  var troublesCheckedAt: Int64 = 0
  /// When the relay was down, and whether the current downtime is long enough for a backfill.
  var downs: [ClosedRange<Int64>] = []
  var isLongDown = false
  /// Since when the alert address with weather is healthy.
  var receiverFineSince: Int64? = 0
  /// Since when Stripe answers an app's questions; no entry while it does not. In the future while the relay
  /// rests because Stripe asked it to, or has an outdated key.
  var stripeFineSince = Dictionary(uniqueKeysWithValues: SimulatedWorld.appsThatAsk.map { ($0, Int64(0)) })
  var stripeRestsUntil: [String: Int64] = [:]

  /// An event that Stripe sends until it is accepted.
  struct SentEvent {
    var id: String
    var body: [UInt8]
    var madeAt: Int64 = 0
  }

  /// - Parameter isNetworked: whether the relay is one of several on a database behind a network.
  init(seed: UInt64, hasWildClock: Bool = false, isNetworked: Bool = false) throws {
    self.seed = seed
    self.hasWildClock = hasWildClock
    database = isNetworked ? SharedDatabase(seed: seed &* 3, clock: clock, apps: Self.apps) : nil
    if isNetworked { alerts.blindTime = SharedDatabase.outageMax }
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

  /// Whether faults happen.
  var isTroubled: Bool { !isHealed }

  var configuration: Configuration {
    // With a clock that runs years ahead everything is old enough to be deleted, so retention is much longer
    // then.
    let factor: Int64 = hasWildClock ? 10_000 : 1
    let retention = Configuration.Retention(
      contexts: .days(8 * factor), events: .days(8 * factor),
      attempts: .days(3 * factor), receipts: .days(14 * factor))
    let apps = Self.apps.map { app in
      var configured = AppConfiguration(
        slug: AppSlug(app), client: client(of: app), stripe: stripe(of: app),
        purchasely: .init(url: SimulatedDestinations.url(of: app), apiKey: Secret(keys[app] ?? "")),
        delivery: DeliveryPolicy(
          concurrency: 4, ratePerSecond: app == Self.calmApp ? 50 : rate,
          breaker: BreakerPolicy(openFor: .minutes(30))))
      if app == Self.doubleApp {
        let key = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
        configured.webhook = .init(url: SimulatedDestinations.webhookURL(of: app), secrets: [Secret(key)])
      }
      return configured
    }
    let alerts = [SimulatedReceivers.calm, SimulatedReceivers.stormy].map { receiver in
      Configuration.Alert(
        to: Secret(SimulatedReceivers.url(receiver)), on: Self.conditions,
        every: .milliseconds(AlertMemory.every))
    }
    let heartbeat = Configuration.Heartbeat(
      to: Secret(SimulatedReceivers.url(SimulatedReceivers.heartbeat)), every: .hours(1))
    return Configuration(
      database: .file(disk.path()), retention: retention, apps: apps, alerts: alerts, heartbeat: heartbeat)
  }

  private func client(of app: String) -> AppConfiguration.ClientAccess {
    guard Self.appsThatAsk.contains(app) else { return .open }
    let url = SimulatedIdentityProvider.url(of: app)
    return .restricted(
      keys: [Secret("client-key")], tokens: .init(rules: TokenPool.rules, keys: .fetched(url: url)))
  }

  private func stripe(of app: String) -> StripeSection {
    // Some stories post no context.
    var stripe = StripeSection(webhookSecrets: [Secret("whsec_simulated")], reference: .user)
    if app == Self.doubleApp { stripe.deliverTo = DeliverTo("purchasely", SimulatedDestinations.webhook) }
    guard Self.appsThatAsk.contains(app) else { return stripe }
    let generation = stripeGenerations[app] ?? 0
    stripe.apiKey = Secret(SimulatedStripe.key(app, generation))
    stripe.settings.apiBase = SimulatedStripe.base(app, generation)
    stripe.backfill = .auto
    stripe.backfillAfter = .milliseconds(Self.missing)
    return stripe
  }
}

/// A reserve for a disk that is never full.
struct EndlessSpace: SpaceReserve {
  func acquire() -> SpaceAcquired { .held }
  func release() {}
}
