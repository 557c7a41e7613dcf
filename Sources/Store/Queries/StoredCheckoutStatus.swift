// What became of a checkout, in the words of the contract. A value; any thread.

public import Domain

/// What became of a checkout, as the app sees it.
public struct CheckoutStatus: Sendable, Equatable {
  /// The words of the contract (status of a checkout).
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
        // The checkout is complete and the money is not there yet, or whether it is there is not known yet.
        case .waiting: reason == .payment || reason == .checkout ? .open : .paid
        case nil: isClaimed || !isExpired ? .open : .expired
        }
    }
  }

  /// The context that the checkout was opened with; nil when none has been found for it.
  public var contextID: String?
  /// Whose context it is; nil when it is not asked for by one. Not for the outside.
  public var userID: String?
  public var state: State
  /// Whether the money has come, whatever became of the receipt.
  public var paid: Bool
  /// Of the receipt's state: what it waits for, or why it ended. Not for the outside.
  public var reason: Reason?
  public var receiptID: String?
  /// When it expires, unless a purchase claims it first; nil once one has.
  public var expiresAt: Timestamp?
  public var updatedAt: Timestamp
  /// Since when it has been what it is: the last post of its context, or the last news of its purchase.
  public var begunAt: Timestamp

  /// Whether the money has come for a purchase of which that is known.
  static func isPaid(_ observations: Observations, _ receipt: ReceiptState?, _ reason: Reason?) -> Bool {
    receipt == .delivered || (reason != .checkout && observations.showPayment)
  }
}

/// How a checkout may be named by whoever comes back from it.
public enum CheckoutName: Sendable, Equatable {
  case context(String)
  /// A checkout session of the processor.
  case session(String)
}
