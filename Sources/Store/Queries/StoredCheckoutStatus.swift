// The status of a checkout, with the names of the contract. A value; any thread.

public import Domain

/// The status of a checkout as the app sees it.
public struct CheckoutStatus: Sendable, Equatable {
  /// The names of the contract (status of a checkout).
  public enum State: String, Sendable, CaseIterable {
    case open, paid, delivered, failed, cancelled, expired

    public var isFinal: Bool { self != .open && self != .paid }

    init(isClaimed: Bool, isExpired: Bool, _ receipt: ReceiptState?, _ reason: Reason?) {
      self =
        switch receipt {
        case .delivered: .delivered
        case .failed: .failed
        case .cancelled: .cancelled
        case .pending: .paid
        // The checkout is complete but not paid, or it is not known yet whether it is paid.
        case .waiting: reason == .payment || reason == .checkout ? .open : .paid
        case nil: isClaimed || !isExpired ? .open : .expired
        }
    }
  }

  /// The context that the checkout was opened with; nil if none is known.
  public var contextID: ContextID?
  /// The user of the context; nil if the status was not requested by context. Must not be sent to clients.
  public var userID: UserID?
  public var state: State
  /// Whether it is paid, regardless of the receipt's state.
  public var paid: Bool
  /// The reason of the receipt's state. Must not be sent to clients.
  public var reason: Reason?
  public var receiptID: ReceiptID?
  /// When the context expires if no purchase claims it; nil once one has.
  public var expiresAt: Timestamp?
  public var updatedAt: Timestamp
  /// When the present status began: the last post of the context, or the last change of the purchase.
  public var begunAt: Timestamp

  /// Whether its page offers the customer to claim it: it is paid, lacks its user, and was paid a short time
  /// ago.
  public func offersClaim(now: Timestamp) -> Bool {
    guard paid, reason == .user, state == .paid || state == .failed else { return false }
    // A receipt that failed changed long after the payment.
    let since = state == .paid ? begunAt : receiptID?.time ?? begunAt
    return now.duration(since: since) < Claim.pagePeriod
  }

  /// Whether the purchase is known to be paid.
  static func isPaid(_ observations: Observations, _ receipt: ReceiptState?, _ reason: Reason?) -> Bool {
    receipt == .delivered || (reason != .checkout && observations.showPayment)
  }
}

/// How a returning customer's checkout can be identified.
public enum CheckoutName: Sendable, Equatable {
  case context(ContextID)
  /// The processor's checkout session.
  case session(SessionID)
  /// A payment that was started through the relay: its id at the processor.
  case payment(ObjectID)
}
