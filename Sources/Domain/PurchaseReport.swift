// What one event says about one purchase, in terms that suit every payment processor. A processor makes
// reports; the join merges them. Pure; any thread.

/// The name of a payment processor in URLs, rows and metrics.
public struct ProcessorName: TextID {
  public let text: String
  public init(_ text: String) { self.text = text }
}

/// An app and one of its payment processors.
public struct AppProcessor: Sendable, Hashable {
  public var app: AppSlug
  public var processor: ProcessorName

  public init(_ app: AppSlug, _ processor: ProcessorName) {
    self.app = app
    self.processor = processor
  }
}

/// The identity of a purchase within an app: a processor, an object type, and the object's id. Two processors
/// may use the same id for different purchases.
public struct PurchaseKey: Sendable, Hashable {
  /// The processor's own name for a type of object. Only the processor and the destinations know these names.
  public struct ObjectType: TextID {
    public let text: String
    public init(_ text: String) { self.text = text }
  }

  public var processor: ProcessorName
  public var type: ObjectType
  public var id: ObjectID

  public init(processor: ProcessorName, type: ObjectType, id: ObjectID) {
    self.processor = processor
    self.type = type
    self.id = id
  }
}

/// The facts that events have shown about a purchase. The set only grows: the order of events does not change
/// the union, nor what follows from it (R2).
public struct Observations: OptionSet, Sendable, Hashable {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The checkout is complete and paid, or no payment was needed.
  public static let paid = Observations(rawValue: 1 << 0)
  /// The checkout is complete; the payment is under way.
  public static let promised = Observations(rawValue: 1 << 1)
  /// The payment that was under way failed.
  public static let failed = Observations(rawValue: 1 << 2)
  /// The checkout ended incomplete.
  public static let expired = Observations(rawValue: 1 << 3)
  /// The object itself reports that it began, such as an active subscription.
  public static let began = Observations(rawValue: 1 << 4)
  /// The first payment of a renewing object is made.
  public static let firstPaymentMade = Observations(rawValue: 1 << 5)
  /// The checkout sells an object that does not exist yet, and the receipt needs its id.
  public static let objectExpected = Observations(rawValue: 1 << 6)
  /// The object exists, and its first payment is still due.
  public static let firstPaymentDue = Observations(rawValue: 1 << 7)
  /// The object was cancelled or deleted, or it expired.
  public static let ended = Observations(rawValue: 1 << 8)
  /// The processor's list of checkouts has none that sold the object.
  public static let soldWithoutCheckout = Observations(rawValue: 1 << 9)
  /// An app started the payment through the relay. It proves no payment.
  public static let started = Observations(rawValue: 1 << 10)
  /// The money went back to the customer after the payment.
  public static let reversed = Observations(rawValue: 1 << 11)
  /// The payment ended without money, and the processor will not change that.
  public static let closed = Observations(rawValue: 1 << 12)
  /// The processor refused to say which checkout sold the object, and would again.
  public static let checkoutRefused = Observations(rawValue: 1 << 13)
  /// The configuration names what was sold as the app's.
  public static let ours = Observations(rawValue: 1 << 14)
  /// The configuration excepts what was sold, or another product has reported it already.
  public static let excepted = Observations(rawValue: 1 << 15)
  /// An event named what was sold, and the configuration does not name it as the app's.
  public static let otherPrice = Observations(rawValue: 1 << 16)
  /// An invoice of the object was paid, the first or a later one.
  public static let invoicePaid = Observations(rawValue: 1 << 17)
  /// An event said by which payment link it was sold, or that it was none, and none of the app's matched.
  public static let otherPaymentLink = Observations(rawValue: 1 << 18)
  /// An event had the metadata of what was sold, and none of the app's matched.
  public static let otherMetadata = Observations(rawValue: 1 << 19)
  /// A client reported it as bought in an app store. It is joined to no context.
  public static let soldByStore = Observations(rawValue: 1 << 20)

  /// The object's trial runs, and it does not wait for a payment method.
  public static let trialSecured = Observations(rawValue: 1 << 21)

  /// Events had every fact by which the configuration could name the sale as the app's, and none matched.
  /// Each kind of event has other facts, so several of them prove it together.
  public static let notOurs: Observations = [.otherPrice, .otherPaymentLink, .otherMetadata]
}

extension Observations {
  /// Whether events show that it is paid or needs no payment.
  public var showPayment: Bool {
    // An invoice that is sent, or a recovered subscription, has no payment that is called the first.
    if contains(.paid) || isSuperset(of: [.firstPaymentDue, .invoicePaid]) { return true }
    if isSuperset(of: [.firstPaymentDue, .trialSecured]) { return true }
    if contains(.promised) { return contains(.firstPaymentMade) }
    return !isDisjoint(with: [.began, .firstPaymentMade])
  }

  /// Whether the merchant sold it outside of the app. An entry of the configuration that names the sale
  /// counts more than a missing one, and an exception more than both.
  public var isForeign: Bool { contains(.excepted) || (contains(.notOurs) && !contains(.ours)) }

  /// Whether it is decided whose sale it is, or nothing in the configuration asks that.
  public var decideSale: Bool {
    contains(.ours) || contains(.excepted) || contains(.notOurs) || isDisjoint(with: .notOurs)
  }
}

