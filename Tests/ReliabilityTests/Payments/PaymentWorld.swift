// A world with one relay that is the merchant's backend: customers start payments through it, processors
// fail, lie and answer late, and the relay dies at any point. One seed determines everything. One thread.

import Domain
import Formats
import Platform
import SimulatedDisk

@testable import Config
@testable import Partners
@testable import Sandbox

/// The relay's environment, and its faults.
final class PaymentWorld: SimulatedStage {
  /// The possible acts.
  enum Act {
    case shop
    /// The app orders to start a payment.
    case start(Int, attempts: Int)
    /// The customer acts at the processor.
    case decide(Int)
    case capture(Int, attempts: Int)
    case callBack(app: String, SandboxSwedbankCallback, attempts: Int)
    /// The merchant pays the money back.
    case reverse(Int)
    case changeWeather(String)
    /// The wall clock is set, and later back.
    case setClock(Int64)
    /// A new configuration; the stormy app may lose Afterpay for a while.
    case reload(hasAfterpay: Bool)
  }

  static let apps = ["calm", "stormy"]
  static let stormyApp = "stormy"
  static let second: Int64 = 1000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  /// At the end, so that everything can finish.
  static let quietDays: Int64 = 8

  let seed: UInt64
  var random: SeededGenerator
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  let processors: SimulatedProcessors
  let backends: SimulatedBackends
  // One network for each worker of the relay.
  let requestNetwork: SimulatedTransport
  let captureNetwork: SimulatedTransport
  let lookupNetwork: SimulatedTransport
  let deliveryNetwork: SimulatedTransport
  var agenda = Agenda<Act>()
  var shoppers: [Shopper] = []
  /// Answers in transit, by the number of the request; nil for a problem of the relay.
  let mailbox = Monitor<[(request: Int, answer: BackendAnswer?)]>([])
  /// Requests that the relay has not answered, and when they were sent.
  var unanswered: [Int: (act: Act, at: Int64)] = [:]
  var requests = 0
  /// Orders whose reversal was reported to the relay.
  var reportedReversals: Set<String> = []
  /// Whether the stormy app's configuration has Afterpay.
  var hasAfterpay = true
  /// When the wall clock was last set.
  var clockSetAt: Int64 = 0
  var isHealed = false
  var crashes = 0
  var steps = 0
  var faults: [String] = []

  init(seed: UInt64) throws {
    self.seed = seed
    random = SeededGenerator(seed: seed)
    disk = SimulatedDisk(seed: seed)
    processors = SimulatedProcessors(clock, seed: seed, apps: Self.apps)
    backends = SimulatedBackends(seed: ~seed)
    requestNetwork = SimulatedTransport(clock, to: processors)
    captureNetwork = SimulatedTransport(clock, to: processors)
    lookupNetwork = SimulatedTransport(clock, to: processors)
    deliveryNetwork = SimulatedTransport(clock, to: backends)
  }

  var isTroubled: Bool { !isHealed }

  var configuration: Configuration {
    Configuration(
      database: .file(disk.path()),
      retention: .init(contexts: .days(90), events: .days(90), attempts: .days(90), receipts: .days(90)),
      apps: Self.apps.map(app))
  }

  private func app(_ name: String) -> AppConfiguration {
    var swedbank = SwedbankSection(merchantToken: Secret(SimulatedProcessors.token), payeeID: "payee-1")
    swedbank.settings.apiBase = SimulatedProcessors.base("swedbank", name)
    swedbank.publicOrigin = try? WebOrigin("https://pay.example.com")
    // The stormy app leaves captures to the relay.
    swedbank.capture = name == Self.stormyApp ? .auto : .merchant
    var sections: [any ProcessorSection] = [swedbank]
    if let region = AfterpayRegion("US"), let dollars = Currency("USD"), name != Self.stormyApp || hasAfterpay
    {
      let settings = AfterpaySettings(
        apiBase: SimulatedProcessors.base("afterpay", name), merchantID: SimulatedProcessors.merchant,
        region: region, currency: dollars, confirmURL: "shop://confirmed", cancelURL: "shop://cancelled",
        prices: ["gold": Money(minorUnits: 5999, dollars)])
      sections.append(AfterpaySection(secret: Secret(SimulatedProcessors.secret), settings: settings))
    }
    return AppConfiguration(
      slug: AppSlug(name), client: .restricted(keys: [Secret("client-key")], tokens: nil),
      processors: sections.map { ConfiguredProcessor(section: $0) }, purchasely: nil,
      webhook: .init(url: SimulatedBackends.url(of: name), secrets: [Secret("whsec_\(Self.secretText)")]),
      join: JoinPolicy(waitForContext: .minutes(1)),
      delivery: DeliveryPolicy(breaker: BreakerPolicy(openFor: .minutes(5))))
  }

  /// 24 bytes in base64.
  private static let secretText = "MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1u"
}
