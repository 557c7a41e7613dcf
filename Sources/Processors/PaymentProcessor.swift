// What the relay asks of whoever takes the money. A processor says what an event means in terms of purchases;
// it knows no destination, no store and no HTTP. A new one is a folder beside `Stripe`.

public import Domain

/// One app's view of a payment processor: how its webhooks are authenticated and what they mean.
public protocol PaymentProcessor: Sendable {
  /// The word for it in URLs, rows and metrics.
  static var name: ProcessorName { get }

  /// Whether the path of its webhooks ends in a secret that only the processor was told.
  static var hasPathToken: Bool { get }

  /// What the rules of the join must know of it.
  /// - Parameter isAsked: whether the app has a key for asking it.
  static func rules(isAsked: Bool) -> ProcessorRules

  /// Decides who sent a request, before anything reads its body (R6). Total.
  func authenticate(_ request: WebhookRequest, now: Timestamp) -> Authenticity

  /// Reads what a body says. It is called for a body that was not refused. Total: whatever the bytes are, the
  /// answer is a value.
  func read(_ body: [UInt8], now: Timestamp) -> EventReading

  /// What the processor can be asked; nil when it cannot, or when the app has no key for it.
  var queries: (any ProcessorQueries)? { get }
}

extension PaymentProcessor {
  public static var hasPathToken: Bool { false }

  public var queries: (any ProcessorQueries)? { nil }
}

/// A request to an app's address for a processor's webhooks.
public struct WebhookRequest: Sendable {
  private let headerValues: @Sendable (String) -> [String]
  private let clientAddress: @Sendable () -> String
  /// The raw bytes.
  public let body: [UInt8]
  /// What follows the processor's name in the path; nil when nothing does. Only a processor that asks for it
  /// (`hasPathToken`) gets requests with one.
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

  /// The values of every header with a name, in their order.
  public func headers(_ name: String) -> [String] { headerValues(name) }
}

/// Who sent a request.
public enum Authenticity: Sendable, Equatable {
  /// The processor, for certain. What the body says counts.
  case genuine
  /// Possibly anybody. The body counts only as a hint that something happened to a purchase: the relay asks
  /// the processor, if the purchase is known.
  case hint
  /// Somebody else, or nobody knows. Nothing of it is kept.
  case refused(SignatureFault)
}

/// Why a signature was refused; the raw value is the metric's label.
public enum SignatureFault: String, Sendable, CaseIterable {
  /// There is no signature at all.
  case missing
  /// The header is not of the form that the processor sends.
  case malformed
  /// No signature matches: another secret, or an altered body.
  case mismatch
  /// Rightly signed, too long ago.
  case stale
  /// Rightly signed, with a time that is yet to come.
  case future
}

/// What an event is, and what it says.
public struct EventReading: Sendable, Equatable {
  /// What the relay is to do with the event.
  public enum Content: Sendable, Equatable {
    /// It speaks of a purchase.
    /// - isWorthKeeping: whether it may serve a purchase that is yet to come.
    case purchase(PurchaseReport, isWorthKeeping: Bool)
    /// It says no more than that something happened to a purchase: the processor must be asked what.
    /// - sessionID: the checkout's id, when the event names one.
    /// - isWorthKeeping: whether a purchase of which nothing is known yet is asked about, too.
    case fetchFirst(PurchaseKey, sessionID: String?, isWorthKeeping: Bool)
    /// There is nothing to do, for this reason.
    case nothing(EventOutcome)
  }

  /// The processor's id of the event; nil when it has none that could be read.
  public var id: String?
  /// The processor's name for the kind of event; empty when it could not be read.
  public var type: String
  public var content: Content

  public init(id: String?, type: String, content: Content) {
    self.id = id
    self.type = type
    self.content = content
  }
}
