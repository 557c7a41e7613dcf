// The receipt's states and reasons: the words that columns, answers, tables and metrics use. Pure; any
// thread.

/// Where a receipt stands.
public enum ReceiptState: String, Sendable, CaseIterable {
  case waiting, pending, delivered, failed, cancelled
}

/// Why a receipt stands where it does; nil reads as "nothing to say" (pending and delivered).
public struct Reason: Sendable, Hashable, CustomStringConvertible {
  public let text: String
  public init(_ text: String) { self.text = text }
  public var description: String { text }

  // What a waiting receipt waits for, and what a failed one never got.
  public static let payment = Reason("payment")
  /// The checkout is paid; the subscription that it sold has no name yet.
  public static let subscription = Reason("subscription")
  public static let user = Reason("user")
  public static let price = Reason("price")
  public static let context = Reason("context")
  // Ends of an unpaid checkout.
  public static let paymentFailed = Reason("payment_failed")
  public static let sessionExpired = Reason("session_expired")
  // Ends of a delivery.
  public static let gaveUp = Reason("gave_up")
  /// The destination refused the receipt with this status.
  public static func status(_ status: Int) -> Reason { Reason("http_\(status)") }
  // An operator's choice.
  public static let byOperator = Reason("operator")
  /// Its user was forgotten.
  public static let erased = Reason("erased")

  /// Whether a receipt cannot be made of what is known, so that sending it again is no help.
  public var forbidsReplay: Bool { self == .user || self == .price || self == .subscription }

  /// Reasons under which a receipt is still open to what later events and contexts bring, even when it has
  /// ended.
  public static let ofJoin: Set<Reason> = [
    .payment, .subscription, .user, .price, .context, .paymentFailed, .sessionExpired,
  ]
}

/// What a destination is to be told; fixed when the receipt becomes ready.
public struct ReceiptContent: Sendable, Equatable {
  public var userID: String
  public var key: PurchaseKey
  public var priceID: String
  /// `ply_context`, when there is one.
  public var context: String?

  public init(userID: String, key: PurchaseKey, priceID: String, context: String?) {
    self.userID = userID
    self.key = key
    self.priceID = priceID
    self.context = context
  }
}
