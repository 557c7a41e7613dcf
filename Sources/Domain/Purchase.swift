// What is known about one purchase, and how each report extends it. Pure; any thread.

/// What is known about one purchase.
public struct Purchase: Sendable, Equatable {
  /// How a purchase got its context; a lower value is more certain.
  public enum ContextSource: Int64, Sendable, Comparable {
    case byOperator = 0
    /// The blob itself was in an event's metadata.
    case blob
    /// An event's metadata named the context's id.
    case metadata
    /// The checkout's `client_reference_id` is the context's id.
    case reference
    /// One of the user's unused contexts; a purchase that names the context takes it.
    case guess

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// Whether an event or the operator named exactly this context for this purchase.
    public var isName: Bool { self < .guess }
  }

  /// Where the prices came from; the lesser one is more certain. The numbers are stored,
  /// in the column `prices_of_checkout`, so they never change.
  public enum PriceSource: Int64, Sendable, Comparable, CaseIterable {
    /// An event of the purchase that is not its checkout's.
    case event = 0
    /// The checkout's own line items, or an operator.
    case checkout = 1
    /// A lookup: any event that names prices replaces them.
    case lookup = 2
    /// An event that names several prices, and not which of them is the plan's.
    case unranked = 3

    private var rank: Int {
      switch self {
      case .checkout: 0
      case .event: 1
      case .unranked: 2
      case .lookup: 3
      }
    }

    /// Whether prices of another source may still replace them in a receipt that was not sent.
    public var isProvisional: Bool { self == .lookup || self == .unranked }

    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
  }

  public var key: PurchaseKey
  public var sessionID: SessionID?
  public var observations: Observations
  public var customerID: CustomerID?
  /// The user that counts; `setUser` and `learn` change both.
  public private(set) var userID: UserID?
  public private(set) var userSource: UserSource?
  /// Every other user that a source named, the strongest first; each user once, and never an inferred one.
  public private(set) var otherNames: [NamedUser]
  /// The prices that events named; if there are several, the context selects one.
  public var prices: [PriceID]
  /// The source of `prices`; without meaning if there are none.
  public var priceSource: PriceSource
  /// Nil for a payment that did not start at the relay.
  public var payment: PaymentFacts?
  /// The claimed context's id; nil for a blob inside an event.
  public var contextID: ContextID?
  public var context: ContextBlob?
  /// The source of `context`; nil without a context.
  public var contextSource: ContextSource?
  /// Among how many contexts a guess was chosen; nil without a guess.
  public var contextCandidates: Int64?
  /// When the purchase first happened by the processor's clock; contexts are searched around this time.
  public var happenedAt: Timestamp
  /// When the first report of the purchase was received.
  public var createdAt: Timestamp
  /// When the purchase was first known to be bought; waits begin here.
  public var boughtAt: Timestamp?

  public init(
    key: PurchaseKey, sessionID: SessionID? = nil, observations: Observations = [],
    customerID: CustomerID? = nil,
    userID: UserID? = nil, userSource: UserSource? = nil, otherNames: [NamedUser] = [],
    prices: [PriceID] = [], priceSource: PriceSource = .event, payment: PaymentFacts? = nil,
    contextID: ContextID? = nil, context: ContextBlob? = nil, contextSource: ContextSource? = nil,
    contextCandidates: Int64? = nil,
    happenedAt: Timestamp, createdAt: Timestamp, boughtAt: Timestamp? = nil
  ) {
    self.key = key
    self.sessionID = sessionID
    self.observations = observations
    self.customerID = customerID
    self.userID = userID
    self.userSource = userSource
    self.otherNames = otherNames
    self.prices = prices
    self.priceSource = priceSource
    self.payment = payment
    self.contextID = contextID
    self.context = context
    self.contextSource = contextSource
    self.contextCandidates = contextCandidates
    self.happenedAt = happenedAt
    self.createdAt = createdAt
    self.boughtAt = boughtAt
  }

  /// Makes a purchase from one report.
  /// - Parameter reference: see `absorb`.
  public init(_ report: PurchaseReport, reference: NamedUser.Standing, now: Timestamp) {
    self.init(key: report.key, happenedAt: report.happenedAt, createdAt: now)
    absorb(report, reference: reference)
  }

