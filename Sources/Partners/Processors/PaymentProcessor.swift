// What the relay requires of a payment processor. A processor translates events into purchases; it knows no
// destination, no store and no HTTP. A new one is a folder beside `Stripe`.

public import Domain

/// One app's view of a payment processor: how its webhooks are authenticated and what they mean.
public protocol PaymentProcessor: Sendable {
  /// Its name in URLs, rows and metrics.
  static var name: ProcessorName { get }

  /// Whether it sends webhooks. One that does not has no route for them.
  static var hasWebhooks: Bool { get }

  /// Whether the path of its webhooks ends in a secret that only the processor knows.
  static var hasPathToken: Bool { get }

  /// What messages to operators say about it.
  static var help: ProcessorHelp { get }

  /// The properties that the rules of the join need.
  /// - Parameter isAsked: whether the app has an API key for lookups.
  static func rules(isAsked: Bool) -> ProcessorRules

  /// How old a signature may be; nil if it has no time. A machine's clock must not be wrong by more.
  var signatureAgeMax: Duration? { get }

  /// Decides who sent a request, before any code parses its body (R6). Total.
  func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity

  /// Parses a body that was not refused. Total: returns a value for any bytes.
  func read(_ body: [UInt8], now: Timestamp) -> EventReading

  /// Why a stored event is `unparsed`; nil if it can be read. Independent of any configuration. Total.
  static func unreadable(in body: [UInt8]) -> ReadingFault?

  /// The rule by which a stored event's sale does not belong to the app; nil if the event does not decide it.
  /// Total.
  func foreignRule(in body: [UInt8]) -> String?

  /// What a body of an authenticated webhook names, for a search; independent of any configuration. Total.
  static func mentions(in body: [UInt8]) -> Mentions

  /// The types of events whose bodies can say what a customer bought.
  static var summaryTypes: Set<String> { get }

  /// What a body of an authenticated webhook says about what a customer bought; nil if nothing. Total.
  static func summary(in body: [UInt8]) -> PurchaseSummary?

  /// The URL of the page about an object in the processor's own dashboard, which begins with https; nil if it
  /// has no such page. Total.
  /// - Parameter others: further ids of the same purchase, which may show the mode of all of them.
  func portalPage(of id: String, beside others: [String]) -> String?

  /// The queries that the processor supports; nil when it has none, or when the app has no key for them.
  var queries: (any ProcessorQueries)? { get }

  /// The paths of its merchant backend; empty for a processor whose SDKs require none.
  static var backendEndpoints: [BackendEndpoint] { get }

  /// The type of its merchant backend, which puts errors into the form that its SDKs parse, also the error
  /// that an app is unknown; nil for a processor whose SDKs require none.
  static var backendType: (any MerchantBackend.Type)? { get }

  /// Its merchant backend; nil for a processor whose SDKs require none.
  var backend: (any MerchantBackend)? { get }

  /// The checkout pages that it makes for contexts; nil for a processor that makes none, or an app without
  /// them.
  var checkouts: (any HostedCheckouts)? { get }

  /// How it captures payments; nil for a processor whose payments the relay does not capture.
  var captures: (any PaymentCaptures)? { get }
}

extension PaymentProcessor {
  public static var hasWebhooks: Bool { true }

  public static var hasPathToken: Bool { false }

  public var signatureAgeMax: Duration? { nil }

  public static func unreadable(in body: [UInt8]) -> ReadingFault? { nil }

  public func foreignRule(in body: [UInt8]) -> String? { nil }

  public static func mentions(in body: [UInt8]) -> Mentions { Mentions() }

  public static var summaryTypes: Set<String> { [] }

  public static func summary(in body: [UInt8]) -> PurchaseSummary? { nil }

  public func portalPage(of id: String, beside others: [String]) -> String? { nil }

  public var queries: (any ProcessorQueries)? { nil }

  public static var backendEndpoints: [BackendEndpoint] { [] }

  public static var backendType: (any MerchantBackend.Type)? { nil }

  public var backend: (any MerchantBackend)? { nil }

  public var checkouts: (any HostedCheckouts)? { nil }

  public var captures: (any PaymentCaptures)? { nil }
}

