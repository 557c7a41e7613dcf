// One app at run time: its configuration turned into the things that do the work. Never changes; any thread.

public import Configuration
internal import Cryptography
public import Destinations
public import Domain
public import Presentation
public import Processors
public import Store
internal import Telemetry

/// One configured app, ready to serve. An object, because every request asks for one.
public final class App: Sendable {
  public let slug: String
  /// The keys that clients may show; nil when anyone may post contexts.
  let clientKeys: [[UInt8]]?
  /// Nil where no token lets anybody in.
  public let tokens: TokenGate?
  /// The processors that may report to it, by name.
  public let processors: [ProcessorName: any PaymentProcessor]
  public let destination: any ReceiptDestination
  public let join: JoinPolicy
  public let delivery: DeliveryPolicy
  /// What the rules of the join must know of them.
  private let processorRules: [ProcessorName: ProcessorRules]
  /// For asking the processors; none without a key for it.
  public let enquiries: [ProcessorName: Enquiry]
  /// After how long a time in which receiptd was down a processor's events are fetched; none for never.
  public let backfillAfterMilliseconds: [ProcessorName: Int64]
  /// The way to the checkout and back; nil where the relay leads nobody anywhere.
  public let links: AppConfiguration.Links?
  /// How a new key of the destination takes effect.
  public let apiKeyRefresh: SecretRefresh
  /// How a new secret of the processor's webhooks does.
  public let webhookRefresh: SecretRefresh

  /// - Throws: `Fault` when a secret could not be read.
  public init(_ configuration: AppConfiguration) throws {
    slug = configuration.slug
    switch configuration.client {
    case .open: (clientKeys, tokens) = (nil, nil)
    case .restricted(let keys, let tokens):
      clientKeys = try keys.map { Array(try $0.reveal().utf8) }
      self.tokens = try tokens.map { try TokenGate($0, app: configuration.slug) }
    }
    let sections = configuration.processors.map(\.section)
    processors = try Dictionary(
      uniqueKeysWithValues: sections.map { ($0.kind.name, try $0.makeProcessor(for: .serving)) })
    var enquiries: [ProcessorName: Enquiry] = [:]
    for (name, processor) in processors {
      enquiries[name] = Enquiry(app: configuration.slug, processorName: name, processor)
    }
    self.enquiries = enquiries
    backfillAfterMilliseconds = Dictionary(
      uniqueKeysWithValues: sections.compactMap { section in
        section.backfillAfterMilliseconds.map { (section.kind.name, $0) }
      })
    destination = try DestinationKind.of(configuration).make(
      configuration, revealsSecrets: true, userAgent: Version.userAgent)
    links = configuration.links
    apiKeyRefresh = configuration.purchasely.apiKey.refresh
    webhookRefresh = configuration.webhookSecretRefresh
    processorRules = configuration.processorRules
    join = configuration.join
    delivery = configuration.delivery
  }

  /// Whether its deliveries go elsewhere, or in another name, than another configuration's.
  public func speaksDifferently(from other: App) -> Bool {
    destination.url != other.destination.url
      || !destination.headers.elementsEqual(other.destination.headers, by: ==)
  }

  /// What the store needs to know of the app.
  public var rules: AppRules {
    let destination = destination
    return AppRules(join: join, processors: processorRules, replayWindow: delivery.replayWindow) {
      destination.body(for: $0)
    }
  }

  /// What the store needs to know of an app whose secrets need not be known: receiptctl's view of it.
  /// - Throws: when the destination cannot be made without its secrets.
  public static func rules(of configuration: AppConfiguration) throws -> AppRules {
    let destination = try DestinationKind.of(configuration).make(
      configuration, revealsSecrets: false, userAgent: Version.userAgent)
    return AppRules(
      join: configuration.join, processors: configuration.processorRules,
      replayWindow: configuration.delivery.replayWindow
    ) {
      destination.body(for: $0)
    }
  }

  /// Whether a client has to show something.
  public var isRestricted: Bool { clientKeys != nil }

  public var hasKeys: Bool { clientKeys?.isEmpty == false }

  /// Whether a client that shows this key may post contexts. Every key is compared, each in constant time.
  public func accepts(clientKey shown: [UInt8]?) -> Bool {
    guard let clientKeys else { return true }
    guard let shown else { return false }
    var matches = false
    for key in clientKeys where constantTimeEqual(key, shown) { matches = true }
    return matches
  }
}

/// Every configured app, by slug.
public struct AppDirectory: Sendable {
  public let apps: [String: App]
  public init(_ configuration: Configuration) throws {
    apps = Dictionary(uniqueKeysWithValues: try configuration.apps.map { ($0.slug, try App($0)) })
  }

  public subscript(slug: String) -> App? { apps[slug] }

  public var slugs: [String] { apps.keys.sorted() }

  public var rules: [String: AppRules] { apps.mapValues(\.rules) }

  /// How many replays of each app may be due at once.
  public var replayWindows: [String: Int] { apps.mapValues(\.delivery.replayWindow) }
}