  /// Moves times that a clock noted while it ran ahead to now, so that the waits counted from them end.
  public mutating func bringBack(to now: Timestamp) {
    createdAt = min(createdAt, now)
    boughtAt = boughtAt.map { min($0, now) }
  }

  /// Whether events show that it is paid or needs no payment, regardless of who bought it and of its
  /// receipt's state.
  public var isPaid: Bool { observations.showPayment }

  /// Whether the merchant sold it outside of the app. It gets no receipt, and says nothing about users.
  public var isForeign: Bool { observations.isForeign }

  /// Whether a client reported it as bought in an app store. It has the context that came with it, or none:
  /// the contexts that the user posted belong to web checkouts.
  public var isOfStore: Bool { observations.contains(.soldByStore) }

  /// Whether it is paid or needs no payment, and belongs to the app.
  ///
  /// An active subscription proves no payment while its checkout waits for the money: with a delayed payment
  /// method it is active at once. A paid first invoice proves it. Both count only once the user is known, or
  /// if the app's configuration names what is sold, because subscriptions are also created outside any app.
  public var isBought: Bool {
    guard isPaid, !isForeign else { return false }
    return userID != nil || !observations.isDisjoint(with: [.paid, .promised, .ours])
  }

  /// Whether payment is promised: a checkout completed without payment, or the first payment of the app's or
  /// a known user's subscription is under way.
  private var isPromised: Bool {
    guard !isForeign else { return false }
    return observations.contains(.promised)
      || (observations.contains(.firstPaymentDue) && (userID != nil || observations.contains(.ours)))
  }

  /// Whether it is paid and may be the app's, but no receipt can be made, because nothing names its user.
  public var isUnmatched: Bool { isPaid && userID == nil && !isForeign && !hasEnded && !isErased }

  /// Whether the payment was promised and then did not come.
  public var endedUnpaid: Bool {
    !isBought && isPromised
      && !observations.isDisjoint(with: [.failed, .expired, .ended])
  }

  /// Whether the money went back to the customer after the payment.
  public var isReversed: Bool { isPaid && observations.contains(.reversed) }

  /// Whether its object ended. A purchase without a receipt at that time gets none.
  public var hasEnded: Bool { observations.contains(.ended) }

  /// Whether nothing is known of it but its id, which an event named without its data.
  public var isOnlyNamed: Bool {
    observations.isEmpty && customerID == nil && allNames.isEmpty && prices.isEmpty && context == nil
      && payment == nil
  }

  /// Whether its checkout is known, or known not to exist. Only the checkout says whether payment is still
  /// due, and often only it names the context.
  public var isCheckoutKnown: Bool {
    sessionID != nil
      || !observations.isDisjoint(with: [.paid, .promised, .soldWithoutCheckout])
  }

  /// Whether the purchase gets a receipt: it is bought, or payment is promised.
  public var deservesReceipt: Bool { isBought || isPromised }

  /// Whether its key is its checkout's id, because the sold object has no other id, or none yet.
  public var isKnownByCheckout: Bool { sessionID.map(ObjectID.init) == key.id }

  /// Whether the processor has not yet named what the checkout sold. The receipt needs that id.
  public var awaitsObject: Bool { isKnownByCheckout && observations.contains(.objectExpected) }

  /// Whether the report names the object that this purchase's checkout sold.
  public func isNamed(by report: PurchaseReport) -> Bool {
    isKnownByCheckout && report.sessionID.map(ObjectID.init) == key.id && !report.isOfCheckoutOnly
      && report.key.processor == key.processor
  }

  /// Whether its checkout ended incomplete, or its payment without money, so that nothing more will come.
  public var isAbandoned: Bool {
    !deservesReceipt && !observations.isDisjoint(with: [.expired, .closed, .reversed])
  }

  /// Whether the app started it through the relay, and neither a payment nor its end is known.
  public var awaitsOutcome: Bool {
    observations.contains(.started) && !isPaid && !isFinal
  }

  /// Whether it is not known that the money of a payment was captured, or will not be. A payment that the
  /// processor calls paid may be only authorised; if it does not distinguish these, paid means captured.
  public var isCaptureInDoubt: Bool { !isFinal && (!isPaid || payment?.isCaptured == false) }