/// A request to an app's address for a processor's webhooks.
public struct WebhookRequest: Sendable {
  private let headerValues: @Sendable (String) -> [String]
  private let clientAddress: @Sendable () -> String
  /// The raw bytes.
  public let body: [UInt8]
  /// The path segment after the processor's name; nil when there is none. Only a processor with
  /// `hasPathToken` gets requests with one.
  public let pathToken: String?

  public init(
    body: [UInt8], address: @autoclosure @escaping @Sendable () -> String, pathToken: String? = nil,
    headers: @escaping @Sendable (String) -> [String]
  ) {
    headerValues = headers
    self.body = body
    clientAddress = address
    self.pathToken = pathToken
  }

  /// The address of the client, behind the proxies that the configuration trusts.
  public var address: String { clientAddress() }

  /// The values of every header with this name, in order.
  public func headers(_ name: String) -> [String] { headerValues(name) }
}

/// The authenticity of a request.
public enum Authenticity: Sendable, Equatable {
  /// The processor sent it. The body is trusted.
  case genuine
  /// Anyone may have sent it. The body is only a hint that something happened to a purchase: if the purchase
  /// is known, the relay asks the processor.
  case hint
  /// The sender is wrong or unknown. Nothing of the request is stored.
  case refused(SignatureFault)
}

/// Why a signature was refused; the raw value is the metric's label.
public enum SignatureFault: String, Sendable, CaseIterable {
  /// There is no signature.
  case missing
  /// The header does not have the processor's format.
  case malformed
  /// No signature matches: a different secret, or a modified body.
  case mismatch
  /// The signature is correct, but too old.
  case stale
  /// The signature is correct, but its timestamp is in the future.
  case future
  /// The path's secret is wrong. The answer is 404, as for a path that does not exist.
  case path
  /// The body has a content coding, so it is not the one that was signed.
  case coded
  /// The client's address is not one of the processor's. The answer is 403.
  case sender
}

/// What an event is, and what it means.
public struct EventReading: Sendable, Equatable {
  /// What the relay should do with the event.
  public enum Content: Sendable, Equatable {
    /// It is about a purchase.
    /// - isWorthKeeping: whether it may be needed by a purchase that is not known yet.
    case purchase(PurchaseReport, isWorthKeeping: Bool)
    /// It only says that something happened to a purchase: the relay must query the processor.
    /// - sessionID: the checkout's id, when the event names one.
    /// - isWorthKeeping: whether to query an unknown purchase, too.
    case fetchFirst(PurchaseKey, sessionID: SessionID?, isWorthKeeping: Bool)
    /// It is about no purchase, and says which users a customer has.
    case customer(CustomerFacts)
    /// There is nothing to do, for this reason.
    case nothing(EventOutcome)
  }

  /// The processor's id of the event; nil when it is missing or unreadable.
  public var id: EventID?
  /// The processor's name of the event type; empty when it is unreadable.
  public var type: String
  public var content: Content

  public init(id: EventID?, type: String, content: Content) {
    self.id = id
    self.type = type
    self.content = content
  }
}

// MARK: - ProcessorHelp

// What operators read about a processor. Pure; any thread.

/// The names and places that messages to operators contain. Other code makes the sentences.
public struct ProcessorHelp: Sendable, Equatable {
  /// The key of its section with the secret that authenticates its webhooks.
  public var webhookSecretKey: String
  /// Where the processor shows that secret: `the endpoint's signing secret in Stripe's dashboard`.
  public var webhookSecretOrigin: String
  /// The key of its section with the key for its API.
  public var apiKeyKey: String
  /// The other keys of its section that its API judges with that key.
  public var apiSettings: [String]
  /// What the key must be allowed to do, as a sentence without its full stop.
  public var apiKeyRights: String
  /// How far back it lists events: `30 days`; nil if it lists none.
  public var eventsKept: String?
  /// The path that its ids of payments begin with, and its portal leaves out; nil if they are no paths.
  public var idFolder: String?

  public init(
    webhookSecretKey: String, webhookSecretOrigin: String, apiKeyKey: String = "api_key",
    apiSettings: [String] = ["api_base"], apiKeyRights: String, eventsKept: String? = nil,
    idFolder: String? = nil
  ) {
    self.webhookSecretKey = webhookSecretKey
    self.webhookSecretOrigin = webhookSecretOrigin
    self.apiKeyKey = apiKeyKey
    self.apiSettings = apiSettings
    self.apiKeyRights = apiKeyRights
    self.eventsKept = eventsKept
    self.idFolder = idFolder
  }
}
