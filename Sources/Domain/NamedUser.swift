// The users that sources name for a purchase. Pure; any thread.

internal import Formats

/// A user that a source named.
public struct NamedUser: Sendable, Hashable, Comparable {
  /// Whether the name may be the purchase's user. The numbers are stored, so they never change.
  public enum Standing: Int64, Sendable, CaseIterable {
    case counts = 0
    /// A reference that is no user of the app. The user may still post a context.
    case unknown = 1
    /// The text is never a user: a placeholder, or a spoilt id of a context.
    case refused = 2
  }

  public var id: UserID
  public var source: Purchase.UserSource
  public var standing: Standing

  public init(id: UserID, source: Purchase.UserSource, standing: Standing) {
    (self.id, self.source, self.standing) = (id, source, standing)
  }

  /// A user from untrusted text, without ASCII whitespace at its ends. What looks like a context's id is
  /// refused.
  /// - Returns: nil if it is not valid as an identifier.
  public init?(_ text: String?, from source: Purchase.UserSource, standing: Standing = .counts) {
    guard let text = UntrustedText.identifier(text.map(UntrustedText.trimmed)) else { return nil }
    let isRefused = standing == .refused || ContextID.isMeant(by: text)
    self.init(id: UserID(text), source: source, standing: isRefused ? .refused : standing)
  }

  /// The stronger name is the lesser one.
  public static func < (left: Self, right: Self) -> Bool {
    if left.standing != right.standing { return left.standing.rawValue < right.standing.rawValue }
    return left.source != right.source ? left.source < right.source : left.id < right.id
  }
}

/// What a checkout's reference that is no context's id may be. The words are those of the configuration.
public enum ReferencePolicy: String, Sendable, CaseIterable {
  /// A user who posted a context to the app or has a receipt in it. Anything else may be an order's number or
  /// the id of a click.
  case knownUser = "known_user"
  /// Always a user.
  case user
  /// Never a user.
  case context

  /// The standing of a reference.
  /// - Parameter isKnown: whether it is a user of the app; called only if that matters.
  public func standing<Fault: Error>(isKnown: () throws(Fault) -> Bool) throws(Fault) -> NamedUser.Standing {
    switch self {
    case .knownUser: try isKnown() ? .counts : .unknown
    case .user: .counts
    case .context: .unknown
    }
  }
}

// MARK: - CustomerFacts

// What events without a purchase say about a customer's users. Pure; any thread.

/// The users of a customer that an event names without a purchase.
public struct CustomerFacts: Sendable, Equatable {
  public var customerID: CustomerID
  /// The reference of a checkout that sold nothing: a context's id or a user's.
  public var clientReference: String?
  /// The context's id from such a checkout's metadata.
  public var contextID: ContextID?
  public var names: [NamedUser]
  /// Whether `names` are those of the customer's own metadata, which replace older ones.
  public var areOfCustomer: Bool
  /// When it happened, by the processor's clock.
  public var happenedAt: Timestamp

  public init(
    customerID: CustomerID, clientReference: String? = nil, contextID: ContextID? = nil,
    names: [NamedUser] = [], areOfCustomer: Bool, happenedAt: Timestamp
  ) {
    self.customerID = customerID
    self.clientReference = clientReference
    self.contextID = contextID
    self.names = names
    self.areOfCustomer = areOfCustomer
    self.happenedAt = happenedAt
  }
}
