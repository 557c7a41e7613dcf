// How a receipt got its context, for the counts by which operators see whether an app's contexts still join.
// Pure; any thread.

/// How a receipt got its context.
public enum JoinOutcome: String, Sendable, CaseIterable {
  /// An event or an operator named the context, or it was in an event.
  case exact
  /// It was the only context of the purchase's user that could be meant.
  case user
  /// It was chosen among several of the user's, or names another price.
  case guessed
  /// The receipt has no context.
  case none
  /// It was sent with a context that another purchase names.
  case disputed

  /// - Returns: nil for a receipt that is not made yet and does not wait for a context, and for one whose
  ///   user was erased.
  public init?(_ purchase: Purchase, _ receipt: Receipt) {
    let lacksContext = receipt.state == .waiting && receipt.reason == .context
    guard receipt.readyAt != nil || lacksContext, !purchase.isErased else { return nil }
    if receipt.contextDisputed {
      self = .disputed
    } else if purchase.context == nil {
      self = .none
    } else if purchase.contextSource == .guess {
      self = purchase.contextCandidates == 1 && !receipt.priceMismatch ? .user : .guessed
    } else {
      self = .exact
    }
  }

  /// Whether the receipt has a context that no other purchase names.
  public var isJoined: Bool {
    switch self {
    case .exact, .user, .guessed: true
    case .none, .disputed: false
    }
  }
}

/// How the contexts and receipts of one app in one period joined.
public struct JoinTally: Sendable, Equatable {
  public var receipts: [JoinOutcome: Int64]
  /// Contexts that were received in the period.
  public var contexts: Int64
  /// Those of `contexts` that no purchase claimed.
  public var unclaimed: Int64

  public init(receipts: [JoinOutcome: Int64] = [:], contexts: Int64 = 0, unclaimed: Int64 = 0) {
    self.receipts = receipts
    self.contexts = contexts
    self.unclaimed = unclaimed
  }

  public static func + (left: Self, right: Self) -> Self {
    Self(
      receipts: left.receipts.merging(right.receipts, uniquingKeysWith: +),
      contexts: left.contexts + right.contexts, unclaimed: left.unclaimed + right.unclaimed)
  }

  /// - Returns: the number of receipts with an outcome.
  public subscript(outcome: JoinOutcome) -> Int64 { receipts[outcome] ?? 0 }

  /// All receipts.
  public var total: Int64 { receipts.values.reduce(0, +) }

  /// Receipts with a context that no other purchase names.
  public var joined: Int64 { receipts.reduce(0) { $0 + ($1.key.isJoined ? $1.value : 0) } }

  /// The share of the receipts that joined, rounded down; nil without receipts.
  public var joinedPercent: Int64? { total > 0 ? joined * 100 / total : nil }
}
