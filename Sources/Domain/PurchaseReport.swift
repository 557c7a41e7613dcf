// What one event says about one purchase, in words that every payment processor can speak. A processor makes
// reports; the join takes them in. Pure; any thread.

/// What a payment processor is called in URLs, rows and metrics.
public struct ProcessorName: RawRepresentable, Sendable, Hashable, ExpressibleByStringLiteral {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public init(stringLiteral name: String) { rawValue = name }
}

/// One app at one of its payment processors.
public struct AppProcessor: Sendable, Hashable {
  public var app: String
  public var processor: ProcessorName

  public init(_ app: String, _ processor: ProcessorName) {
    self.app = app
    self.processor = processor
  }
}

/// What was bought, within an app: a processor, a kind of its objects, and the object's id. Two processors
/// may use the same id for different purchases.
public struct PurchaseKey: Sendable, Hashable {
  /// The processor's own word for a kind of object. Only the processor and what receives receipts of it know
  /// the words.
  public struct ObjectType: RawRepresentable, Sendable, Hashable {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
  }

  public var processor: ProcessorName
  public var type: ObjectType
  public var id: String

  public init(processor: ProcessorName, type: ObjectType, id: String) {
    self.processor = processor
    self.type = type
    self.id = id
  }
}

/// What events have been seen to say about a purchase. A set that only grows: whichever order events come in,
/// the union is the same, and with it what follows (R2).
public struct Observations: OptionSet, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The checkout is complete and paid for, or nothing had to be paid.
  public static let paid = Observations(rawValue: 1 << 0)
  /// The checkout is complete, the money under way.
  public static let promised = Observations(rawValue: 1 << 1)
  /// The money that was under way did not come.
  public static let failed = Observations(rawValue: 1 << 2)
  /// The checkout ended unfinished.
  public static let expired = Observations(rawValue: 1 << 3)
  /// The object itself says that it began, as a subscription does that is active.
  public static let began = Observations(rawValue: 1 << 4)
  /// The first payment of what renews is made.
  public static let firstPaymentMade = Observations(rawValue: 1 << 5)
  /// The checkout sells an object that does not exist yet, and whose name the receipt needs.
  public static let objectExpected = Observations(rawValue: 1 << 6)
  /// The object exists, and its first payment is still to be made.
  public static let firstPaymentDue = Observations(rawValue: 1 << 7)
  /// The object was cancelled, was deleted or expired.
  public static let ended = Observations(rawValue: 1 << 8)
  /// No checkout sold the object, says the processor's own list of checkouts.
  public static let soldWithoutCheckout = Observations(rawValue: 1 << 9)
}

extension Observations {
  /// Whether the money has come, or none is needed, as far as events say.
  public var showPayment: Bool {
    if contains(.paid) { return true }
    if contains(.promised) { return contains(.firstPaymentMade) }
    return !isDisjoint(with: [.began, .firstPaymentMade])
  }
}

/// What one event says about one purchase.
public struct PurchaseReport: Sendable, Equatable {
  public var key: PurchaseKey
  /// The checkout session, when the event names one.
  public var sessionID: String?
  public var observations: Observations
  public var customerID: String?
  /// The reference that the checkout was opened with: a context's id or a user.
  public var clientReference: String?
  /// The id of a context, from the metadata.
  public var contextID: String?
  /// A context's blob and the price it names, from the metadata.
  public var context: ContextBlob?
  /// The user from the metadata.
  public var metadataUser: String?
  /// Every price that the event names, in its order.
  public var prices: [String]
  /// When it happened, by the processor's clock.
  public var happenedAt: Timestamp

  public init(
    key: PurchaseKey, sessionID: String? = nil, observations: Observations = [], customerID: String? = nil,
    clientReference: String? = nil, contextID: String? = nil, context: ContextBlob? = nil,
    metadataUser: String? = nil, prices: [String] = [], happenedAt: Timestamp
  ) {
    self.key = key
    self.sessionID = sessionID
    self.observations = observations
    self.customerID = customerID
    self.clientReference = clientReference
    self.contextID = contextID
    self.context = context
    self.metadataUser = metadataUser
    self.prices = prices
    self.happenedAt = happenedAt
  }

  /// The ids of contexts that the event names, the most certain first: in the metadata, then as the reference
  /// of the checkout.
  public var namedContexts: [(id: String, source: Purchase.ContextSource)] {
    [(contextID, Purchase.ContextSource.metadata), (clientReference, .reference)].compactMap { id, source in
      guard let id, Identifier.isWellFormed(id, prefix: Identifier.contextPrefix) else { return nil }
      return (id, source)
    }
  }

  /// Whether it names no other object than the checkout. The processor may name the object that the checkout
  /// sold later.
  public var isOfCheckoutOnly: Bool { sessionID == key.id }

  /// The reference of the checkout, unless it has the form of a context's id: that never is a user, known or
  /// not, for a wrong user is worse than none.
  public var referencedUser: String? { Self.user(clientReference) }

  /// The user from the metadata, unless it has the form of a context's id.
  public var namedUser: String? { Self.user(metadataUser) }

  private static func user(_ text: String?) -> String? {
    guard let text, !Identifier.isWellFormed(text, prefix: Identifier.contextPrefix) else { return nil }
    return OutsideText.identifier(text)
  }
}

/// A context as it is carried: the blob exactly as it came, and the price that it names.
public struct ContextBlob: Sendable, Hashable {
  public var text: String
  public var priceID: String?

  public init(text: String, priceID: String?) {
    self.text = text
    self.priceID = priceID
  }
}
