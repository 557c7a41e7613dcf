// What the return page says: what the relay knows, and nothing that the request claims. Pure; any thread.

internal import Domain
internal import Store

/// What became of a checkout, in the eyes of whoever was sent away to pay.
public enum ReturnOutcome: Sendable, CaseIterable {
  /// Nothing has been heard of it yet. The other one is for those whom the checkout page calls ones who gave
  /// up; it is as true.
  case waiting, noPaymentYet
  /// Complete, and the money is under way.
  case underWay
  case paid, delivered
  /// Paid, and not passed on yet, which an operator resolves: to whoever paid this is no failure.
  case undelivered
  /// It ended without a payment.
  case unpaid
  case cancelled, expired
  /// Nobody knows which checkout it is about.
  case unknown
  /// The store cannot be read.
  case unavailable

  /// What a checkout page adds to the address that it sends people back to. Anybody can write anything there.
  public enum Claim: String, Sendable {
    case success, cancel
  }

  /// - Parameter claim: chooses between words of one meaning.
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

  /// Whether news may still come.
  var isUnderWay: Bool {
    switch self {
    case .waiting, .noPaymentYet, .underWay, .paid, .unavailable: true
    case .delivered, .undelivered, .unpaid, .cancelled, .expired, .unknown: false
    }
  }

  var tone: PublicPage.Tone {
    switch self {
    case .paid, .delivered, .undelivered: .good
    case .waiting, .noPaymentYet, .underWay, .unavailable: .waiting
    case .unpaid, .cancelled, .expired: .attention
    case .unknown: .neutral
    }
  }

  func message(_ words: PageWords) -> PageWords.Message {
    switch self {
    case .waiting: words.waiting
    case .noPaymentYet: words.noPaymentYet
    case .underWay: words.underWay
    case .paid: words.paid
    case .delivered: words.delivered
    case .undelivered: words.undelivered
    case .unpaid: words.unpaid
    case .cancelled: words.cancelled
    case .expired: words.expired
    case .unknown: words.unknown
    case .unavailable: words.unavailable
    }
  }
}

extension CheckoutStatus {
  /// Whether it ended without a payment: one that failed cancels its receipt, one that never came fails it.
  fileprivate var endedUnpaid: Bool {
    if paid { return false }
    return reason.map { [.payment, .paymentFailed, .sessionExpired].contains($0) } ?? false
  }
}
