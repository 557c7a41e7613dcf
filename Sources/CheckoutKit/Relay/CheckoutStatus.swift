// What became of a checkout. Pure; any thread.

public import Foundation

/// What the relay knows of a checkout.
public struct CheckoutStatus: Sendable, Hashable {
  /// The context that was posted before it.
  public let contextID: String
  /// How far it is.
  public let state: State
  /// Whether the money has come, whatever became of the receipt. A relay that does not say it is older than
  /// this rule: then `failed` counts as paid, because nobody may tell a customer who paid that nothing was
  /// bought.
  public let isPaid: Bool
  /// The receipt that was made of it; nil before the payment.
  public let receiptID: String?
  /// When the state became what it is.
  public let updatedAt: Date?

  /// How far a checkout is. A newer relay may know more states than these.
  public struct State: RawRepresentable, Sendable, Hashable {
    /// The relay's word.
    public let rawValue: String

    /// A state by the relay's word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Nothing was paid yet.
    public static let open = State(rawValue: "open")
    /// It is paid; what was bought will be unlocked in a moment.
    public static let paid = State(rawValue: "paid")
    /// What was bought is unlocked.
    public static let delivered = State(rawValue: "delivered")
    /// The receipt could not be passed on, or the money never came: ``CheckoutStatus/isPaid`` says which.
    public static let failed = State(rawValue: "failed")
    /// The payment failed, or an operator cancelled the receipt, which may be after the payment.
    public static let cancelled = State(rawValue: "cancelled")
    /// No payment came in time.
    public static let expired = State(rawValue: "expired")

    /// Whether the relay will not change it without an operator. It does not say whether the checkout was
    /// paid; decide by ``CheckoutStatus/progress``.
    public var isFinal: Bool { [.delivered, .failed, .cancelled, .expired].contains(self) }
  }

  /// What an app decides by: what to show, and whether to keep the checkout's id.
  public enum Progress: String, Sendable, Hashable, CaseIterable {
    /// Not paid yet. Keep the id.
    case pending
    /// Paid, and not unlocked yet. Keep the id and ask again later: if the state is final, the merchant has
    /// to act first.
    case processing
    /// What was bought is unlocked. Discard the id.
    case processed
    /// It ended without a payment. Discard the id.
    case unpaid

    /// Whether nothing more will happen to this checkout, so that its id is of no more use.
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
    let receipt_id: String?
    let updated_at: String?
  }

  /// - Returns: nil when the body is no status.
  init?(body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
      return nil  // The caller has the body and reports it.
    }
    contextID = document.context_id
    let state = State(rawValue: document.state)
    self.state = state
    isPaid = document.paid ?? [.paid, .delivered, .failed].contains(state)
    receiptID = document.receipt_id
    updatedAt = document.updated_at.flatMap(RFC3339.date)
  }
}
