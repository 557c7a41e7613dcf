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
  /// The processors that may report to it, by name. A new processor is one line here.
  public let processors: [ProcessorName: any PaymentProcessor]
  public let destination: any ReceiptDestination
  public let join: JoinPolicy
  public let delivery: DeliveryPolicy
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
    let stripe = configuration.stripe
    let processor = try StripeProcessor(
      Self.stripeSettings(
        of: configuration, webhookSecrets: try stripe.webhookSecrets.map { try $0.reveal() }))
    processors = [StripeProcessor.name: processor]
    var enquiries: [ProcessorName: Enquiry] = [:]
    for (name, processor) in processors {
      enquiries[name] = Enquiry(app: configuration.slug, processorName: name, processor)
    }
    self.enquiries = enquiries
    backfillAfterMilliseconds =
      stripe.backfill == .auto ? [StripeProcessor.name: stripe.backfillAfterMilliseconds] : [:]
    destination = try Self.destination(of: configuration)
    links = configuration.links
    apiKeyRefresh = configuration.purchasely.apiKey.refresh
    webhookRefresh = configuration.webhookSecretRefresh
    join = configuration.join
    delivery = configuration.delivery
  }

  /// - Throws: `Fault` when the key cannot be read.
  static func stripeSettings(
    of configuration: AppConfiguration, webhookSecrets: [String]
  ) throws -> StripeSettings {
    let stripe = configuration.stripe
    return StripeSettings(
      webhookSecrets: webhookSecrets, toleranceMilliseconds: stripe.toleranceMilliseconds,
      livemode: .init(stripe.livemode), userKeys: stripe.userKeys, accounts: .init(stripe.connect),
      apiKey: try stripe.apiKey?.reveal(), apiBase: stripe.apiBase)
  }

  /// The app's destination. A new kind of destination is chosen here.
  private static func destination(of configuration: AppConfiguration) throws -> any ReceiptDestination {
    PurchaselyDestination(
      PurchaselySettings(
        url: configuration.purchasely.url, apiKey: try configuration.purchasely.apiKey.reveal(),
        forwardsContext: configuration.delivery.forwardContext, userAgent: Version.userAgent))
  }

  /// Whether its deliveries go elsewhere, or in another name, than another configuration's.
  public func speaksDifferently(from other: App) -> Bool {
    destination.url != other.destination.url
      || !destination.headers.elementsEqual(other.destination.headers, by: ==)
  }

  /// What the store needs to know of the app.
  public var rules: AppRules {
    let destination = destination
    let processors = processors.mapValues { processor in
      type(of: processor).rules(isAsked: processor.queries != nil)
    }
    return AppRules(join: join, processors: processors, replayWindow: delivery.replayWindow) {
      destination.body(for: $0)
    }
  }

  /// What the store needs to know of an app whose secrets need not be known: receiptctl's view of it.
  public static func rules(of configuration: AppConfiguration) -> AppRules {
    let destination = PurchaselyDestination(
      PurchaselySettings(
        url: configuration.purchasely.url, apiKey: "", forwardsContext: configuration.delivery.forwardContext,
        userAgent: Version.userAgent))
    return AppRules(
      join: configuration.join,
      processors: [StripeProcessor.name: StripeProcessor.rules(isAsked: configuration.stripe.apiKey != nil)],
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

extension StripeSettings.Livemode {
  init(_ livemode: AppConfiguration.Stripe.Livemode) {
    self =
      switch livemode {
      case .any: .any
      case .live: .live
      case .test: .test
      }
  }
}

extension StripeSettings.Accounts {
  init(_ connect: AppConfiguration.Stripe.Connect) {
    self =
      switch connect {
      case .none: .own
      case .any: .any
      case .accounts(let accounts): .ownAnd(accounts)
      }
  }
}
