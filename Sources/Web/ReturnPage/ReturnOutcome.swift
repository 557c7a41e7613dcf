// The outcome that the return page shows: from the database, not from the request's claims. Pure; called from
// any thread.

internal import Domain
internal import Store

/// The outcome of a checkout, as shown to a customer.
public enum ReturnOutcome: String, Sendable, CaseIterable {
  /// No event has arrived yet. `noPaymentYet` is the same for customers who came back through the cancel
  /// link.
  case waiting, noPaymentYet
  /// The checkout is complete; the payment is pending.
  case underWay
  case paid, delivered
  /// Paid, but the delivery failed. An operator resolves that, so the customer sees a success.
  case undelivered
  /// Ended without a payment.
  case unpaid
  case cancelled, expired
  /// The checkout is unknown.
  case unknown
  /// The store cannot be read.
  case unavailable

  /// The outcome that a checkout page claims in its return URL. Untrusted.
  public enum Claim: String, Sendable {
    case success, cancel
  }

  /// - Parameter claim: selects only between texts with the same meaning.
  init(_ status: CheckoutStatus, claim: Claim?) {
    switch status.state {
    case .open where status.reason == .payment: self = .underWay
    case .open: self = claim == .cancel ? .noPaymentYet : .waiting
    case .paid: self = .paid
    case .delivered: self = .delivered
    case .failed: self = status.endedUnpaid ? .unpaid : .undelivered
    case .cancelled: self = status.endedUnpaid ? .unpaid : .cancelled
    case .expired: self = .expired
    }
  }

  /// A success without a payment: a customer who paid nothing does not read that a payment was received.
  enum Success: String, CaseIterable {
    case freeOrder, trial
  }

  /// - Parameter summary: what was bought, if it is known.
  /// - Returns: nil if something was paid, and for outcomes that are no success.
  func success(_ summary: PurchaseSummary?) -> Success? {
    switch self {
    case .paid, .delivered, .undelivered:
      guard let summary, summary.money == nil else { return nil }
      return summary.isTrial ? .trial : summary.isFree ? .freeOrder : nil
    case .waiting, .noPaymentYet, .underWay, .unpaid, .cancelled, .expired, .unknown, .unavailable:
      return nil
    }
  }

  /// What a page without the name of a checkout says: only which of the merchant's URLs led to it. Each is
  /// true whatever became of the payment.
  enum Back: String, CaseIterable {
    case finished, left

    init(_ claim: Claim) {
      switch claim {
      case .success: self = .finished
      case .cancel: self = .left
      }
    }
  }

  /// Whether the outcome may still change.
  var isUnderWay: Bool {
    switch self {
    case .waiting, .noPaymentYet, .underWay, .paid, .unavailable: true
    case .delivered, .undelivered, .unpaid, .cancelled, .expired, .unknown: false
    }
  }

  /// Whether it says that the customer has completed the checkout, so what was bought may be shown.
  var isComplete: Bool {
    switch self {
    case .underWay, .paid, .delivered, .undelivered: true
    case .waiting, .noPaymentYet, .unpaid, .cancelled, .expired, .unknown, .unavailable: false
    }
  }

  var tone: PublicPage.Tone {
    switch self {
    case .paid, .delivered, .undelivered: .good
    case .waiting, .underWay, .unavailable: .waiting
    case .noPaymentYet: .stopped
    case .unpaid, .cancelled, .expired: .attention
    case .unknown: .neutral
    }
  }
}

extension CheckoutStatus {
  /// Whether it ended without a payment: a failed payment cancels the receipt, a missing one fails it.
  fileprivate var endedUnpaid: Bool {
    if paid { return false }
    return reason.map { [.payment, .paymentFailed, .sessionExpired].contains($0) } ?? false
  }
}
