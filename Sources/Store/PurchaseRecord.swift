// One row of `purchases` as values: a purchase and its receipt, if it has one. Pure; any thread.

public import Domain

/// One row of `purchases`.
public struct PurchaseRecord: Sendable, Equatable {
  public var rowID: PurchaseRowID
  public var app: AppSlug
  public var purchase: Purchase
  public var receipt: Receipt?
  public var updatedAt: Timestamp

  public init(
    rowID: PurchaseRowID, app: AppSlug, purchase: Purchase, receipt: Receipt?, updatedAt: Timestamp
  ) {
    self.rowID = rowID
    self.app = app
    self.purchase = purchase
    self.receipt = receipt
    self.updatedAt = updatedAt
  }

  /// What names it outside of the transaction that read it.
  public var reference: PurchaseReference { PurchaseReference(row: rowID, key: purchase.key) }

  /// Whether it is the purchase's own row, which alone takes part in the join: its receipt neither corrects
  /// another one nor is the copy for a second destination.
  var isOwn: Bool { receipt?.corrects == nil && !isCopy }

  /// Whether its receipt is for the second destination of the purchase.
  var isCopy: Bool { receipt?.copyOf != nil }

  /// The purchase's app and processor.
  var place: AppProcessor { AppProcessor(app, purchase.key.processor) }

  /// The outcome of its events.
  var outcome: EventOutcome {
    if let receipt, receipt.reason != .foreign { return .receipt }
    return purchase.isForeign ? .foreign : .noted
  }

  /// Whether it is paid and has no receipt, because nothing names its user.
  public var isUnmatched: Bool { receipt == nil && purchase.isUnmatched }

  /// Applies an event to the receipt.
  /// - Returns: why it was not applied; nil on success.
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

/// A purchase that one transaction found, for a later one.
///
/// A row's number alone does not name it. After a failover that lost commits, PostgreSQL gives the numbers of
/// what was lost again. A receipt's id contains its row, so a `ReceiptID` is such a reference, too.
public struct PurchaseReference: Sendable, Hashable {
  public var row: PurchaseRowID
  public var key: PurchaseKey

  public init(row: PurchaseRowID, key: PurchaseKey) {
    self.row = row
    self.key = key
  }
}

/// The strength of a purchase's claim to a context that no event names. A purchase with a stronger claim may
/// take a guess from one with a weaker claim, so the order of arrival does not matter.
enum ContextClaim: Int, Comparable {
  /// The payment was promised and is no longer expected.
  case ended = 0
  /// The payment is under way.
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

  /// Whether it has a guessed context, and no body was made from it.
  var hasOpenGuess: Bool {
    purchase.contextSource == .guess && purchase.contextID != nil && receipt?.body == nil
  }

  /// Whether a purchase that names this one's context gets it, too. A guess always yields, and so does a
  /// payment that was only started: a user who starts another one with the same context has left it.
  var yieldsContextToName: Bool { purchase.contextSource == .guess || isOnlyStarted }

  /// Whether it is a payment that was started, and no receipt is made for.
  var isOnlyStarted: Bool {
    purchase.observations.contains(.started) && receipt == nil && !purchase.deservesReceipt
  }

  /// Whether another purchase may take this one's guessed context.
  func yieldsContext(to other: PurchaseRecord) -> Bool {
    hasOpenGuess && rowID != other.rowID && contextClaim < other.contextClaim
  }
}
