// What became of a checkout. Pure; any thread.

public import Foundation

/// What the relay knows of a checkout.
public struct CheckoutStatus: Sendable, Hashable {
  /// The context that was posted before it.
  public let contextID: String
  /// How far it is.
  public let state: State
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
    /// Nothing could be unlocked, and the relay does not say here why: it was paid and someone has to look,
    /// or the money that was on its way never came.
    public static let failed = State(rawValue: "failed")
    /// The payment failed, or the purchase was called off at the relay, which may be after it was paid.
    public static let cancelled = State(rawValue: "cancelled")
    /// No payment was heard of in time.
    public static let expired = State(rawValue: "expired")

    /// Whether nothing will follow by itself.
    public var isFinal: Bool { [.delivered, .failed, .cancelled, .expired].contains(self) }

    /// The state in three words, for a screen that needs no more.
    public var progress: Progress {
      switch self {
      case .delivered: .processed
      case .failed, .cancelled, .expired: .failed
      default: .pending
      }
    }
  }

  /// A state in short.
  public enum Progress: String, Sendable, Hashable, CaseIterable {
    /// Under way.
    case pending
    /// What was bought is unlocked.
    case processed
    /// It ended without that.
    case failed
  }
}

extension CheckoutStatus {
  private struct Document: Decodable {
    let context_id: String
    let state: String
    let receipt_id: String?
    let updated_at: String?
  }

  /// - Returns: nil when the body is no status.
  init?(body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body) else {
      return nil  // The caller has the body, and tells.
    }
    contextID = document.context_id
    state = State(rawValue: document.state)
    receiptID = document.receipt_id
    updatedAt = document.updated_at.flatMap(RFC3339.date)
  }
}
