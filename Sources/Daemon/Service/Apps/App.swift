// One app at run time: its configuration with the objects that implement it. Immutable.

public import Config
internal import Cryptography
public import Domain
public import HTTPClient
public import HTTPServer
public import Partners
internal import Platform
public import Reports
public import Store

/// One configured app, ready to serve. A class, because every request reads one.
public final class App: Sendable {
  public let slug: AppSlug
  /// The valid client keys; nil if any client may post contexts.
  let clientKeys: [[UInt8]]?
  /// The header fields, beside the standard ones, in which a client may send a key.
  public let keyHeaders: [String]
  /// The origins of the web pages that may post contexts and read their states.
  public let clientOrigins: Set<String>
  /// What is no user's id.
  public let userIDs: UserIDRules
  /// Nil if the app accepts no tokens.
  public let tokens: TokenGate?
  /// The app's processors, by name.
  public let processors: [ProcessorName: any PaymentProcessor]
  /// The app's destinations.
  public let routes: [DeliveryRoute]
  private let configuration: AppConfiguration
  public let join: JoinPolicy
  public let delivery: DeliveryPolicy
  /// How customers give purchases without a user to their accounts.
  public let claims: ClaimPolicy
  /// The app's access to the APIs of processors; without those that have no API key.
  public let apis: [ProcessorName: ProcessorAPI]
  /// The shortest downtime of receiptd after which a processor's events are fetched; no entry for never.
  public let backfillAfter: [ProcessorName: Duration]
  /// The links to the checkout and back; nil if none are configured.
  public let links: AppConfiguration.Links?
  /// What to do when the webhooks of each processor are refused.
  public let webhookAdvice: [ProcessorName: WebhookAdvice]
  /// What to do when the API of each processor refuses the app's credentials.
  public let processorAdvice: [ProcessorName: ProcessorAdvice]

  /// - Throws: `Fault` if a secret cannot be read.
  public init(_ configuration: AppConfiguration) throws {
    slug = configuration.slug
    clientOrigins = configuration.clientOriginTexts
    userIDs = configuration.userIDs
    switch configuration.client {
    case .open: (clientKeys, tokens, keyHeaders) = (nil, nil, [])
    case .restricted(let keys, let tokens, let headers):
      keyHeaders = headers
      clientKeys = try keys.map { Array(try $0.reveal().utf8) }
      self.tokens = try tokens.map { try TokenGate($0, app: configuration.slug) }
    }
    let sections = configuration.processors.map(\.section)
    processors = try Dictionary(
      uniqueKeysWithValues: sections.map {
        (
          $0.kind.name,
          try $0.makeProcessor(for: .serving, in: configuration, userAgent: Version.userAgent)
        )
      })
    var apis: [ProcessorName: ProcessorAPI] = [:]
    for (name, processor) in processors {
      apis[name] = ProcessorAPI(
        app: configuration.slug, processorName: name, processor, rules: configuration.rules(of: name))
    }
    self.apis = apis
    backfillAfter = Dictionary(
      uniqueKeysWithValues: sections.compactMap { section in
        section.backfillsAfter.map { (section.kind.name, $0) }
      })
    routes = try DeliveryRoute.all(configuration, revealsSecrets: true)
    self.configuration = configuration
    links = configuration.links
    webhookAdvice = configuration.webhookAdvice
    processorAdvice = configuration.processorAdvice
    join = configuration.join
    delivery = configuration.delivery
    claims = configuration.claims
  }

  /// The destinations that the app has for a purchase.
  public func destinations(of key: PurchaseKey) -> PurchaseDestinations {
    configuration.destinations(of: key)
  }

  /// The display name of one of its processors; nil if it does not have it.
  public func label(of processor: ProcessorName) -> String? { configuration.label(of: processor) }

  /// The page about an object in the dashboard of its processor; nil if there is none.
  /// - Parameter others: further ids of the same purchase.
  public func portalPage(of id: String, beside others: [String], at processor: ProcessorName) -> String? {
    processors[processor]?.portalPage(of: id, beside: others)
  }

  /// The properties of a processor that the join needs.
  public func rules(of processor: ProcessorName) -> ProcessorRules { configuration.rules(of: processor) }

  /// The app's rules for the store.
  public var rules: AppRules { Self.rules(of: configuration, routes) }

  /// The app's rules for the store without its secrets, for receiptctl.
  /// - Throws: an error if a destination cannot be made without its secrets.
  public static func rules(of configuration: AppConfiguration) throws -> AppRules {
    rules(of: configuration, try DeliveryRoute.all(configuration, revealsSecrets: false))
  }