  /// Whether the processor will not change it any more: its payment ended without money, or the money went
  /// back.
  public var isFinal: Bool { !observations.isDisjoint(with: [.closed, .reversed]) }

  /// Merges a report: fills missing values, and replaces a value only from a more certain source.
  /// - Parameter reference: the standing of the checkout's reference as a user.
  public mutating func absorb(_ report: PurchaseReport, reference: NamedUser.Standing) {
    if isNamed(by: report) { key = report.key }
    observations.formUnion(report.observations)
    sessionID = sessionID ?? report.sessionID
    customerID = customerID ?? report.customerID
    happenedAt = min(happenedAt, report.happenedAt)
    learnPrices(report.prices, from: report.priceSource)
    if let facts = report.payment {
      // What the processor says now takes precedence over what was started, in either order.
      let isStart = report.observations.contains(.started)
      payment = payment.map { isStart ? $0.absorbing(facts) : facts.absorbing($0) } ?? facts
    }
    if let blob = report.context { learnContext(blob) }
    // The first name that the checkout has from a source precedes those of sister events from the same
    // source, in whichever order they arrive (R2).
    var sources: Set<UserSource> = []
    for name in report.namedUsers(reference: reference) {
      let isFirst = name.standing == .counts && sources.insert(name.source).inserted
      learn(name, precedesEqual: isFirst && report.sessionID != nil)
    }
  }

  /// Merges another row that turned out to be the same purchase.
  public mutating func absorb(_ other: Purchase) {
    observations.formUnion(other.observations)
    sessionID = sessionID ?? other.sessionID
    customerID = customerID ?? other.customerID
    learnPrices(other.prices, from: other.priceSource)
    if let facts = other.payment { payment = payment?.absorbing(facts) ?? facts }
    if context == nil { replaceContext(by: other) }
    for name in other.allNames { learn(name) }
    happenedAt = min(happenedAt, other.happenedAt)
    createdAt = min(createdAt, other.createdAt)
    boughtAt = [boughtAt, other.boughtAt].compactMap(\.self).min()
  }

  /// Restores the values that the receipt was made from, after a merge: content that may have been sent must
  /// not change. A user who was named since then remains as another name.
  public mutating func keepContent(of fixed: Purchase) {
    if let name = fixed.winner, userID != name.id { setUser(name) }
    if !fixed.prices.isEmpty { (prices, priceSource) = (fixed.prices, fixed.priceSource) }
    replaceContext(by: fixed)
  }

  /// Sets the prices, unless a source that is at least as certain named some before.
  private mutating func learnPrices(_ prices: [PriceID], from source: PriceSource) {
    guard !prices.isEmpty, self.prices.isEmpty || source < priceSource else { return }
    (self.prices, priceSource) = (prices, source)
  }

  /// Sets the context to a blob from an event, unless a more certain source named a context before. A posted
  /// context with the same blob stays.
  public mutating func learnContext(_ blob: ContextBlob) {
    if let known = contextSource, known <= .blob { return }
    if context?.text != blob.text {
      contextID = nil
      context = blob
    }
    contextSource = .blob
    contextCandidates = nil
  }

  /// Replaces the context by the other purchase's.
  public mutating func replaceContext(by other: Purchase) {
    contextID = other.contextID
    context = other.context
    contextSource = other.contextSource
    contextCandidates = other.contextCandidates
  }

  /// Removes the context.
  public mutating func dropContext() {
    contextID = nil
    context = nil
    contextSource = nil
    contextCandidates = nil
  }
}

// MARK: - Names

// Every user that a source named: the strongest counts, and the others are kept. Pure; any thread.

extension Purchase {
  /// How many other names are kept: the strongest.
  static let otherNamesMax = 20

  /// The user that counts.
  public var winner: NamedUser? {
    guard let userID, let userSource else { return nil }
    return NamedUser(id: userID, source: userSource, standing: .counts)
  }

  /// The user that counts and the others.
  public var allNames: [NamedUser] { (winner.map { [$0] } ?? []) + otherNames }

  /// Whether two sources that count name different users. An operator's choice ends the conflict.
  public var userConflict: Bool {
    guard let userSource, userSource != .byOperator else { return false }
    return otherNames.contains { $0.standing == .counts }
  }

