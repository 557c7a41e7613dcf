// Everything that is known about one purchase, and how it grows with each report. Pure; any thread.

/// What is known about one purchase.
public struct Purchase: Sendable, Equatable {
  /// Where the user came from; a lower one is more certain.
  public enum UserSource: Int64, Sendable, Comparable {
    case byOperator = 0
    case context, reference, metadata, customer

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// How a purchase came by its context; a lower one is more certain.
  public enum ContextSource: Int64, Sendable, Comparable {
    case byOperator = 0
    /// The blob itself was in an event's metadata.
    case blob
    /// An event's metadata named the context's id.
    case metadata
    /// The checkout's `client_reference_id` is the context's id.
    case reference
    /// Any of these: a version that did not record it left the purchase. It is kept as a name would be,
    /// because an event may have named it; an event of the same purchase that names one replaces it.
    case unknown
    /// One of the user's unused contexts; it goes to the purchase that names it, if there is one.
    case guess

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Whether something named exactly this context for exactly this purchase.
    public var isName: Bool { self < .unknown }
  }

  public var key: PurchaseKey
  public var sessionID: String?
  public var observations: Observations
  public var customerID: String?
  public var userID: String?
  public var userSource: UserSource?
  /// The prices that events named; of several the context chooses.
  public var prices: [String]
  /// Whether `prices` are those of the checkout's own line items, which go before those of sister events.
  public var pricesAreOfCheckout: Bool
  /// The claimed context's id; nil for a blob that came inside an event.
  public var contextID: String?
  public var context: ContextBlob?
  /// How it came by `context`; nil without one.
  public var contextSource: ContextSource?
  /// When it first happened by the processor's clock; contexts are looked for around it.
  public var happenedAt: Timestamp
  /// When it was first heard of.
  public var createdAt: Timestamp
  /// When it was seen to be bought; what it lacks is waited for from here.
  public var boughtAt: Timestamp?

  public init(
    key: PurchaseKey, sessionID: String? = nil, observations: Observations = [], customerID: String? = nil,
    userID: String? = nil, userSource: UserSource? = nil, prices: [String] = [],
    pricesAreOfCheckout: Bool = false,
    contextID: String? = nil, context: ContextBlob? = nil, contextSource: ContextSource? = nil,
    happenedAt: Timestamp, createdAt: Timestamp, boughtAt: Timestamp? = nil
  ) {
    self.key = key
    self.sessionID = sessionID
    self.observations = observations
    self.customerID = customerID
    self.userID = userID
    self.userSource = userSource
    self.prices = prices
    self.pricesAreOfCheckout = pricesAreOfCheckout
    self.contextID = contextID
    self.context = context
    self.contextSource = contextSource
    self.happenedAt = happenedAt
    self.createdAt = createdAt
    self.boughtAt = boughtAt
  }

  /// The purchase as one report tells it.
  public init(_ report: PurchaseReport, now: Timestamp) {
    self.init(key: report.key, happenedAt: report.happenedAt, createdAt: now)
    absorb(report)
  }

  /// Whether the money has come, or none is needed, as far as events say; whoever bought it, and whatever
  /// became of its receipt.
  public var isPaid: Bool { observations.showPayment }

  /// Whether it has been paid for, or needs no payment, and belongs to the app.
  ///
  /// A subscription that began proves nothing while its checkout waits for the money: with a delayed payment
  /// method it is active at once. Its first invoice being paid does. Both count only once the user is known,
  /// because subscriptions are also made outside of any app.
  public var isBought: Bool {
    guard isPaid else { return false }
    return userID != nil || !observations.isDisjoint(with: [.paid, .promised])
  }

  /// Whether there is a promise to pay: a checkout completed without the money, or a known user's
  /// subscription whose first payment is under way.
  private var isPromised: Bool {
    observations.contains(.promised)
      || (userID != nil && observations.contains(.firstPaymentDue))
  }

  /// Whether the money was promised, and then failed to come.
  public var endedUnpaid: Bool {
    !isBought && isPromised
      && !observations.isDisjoint(with: [.failed, .expired, .ended])
  }

  /// Whether the subscription ended. If it has no receipt by then it gets none.
  public var hasEnded: Bool { observations.contains(.ended) }