  private static func rules(of configuration: AppConfiguration, _ routes: [DeliveryRoute]) -> AppRules {
    // The store asks several times for each event.
    let configured = Dictionary(
      uniqueKeysWithValues: configuration.processors.map { ($0.name, configuration.destination(of: $0.name)) }
    )
    let byName = Dictionary(uniqueKeysWithValues: routes.map { ($0.name, $0.destination) })
    var rules = AppRules(
      join: configuration.join, processors: configuration.processorRules,
      replayWindow: configuration.delivery.replayWindow, destinations: Set(byName.keys),
      destination: { configured[$0] ?? configuration.destination(of: $0) },
      compose: { content, name in byName[name]?.body(for: content) },
      composeReversal: { content, name in byName[name]?.reversal(of: content) })
    rules.exclusions = configuration.exclusions
    let second = Dictionary(
      uniqueKeysWithValues: configuration.processors.map {
        ($0.name, configuration.secondDestination(of: $0.name))
      })
    rules.secondDestination = { second[$0] ?? nil }
    rules.announcesClaims = configuration.claims.announces && configuration.webhook != nil
    return rules
  }

  /// Whether clients need a key or a token.
  public var isRestricted: Bool { clientKeys != nil }

  public var hasKeys: Bool { clientKeys?.isEmpty == false }

  /// Whether this key permits posting contexts. Every key is compared, each in constant time.
  public func accepts(clientKey shown: [UInt8]?) -> Bool {
    guard let clientKeys else { return true }
    guard let shown else { return false }
    var matches = false
    for key in clientKeys where constantTimeEqual(key, shown) { matches = true }
    return matches
  }
}

/// All configured apps, by slug.
public struct AppDirectory: Sendable {
  public let apps: [AppSlug: App]
  public init(_ configuration: Configuration) throws {
    apps = Dictionary(uniqueKeysWithValues: try configuration.apps.map { ($0.slug, try App($0)) })
  }

  public subscript(slug: AppSlug) -> App? { apps[slug] }

  public var slugs: [AppSlug] { apps.keys.sorted() }

  /// The shortest age at which a processor refuses a signature; nil if none has a time.
  public var signatureAgeMax: Duration? {
    apps.values.flatMap(\.processors.values).compactMap(\.signatureAgeMax).min()
  }

  /// Each app with each of its processors.
  public var places: [AppProcessor] {
    apps.values.flatMap { app in app.processors.keys.map { AppProcessor(app.slug, $0) } }
  }

  /// The processors of all apps.
  public var processorNames: Set<ProcessorName> { Set(apps.values.flatMap(\.processors.keys)) }

  public var rules: [AppSlug: AppRules] { apps.mapValues(\.rules) }

  /// How many replays of each app may be due at once.
  public var replayWindows: [AppSlug: Int] { apps.mapValues(\.delivery.replayWindow) }
}

// MARK: - AppRegistry

// The current apps. A reload replaces all of them at once. Thread-safe.

/// Holds the current apps.
public final class AppRegistry: Sendable {
  private let directory: Monitor<AppDirectory>

  public init(_ directory: AppDirectory) { self.directory = Monitor(directory) }

  public var current: AppDirectory { directory.withLock { $0 } }

  public func replace(with new: AppDirectory) { directory.withLock { $0 = new } }
}

// MARK: - Visit

// Finds the app that a request's path names. Called from any thread.

extension AppRegistry {
  /// The app of the path's segment `{app}`.
  public func app(of visit: Visit) throws(Problem) -> App {
    guard let app = visit["app"].flatMap({ current[AppSlug($0)] }) else { throw .unknownApp }
    return app
  }

  /// Makes a handler that uses the app's configuration at the time when the request is complete: a reload may
  /// have changed or removed the app while the body arrived.
  public func handler(
    of slug: AppSlug, _ handle: @escaping @Sendable (Request, App, Exchange) -> Void
  ) -> Route.Handler {
    { request, exchange in
      guard let app = self.current[slug] else { return exchange.answer(.unknownApp) }
      handle(request, app, exchange)
    }
  }
}

// MARK: - DeliveryRoute

// A destination of an app's receipts. A value; any thread.

/// One destination of an app, ready to get receipts.
public struct DeliveryRoute: Sendable {
  public let name: DestinationName
  public let destination: any ReceiptDestination
  /// What to do when it refuses the app's configuration.
  public let advice: DestinationAdvice

  static func all(_ app: AppConfiguration, revealsSecrets: Bool) throws -> [DeliveryRoute] {
    try app.destinationKinds.compactMap { kind in
      guard
        let destination = try kind.make(app, revealsSecrets: revealsSecrets, userAgent: Version.userAgent),
        let advice = kind.advice(app)
      else { return nil }
      return DeliveryRoute(name: kind.name, destination: destination, advice: advice)
    }
  }

  /// Whether deliveries use another URL or other headers than another route.
  public func differs(from other: DeliveryRoute) -> Bool { !destination.equals(other.destination) }
}

extension TransferRequest {
  /// The same request with a destination's certificates.
  public func with(_ certificates: DestinationCertificates) -> TransferRequest {
    var request = self
    request.certificateAuthorityFile = certificates.authorities
    (request.clientCertificateFile, request.clientKeyFile) = (certificates.client, certificates.clientKey)
    return request
  }
}
