// One row of `purchases`, as values: what is known of a purchase and, once it has one, its receipt. Pure; any
// thread.

public import Domain

/// A receipt as it is kept: one row of the outbox.
public struct Receipt: Sendable, Equatable {
  public var id: String
  public var state: ReceiptState
  public var reason: Reason?
  /// When to look at a waiting one again; nil for as long as it takes.
  public var waitUntil: Timestamp?
  public var priceID: String?
  public var priceMismatch = false
  /// It was sent with a guessed context that another purchase names.
  public var contextDisputed = false
  /// What is sent, once it is ready.
  public var body: [UInt8]?
  /// Tries that counted, in all.
  public var attempts: Int64 = 0
  /// Tries that counted, since it became ready or was replayed.
  public var spentTries: Int64 = 0
  public var lastStatus: Int64?
  /// Why the last attempt failed; nil when it did not.
  public var lastCause: Reason?
  /// Whether an operator sent it again: new receipts are delivered before it.
  public var isReplay = false
  public var importID: String?
  public var createdAt: Timestamp
  public var readyAt: Timestamp?
  public var retrySince: Timestamp?
  /// The app's paused time when the retry budget began.
  public var pausedBaseMilliseconds: Int64 = 0
  public var nextAttemptAt: Timestamp?
  public var deliveredAt: Timestamp?
  /// An operator's words.
  public var note: String?

  public init(id: String, state: ReceiptState, reason: Reason?, createdAt: Timestamp) {
    self.id = id
    self.state = state
    self.reason = reason
    self.createdAt = createdAt
  }

  /// Whether later events and contexts may still decide what becomes of it.
  public var isOpenToJoin: Bool {
    switch state {
    case .waiting: true
    case .failed, .cancelled: reason.map(Reason.ofJoin.contains) ?? false
    case .pending, .delivered: false
    }
  }
}

/// One row of `purchases`.
public struct PurchaseRecord: Sendable, Equatable {
  public var rowID: Int64
  public var app: String
  public var purchase: Purchase
  public var receipt: Receipt?
  public var updatedAt: Timestamp

  public init(rowID: Int64, app: String, purchase: Purchase, receipt: Receipt?, updatedAt: Timestamp) {
    self.rowID = rowID
    self.app = app
    self.purchase = purchase
    self.receipt = receipt
    self.updatedAt = updatedAt
  }
}

/// How strong the claim of a purchase is to a context that nobody names. A guess may be taken from a purchase
/// with a weaker claim, so that it does not matter which of the two was heard of first.
enum ContextClaim: Int, Comparable {
  /// The money was promised and is no longer waited for.
  case ended = 0
  /// The money is under way.
  case promised
  case bought

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension PurchaseRecord {
  var contextClaim: ContextClaim {
    if purchase.isBought { return .bought }
    let isOver = receipt?.state == .cancelled || receipt?.state == .failed
    return isOver || purchase.endedUnpaid ? .ended : .promised
  }

  /// Whether it has a context by a guess, and no bytes were made of it that could be sent.
  var hasOpenGuess: Bool {
    purchase.contextSource == .guess && purchase.contextID != nil && receipt?.body == nil
  }

  /// Whether a purchase that names this one's context gets it, too. A guess always yields; so does a context
  /// of which it is not known how this one came by it, but then this one keeps it as well.
  var yieldsContextToName: Bool {
    purchase.contextSource == .guess || (purchase.contextSource == .unknown && receipt != nil)
  }

  /// Whether another purchase may take the context that this one has by a guess.
  func yieldsContext(to other: PurchaseRecord) -> Bool {
    hasOpenGuess && rowID != other.rowID && contextClaim < other.contextClaim
  }
}
