// Orders to capture a payment, and how they end. Pure; any thread.

/// The order to capture a payment.
public struct CaptureOrder: Sendable, Equatable {
  public var key: PurchaseKey
  public var user: UserID
  /// The grant that the app received, which is stored with the capture; nil if none is needed.
  public var grantID: String?

  public init(key: PurchaseKey, user: UserID, grantID: String? = nil) {
    self.key = key
    self.user = user
    self.grantID = grantID
  }
}

/// A capture in the database.
public struct StoredCapture: Sendable, Equatable {
  public var orderedAt: Timestamp
  /// Nil while its outcome is unknown.
  public var outcome: CaptureOutcome?

  public init(orderedAt: Timestamp, outcome: CaptureOutcome? = nil) {
    self.orderedAt = orderedAt
    self.outcome = outcome
  }

  /// Decides what an order means for a payment whose newest capture is this one. All orders for one payment
  /// share an obligation until it ends without effect.
  /// - Parameter newest: nil if the payment has no capture.
  public static func admit(_ newest: StoredCapture?) -> CaptureAdmission {
    guard let newest else { return .begin(isRepeat: false) }
    guard let outcome = newest.outcome else { return .join }
    return outcome.kind.allowsAnother ? .begin(isRepeat: true) : .ended(outcome)
  }
}

/// What an order to capture a payment means.
public enum CaptureAdmission: Sendable, Equatable {
  /// Store a new capture, and carry it out.
  /// - isRepeat: whether another capture of the payment ended without effect before.
  case begin(isRepeat: Bool)
  /// A capture is under way: the order gets its answer.
  case join
  /// The capture has ended: the order gets the same answer as the first.
  case ended(CaptureOutcome)
}

/// The final outcome of a capture.
public struct CaptureOutcome: Sendable, Equatable {
  /// The raw value is stored.
  public enum Kind: String, Sendable, CaseIterable {
    /// The customer was charged.
    case captured
    /// The processor declined the payment, and will not change that.
    case declined
    /// The processor refused the call: nothing was captured.
    case refused
    /// The customer has not confirmed the payment yet: nothing was captured, and it may be ordered again.
    case unconfirmed
    /// The relay gave up: the outcome is unknown after a week, or the processor refused a capture that no app
    /// ordered. An operator must look at it.
    case abandoned

    /// Whether the payment may be captured by another order.
    public var allowsAnother: Bool { self == .unconfirmed }
  }

  public var kind: Kind
  /// The status of the answer to the app.
  public var status: Int
  /// The body of the answer to the app: JSON. A problem document if the status is 400 or more; it is
  /// completed for each request. Empty for `abandoned`.
  public var body: [UInt8]

  public init(kind: Kind, status: Int, body: [UInt8]) {
    self.kind = kind
    self.status = status
    self.body = body
  }

  public static let abandoned = CaptureOutcome(kind: .abandoned, status: 504, body: [])
}