  /// Whether its checkout is known, or known not to exist. Only the checkout says whether money is still to
  /// come, and often it alone names the context.
  public var isCheckoutKnown: Bool {
    sessionID != nil
      || !observations.isDisjoint(with: [.paid, .promised, .soldWithoutCheckout])
  }

  /// Whether there is to be a receipt: it is bought, or promised to be paid.
  public var deservesReceipt: Bool { isBought || isPromised }

  /// Whether it is known under its checkout's id: what the checkout sold has no name of its own, or none yet.
  public var isKnownByCheckout: Bool { sessionID == key.id }

  /// Whether the processor has not named yet what the checkout sold. The receipt must name it.
  public var awaitsObject: Bool { isKnownByCheckout && observations.contains(.objectExpected) }

  /// Whether the report names the object that this purchase's checkout sold.
  public func isNamed(by report: PurchaseReport) -> Bool {
    isKnownByCheckout && report.sessionID == key.id && !report.isOfCheckoutOnly
      && report.key.processor == key.processor
  }

  /// Whether its checkout ended unfinished, so that there is nothing to come.
  public var isAbandoned: Bool { !deservesReceipt && observations.contains(.expired) }

  /// Takes in what a report says. Fills what is lacking; replaces only what a more certain source knows
  /// better.
  public mutating func absorb(_ report: PurchaseReport) {
    if isNamed(by: report) { key = report.key }
    observations.formUnion(report.observations)
    sessionID = sessionID ?? report.sessionID
    customerID = customerID ?? report.customerID
    happenedAt = min(happenedAt, report.happenedAt)
    let ofCheckout = report.sessionID != nil
    if !report.prices.isEmpty, prices.isEmpty || (ofCheckout && !pricesAreOfCheckout) {
      prices = report.prices
      pricesAreOfCheckout = ofCheckout
    }
    if let blob = report.context { take(blob) }
    if let user = report.referencedUser {
      learnUser(user, from: .reference)
    } else if let user = report.namedUser {
      learnUser(user, from: .metadata)
    }
  }

  /// Takes in everything that another row knows about what turned out to be the same purchase.
  public mutating func absorb(_ other: Purchase) {
    observations.formUnion(other.observations)
    sessionID = sessionID ?? other.sessionID
    customerID = customerID ?? other.customerID
    if prices.isEmpty || (other.pricesAreOfCheckout && !pricesAreOfCheckout && !other.prices.isEmpty) {
      prices = other.prices
      pricesAreOfCheckout = other.pricesAreOfCheckout
    }
    if context == nil { takeContext(of: other) }
    if let user = other.userID, let source = other.userSource { learnUser(user, from: source) }
    happenedAt = min(happenedAt, other.happenedAt)
    createdAt = min(createdAt, other.createdAt)
    boughtAt = [boughtAt, other.boughtAt].compactMap(\.self).min()
  }

  /// Puts back what a receipt was made of before this took in more: what may have been sent is not told
  /// otherwise.
  public mutating func keepContent(of fixed: Purchase) {
    if fixed.userID != nil {
      userID = fixed.userID
      userSource = fixed.userSource
    }
    if !fixed.prices.isEmpty {
      prices = fixed.prices
      pricesAreOfCheckout = fixed.pricesAreOfCheckout
    }
    takeContext(of: fixed)
  }

  /// Takes a blob from an event, unless a more certain source named a context before. A context that the app
  /// posted with the same blob stays.
  public mutating func take(_ blob: ContextBlob) {
    if let known = contextSource, known <= .blob { return }
    if context?.text != blob.text {
      contextID = nil
      context = blob
    }
    contextSource = .blob
  }

  /// Has the other's context, and none of its own.
  public mutating func takeContext(of other: Purchase) {
    contextID = other.contextID
    context = other.context
    contextSource = other.contextSource
  }

  /// Has no context any more.
  public mutating func dropContext() {
    contextID = nil
    context = nil
    contextSource = nil
  }

  /// Takes a user, unless a more certain source, or one as certain, named one before.
  public mutating func learnUser(_ user: String, from source: UserSource) {
    if let known = userSource, known <= source { return }
    userID = user
    userSource = source
  }
}