/// What one event says about one purchase.
public struct PurchaseReport: Sendable, Equatable {
  public var key: PurchaseKey
  /// The checkout session, if the event names one.
  public var sessionID: SessionID?
  public var observations: Observations
  public var customerID: CustomerID?
  /// The reference that the checkout was opened with: a context's id or a user's.
  public var clientReference: String?
  /// The context's id from the metadata.
  public var contextID: ContextID?
  /// The context's blob from the metadata, and the price it names.
  public var context: ContextBlob?
  /// The users that the event names elsewhere, and texts in their place that cannot be users.
  public var names: [NamedUser]
  /// Every price that the event names, in its order.
  public var prices: [PriceID]
  /// Whether `prices` count only until an event names some: the processor was asked for them.
  public var pricesFillIn = false
  /// Whether the event does not say which of several `prices` is the plan's, as the lines of an invoice.
  public var pricesAreUnranked = false
  /// The user who started the payment through the relay, or for whom a client reported a purchase in an app
  /// store; nil if it was started elsewhere.
  public var startedBy: UserID?
  /// The context that the app named when it started the payment.
  public var startedIn: ContextID?
  /// Amount and capture, for processors whose payments start at the relay.
  public var payment: PaymentFacts?
  /// When it happened, by the processor's clock.
  public var happenedAt: Timestamp

  public init(
    key: PurchaseKey, sessionID: SessionID? = nil, observations: Observations = [],
    customerID: CustomerID? = nil,
    clientReference: String? = nil, contextID: ContextID? = nil, context: ContextBlob? = nil,
    names: [NamedUser] = [], prices: [PriceID] = [], startedBy: UserID? = nil,
    startedIn: ContextID? = nil, payment: PaymentFacts? = nil, happenedAt: Timestamp
  ) {
    self.key = key
    self.sessionID = sessionID
    self.observations = observations
    self.customerID = customerID
    self.clientReference = clientReference
    self.contextID = contextID
    self.context = context
    self.names = names
    self.prices = prices
    self.startedBy = startedBy
    self.startedIn = startedIn
    self.payment = payment
    self.happenedAt = happenedAt
  }

  /// The context ids that the event names, the most certain first: from the metadata, then the checkout's
  /// reference. A spoilt id is repaired.
  public var namedContexts: [(id: ContextID, source: Purchase.ContextSource)] {
    [
      (contextID?.text, Purchase.ContextSource.metadata), (startedIn?.text, .reference),
      (clientReference, .reference),
    ].compactMap { text, source in text.flatMap(ContextID.init(repairing:)).map { ($0, source) } }
  }

  /// The source of its prices.
  public var priceSource: Purchase.PriceSource {
    if pricesFillIn { return .lookup }
    if pricesAreUnranked, prices.count > 1 { return .unranked }
    return sessionID == nil ? .event : .checkout
  }

  /// Whether it names only the checkout. The processor may name the object that the checkout sold later.
  public var isOfCheckoutOnly: Bool { sessionID.map(ObjectID.init) == key.id }

  /// The checkout's reference as a user; nil if it is a context's id or invalid. A text that looks like a
  /// context's id never is a user, known or not, because a wrong user is worse than none.
  public func reference(_ standing: NamedUser.Standing) -> NamedUser? {
    guard let clientReference, ContextID(repairing: clientReference) == nil else { return nil }
    return NamedUser(clientReference, from: .reference, standing: standing)
  }

  /// Every user that the event names, except those of contexts.
  /// - Parameter reference: the standing of the checkout's reference. The user of a payment that started at
  ///   the relay was authorized, and counts.
  public func namedUsers(reference: NamedUser.Standing) -> [NamedUser] {
    let starter = startedBy.map { NamedUser(id: $0, source: .reference, standing: .counts) }
    return [starter, self.reference(reference)].compactMap(\.self) + names
  }
}

/// A context's content: the blob exactly as it was received, and the price that it names.
public struct ContextBlob: Sendable, Hashable {
  public var text: String
  public var priceID: PriceID?

  public init(text: String, priceID: PriceID?) {
    self.text = text
    self.priceID = priceID
  }
}

// MARK: - PaymentFacts

// What is known of a payment beyond who bought what: for the processors whose payments start at the relay.
// Pure; any thread.

/// The facts of a payment that started at the relay. Other purchases have none.
public struct PaymentFacts: Sendable, Hashable {
  /// The amount in major units with the currency's decimals: `59.99`. Never a float.
  public var amount: String?
  /// ISO 4217: `USD`.
  public var currency: String?
  /// Whether the money is captured; false if it is only authorised. Nil if unknown.
  public var isCaptured: Bool?
  /// The merchant's own reference of the payment.
  public var reference: String?
  /// What the processor's own code keeps of the start, in its own form. No other code reads it.
  public var details: String?

  public init(
    amount: String? = nil, currency: String? = nil, isCaptured: Bool? = nil, reference: String? = nil,
    details: String? = nil
  ) {
    self.amount = amount
    self.currency = currency
    self.isCaptured = isCaptured
    self.reference = reference
    self.details = details
  }

  /// These facts with missing values from others. A payment that is captured stays captured (R2).
  public func absorbing(_ other: PaymentFacts) -> PaymentFacts {
    PaymentFacts(
      amount: amount ?? other.amount, currency: currency ?? other.currency,
      isCaptured: isCaptured == true || other.isCaptured == true ? true : isCaptured ?? other.isCaptured,
      reference: reference ?? other.reference, details: details ?? other.details)
  }
}
