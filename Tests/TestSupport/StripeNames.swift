// Keys, rules and reports of Stripe's processor, for tests of targets that know no processor.

public import Domain

extension PurchaseKey.ObjectType {
  public static let subscription = Self("subscription")
  public static let checkoutSession = Self("checkout_session")
}

extension PurchaseKey {
  /// - Parameter type: one of Stripe's.
  public init(type: ObjectType, id: ObjectID) { self.init(processor: "stripe", type: type, id: id) }
}

extension ProcessorRules {
  /// The rules of Stripe's processor. Every reference is a user, so that a test needs no context for it.
  public static func stripe(
    isAsked: Bool = false, reference: ReferencePolicy = .user, selects: Bool = false
  ) -> ProcessorRules {
    ProcessorRules(
      isAsked: isAsked, pricePrefixes: ["price_", "plan_"], reference: reference, selects: selects)
  }
}

extension [ProcessorName: ProcessorRules] {
  public static let stripe: Self = ["stripe": .stripe()]
  /// With another processor, whose references are users, too.
  public static let several: Self = ["stripe": .stripe(), "other": ProcessorRules(reference: .user)]
  public static let askedStripe: Self = ["stripe": .stripe(isAsked: true)]
}

extension PurchaseReport {
  /// The user that the metadata names.
  public var metadataUser: String? {
    get { names.first { $0.standing == .counts }?.id.text }
    set { names = [NamedUser(newValue, from: .metadata)].compactMap(\.self) }
  }

  /// A report whose metadata name a user.
  public init(
    key: PurchaseKey, sessionID: SessionID? = nil, observations: Observations = [],
    customerID: CustomerID? = nil, clientReference: String? = nil, contextID: ContextID? = nil,
    context: ContextBlob? = nil, metadataUser: String?, prices: [PriceID] = [], happenedAt: Timestamp
  ) {
    self.init(
      key: key, sessionID: sessionID, observations: observations, customerID: customerID,
      clientReference: clientReference, contextID: contextID, context: context,
      names: [NamedUser(metadataUser, from: .metadata)].compactMap(\.self), prices: prices,
      happenedAt: happenedAt)
  }
}

extension Purchase {
  /// Makes a purchase from one report, whose reference is a user.
  public init(_ report: PurchaseReport, now: Timestamp) { self.init(report, reference: .counts, now: now) }

  /// Merges a report, whose reference is a user.
  public mutating func absorb(_ report: PurchaseReport) { absorb(report, reference: .counts) }

  /// The user that counts and the source; nil removes every user.
  public mutating func become(_ user: UserID?, from source: UserSource? = .reference) {
    forgetUsers()
    if let user, let source { setUser(NamedUser(id: user, source: source, standing: .counts)) }
  }
}
