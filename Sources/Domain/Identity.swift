// Who a purchase's user is, beyond the names in its own events. Pure; any thread.

/// What the store knows about the users that a purchase may have.
public struct IdentityFacts: Sendable, Equatable {
  /// Those of the purchase's unknown references that are users of the app now.
  public var knownUsers: Set<UserID>
  /// The users whom the customer's own metadata name.
  public var customerNames: [NamedUser]
  /// Every user ever seen with the customer in the app, by name.
  public var customerUsers: Set<UserID>
  /// Whether an event named somebody who may still become known: by a context that may still be posted, or by
  /// a reference that is no user of the app yet.
  public var awaitsName: Bool

  public init(
    knownUsers: Set<UserID> = [], customerNames: [NamedUser] = [], customerUsers: Set<UserID> = [],
    awaitsName: Bool = false
  ) {
    self.awaitsName = awaitsName
    self.knownUsers = knownUsers
    self.customerNames = customerNames
    self.customerUsers = customerUsers
  }
}

extension Purchase {
  /// Whether no event names its user.
  public var lacksNamedUser: Bool { userSource?.isInferred ?? true }

  /// Whether a reference that it named may come to count.
  public var unknownReferences: [UserID] { otherNames.filter { $0.standing == .unknown }.map(\.id) }

  /// Completes the user from what the store knows.
  ///
  /// The only user of the customer is inferred if no source names one. With two users it is nobody's: a wrong
  /// user is worse than none. Somebody who is named and not known yet may be another one: a family member who
  /// pays with the same card, or a user of another app of the account.
  /// - Parameter mayInfer: whether a user may be inferred that was not before. A purchase that was only
  ///   noted, and one that has failed, are never brought back by that.
  public mutating func completeUser(_ facts: IdentityFacts, mayInfer: Bool) {
    for user in unknownReferences where facts.knownUsers.contains(user) {
      learn(NamedUser(id: user, source: .reference, standing: .counts))
    }
    for name in facts.customerNames { learn(name) }
    guard lacksNamedUser else { return }
    let isOnly = facts.customerUsers.count == 1 && !facts.awaitsName
    let only = isOnly ? facts.customerUsers.first : nil
    guard only != userID else { return }
    let wasInferred = userID != nil
    dropInferredUser()
    if let only, mayInfer || wasInferred { learn(NamedUser(id: only, source: .customer, standing: .counts)) }
  }
}

extension Join {
  /// Whether no event has said yet if a sale is the app's, although the configuration names what it sells.
  public static func isUndecided(_ purchase: Purchase, _ processor: ProcessorRules) -> Bool {
    processor.selects && !purchase.observations.contains(.ours)
  }
}