  /// Learns that a source named a user. It becomes the purchase's user, unless a source that is at least as
  /// certain named one before.
  /// - Parameter precedesEqual: whether it counts before a name of the same source.
  public mutating func learn(_ name: NamedUser, precedesEqual: Bool = false) {
    let isStronger = userSource.map { precedesEqual ? name.source <= $0 : name.source < $0 } ?? true
    guard name.standing == .counts, isStronger else { return keep(name) }
    setUser(name)
  }

  /// Sets the user, whatever the source. The one before remains as another name.
  public mutating func setUser(_ name: NamedUser) {
    let before = winner
    (userID, userSource) = (name.id, name.source)
    otherNames.removeAll { $0.id == name.id }
    if let before { keep(before) }
  }

  /// Keeps a user besides the one that counts: each user once, as the strongest source named them.
  public mutating func keep(_ name: NamedUser) {
    guard name.id != userID, !name.source.isInferred else { return }
    if let known = otherNames.firstIndex(where: { $0.id == name.id }) {
      otherNames[known] = min(otherNames[known], name)
    } else {
      otherNames.append(name)
    }
    otherNames.sort()
    otherNames = Array(otherNames.prefix(Self.otherNamesMax))
  }

  /// Removes the user if it is inferred.
  mutating func dropInferredUser() {
    if userSource?.isInferred ?? false { (userID, userSource) = (nil, nil) }
  }

  /// Removes every user.
  public mutating func forgetUsers() { (userID, userSource, otherNames) = (nil, nil, []) }

  /// Removes a user who is erased from the other names.
  /// - Parameter token: takes the place of a reference that might have become known, as a name that is never
  ///   a user: nobody may be inferred for the purchase of somebody else.
  public mutating func forget(_ user: UserID, leaving token: UserID? = nil) {
    let isAwaited = lacksNamedUser && unknownReferences.contains(user)
    otherNames.removeAll { $0.id == user }
    if isAwaited, let token { keep(NamedUser(id: token, source: .reference, standing: .refused)) }
  }
}

// MARK: - Erasure

// What remains of a purchase whose user was erased. Pure; any thread.

extension Purchase {
  /// The prefix of the hash that replaces an id. No processor's id contains a colon.
  public static let erasedPrefix = "erased:"

  /// Whether a text is the hash of an erased id.
  public static func isErased(_ id: some TextID) -> Bool { id.text.utf8.starts(with: erasedPrefix.utf8) }

  /// Whether the purchase's user was erased.
  public var isErased: Bool { Self.isErased(key.id) }
}

// MARK: - PurchaseSummary

// What a customer bought, as the processor's events name it: for the page that they return to. A value; any
// thread.

/// A summary of a purchase. What the events do not name is nil.
public struct PurchaseSummary: Sendable, Equatable {
  /// The merchant's name of it. Untrusted.
  public var item: String?
  /// What the customer paid in this checkout, in the currency that they saw.
  public var money: Money?
  /// When the checkout was completed.
  public var at: Timestamp?
  /// Whether an event says that the checkout charged nothing.
  public var isFree: Bool
  /// Whether an event says that a trial began.
  public var isTrial: Bool
  /// Whether the customer paid real money; false for a test.
  public var isLive: Bool?

  public init(
    item: String? = nil, money: Money? = nil, at: Timestamp? = nil, isFree: Bool = false,
    isTrial: Bool = false, isLive: Bool? = nil
  ) {
    self.isLive = isLive
    self.item = item
    self.money = money
    self.at = at
    self.isFree = isFree
    self.isTrial = isTrial
  }

  /// What the checkout charged, in the currency's smallest unit: 0 if it was free, nil if it is unknown.
  public var amount: Int64? { money?.minorUnits ?? (isFree ? 0 : nil) }

  /// Adds what another event of the same purchase names; what is known stays.
  public func adding(_ other: PurchaseSummary) -> PurchaseSummary {
    PurchaseSummary(
      item: item ?? other.item, money: money ?? other.money, at: at ?? other.at,
      isFree: isFree || other.isFree, isTrial: isTrial || other.isTrial, isLive: isLive ?? other.isLive)
  }
}
