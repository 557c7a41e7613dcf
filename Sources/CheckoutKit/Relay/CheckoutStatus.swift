// The state of a checkout, as the relay reports it. Pure; thread-safe.

public import Foundation

/// The relay's status of a checkout.
public struct CheckoutStatus: Sendable, Hashable {
  /// The context that was posted before the checkout.
  public let contextID: String
  /// The state of the checkout.
  public let state: State
  /// Whether the money was received, whatever the state of the receipt. An older relay does not send it: then
  /// `failed` counts as paid, because a customer who paid must not read that nothing was bought.
  public let isPaid: Bool
  /// What the checkout charged, in the currency's smallest unit; nil before the payment, and if the relay
  /// does not know it. It is 0 for a free order and for a trial: do not show that a payment was received.
  public let amount: Int64?
  /// The currency of the amount (ISO 4217); nil if nothing was charged.
  public let currency: String?
  /// Whether the subscription began with a trial.
  public let isTrial: Bool
  /// The receipt of the purchase; nil before the payment.
  public let receiptID: String?
  /// When the state changed last.
  public let updatedAt: Date?

  /// The state of a checkout. A newer relay may send other values.
  public struct State: RawRepresentable, Sendable, Hashable {
    /// The value that the relay sends.
    public let rawValue: String

    /// Creates a state from the relay's value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not paid yet.
    public static let open = State(rawValue: "open")
    /// Paid; the receipt is on its way to Purchasely.
    public static let paid = State(rawValue: "paid")
    /// Purchasely has accepted the receipt, and processes it later.
    public static let delivered = State(rawValue: "delivered")
    /// The receipt could not be delivered, or the money never came; see ``CheckoutStatus/isPaid``.
    public static let failed = State(rawValue: "failed")
    /// The payment failed, or an operator cancelled the receipt, possibly after the payment.
    public static let cancelled = State(rawValue: "cancelled")
    /// No payment was received in time. One that comes later changes it to `paid`.
    public static let expired = State(rawValue: "expired")

    /// Whether polling can end: only an operator can change the state, or after `expired` a late payment. It
    /// does not imply a payment; decide by ``CheckoutStatus/progress``.
    public var isFinal: Bool { [.delivered, .failed, .cancelled, .expired].contains(self) }
  }

  /// What an app decides by: what to show, and whether to keep the checkout's id.
  public enum Progress: String, Sendable, Hashable, CaseIterable {
    /// Not paid yet. Keep the id.
    case pending
    /// Paid, and not delivered yet. Keep the id and ask again later. If the state is final, the merchant has
    /// to act first.
    case processing
    /// Purchasely has accepted the receipt. Reload the entitlements from the app's backend, and keep the id
    /// until they have the purchase.
    case processed
    /// It ended without a payment. Discard the id; if the state is `expired`, keep it for 30 days and ask
    /// again now and then, because a late payment still counts.
    case unpaid

    /// Whether the checkout has ended, so that the app need not wait for it. Keep the id of a `processed` one
    /// until the entitlements have the purchase, and that of an `expired` one for 30 days.
    public var isOver: Bool { self == .processed || self == .unpaid }
  }

  /// What to show, and whether to keep the id.
  public var progress: Progress {
    if state == .delivered { return .processed }
    if isPaid { return .processing }
    return state.isFinal ? .unpaid : .pending
  }
}

extension CheckoutStatus {
  private struct Document: Decodable {
    let context_id: String
    let state: String
    let paid: Bool?
    let amount: Int64?
    let currency: String?
    let trial: Bool?
    let receipt_id: String?
    let updated_at: String?
  }

  /// - Returns: nil when the body is not a status.
  init?(body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
      return nil  // The caller has the body and reports it.
    }
    contextID = document.context_id
    let state = State(rawValue: document.state)
    self.state = state
    isPaid = document.paid ?? [.paid, .delivered, .failed].contains(state)
    amount = document.amount
    currency = document.currency
    isTrial = document.trial ?? false
    receiptID = document.receipt_id
    updatedAt = document.updated_at.flatMap(RFC3339.date)
  }
}
