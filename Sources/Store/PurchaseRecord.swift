// One row of `purchases`, as values: what is known of a purchase and, once it has one, its receipt. Pure; any
// thread.

public import Domain

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

  /// Whose purchase it is.
  var place: AppProcessor { AppProcessor(app, purchase.key.processor) }

  /// Applies an event to the receipt.
  /// - Returns: why it does not change the receipt; nil when it did.
  @discardableResult
  mutating func apply(_ event: ReceiptEvent, at moment: ReceiptMoment) -> ReceiptRefusal? {
    do throws(ReceiptRefusal) {
      try receipt?.apply(event, at: moment)
      assert(receipt?.contradiction == nil, receipt?.contradiction ?? "")
      return nil
    } catch {
      return error
    }
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
