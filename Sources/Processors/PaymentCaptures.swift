// Captures: calls that charge a customer. A capture is an obligation: it is stored before it is sent, takes
// effect at most once, and is finished after a crash or a lost answer by asking for the payment's state
// first.
// Pure; any thread.

public import Domain

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
}

/// The final outcome of a capture.
public struct CaptureOutcome: Sendable, Equatable {
  public enum Kind: String, Sendable, CaseIterable {
    case captured, declined, refused, abandoned
  }
  public var kind: Kind
  /// The status of the answer to the app.
  public var status: Int
  /// The body of the answer to the app: JSON.
  public var body: [UInt8]

  public init(kind: Kind, status: Int, body: [UInt8]) {
    self.kind = kind
    self.status = status
    self.body = body
  }
}
