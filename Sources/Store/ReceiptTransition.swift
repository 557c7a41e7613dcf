// A receipt's change of state, for the log. Collected while a transaction is open, and reported once it is on
// disk. Values; any thread.

public import Domain

/// The cause of a change, if known.
public struct ChangeCause: Sendable, Equatable {
  /// The id of the request in the log.
  public var requestID: String?
  /// The processor's event id.
  public var eventID: EventID?
}

/// A receipt's change from one state or reason to another.
public struct ReceiptTransition: Sendable, Equatable {
  public var app: AppSlug
  public var receiptID: ReceiptID
  /// Nil for a new receipt.
  public var from: ReceiptState?
  public var to: ReceiptState
  public var reason: Reason?
  public var attempts: Int64
  public var lastStatus: Int64?
  /// Why the last attempt failed.
  public var lastCause: Reason?
  public var importID: String?
  /// The end of a waiting receipt's wait.
  public var waitUntil: Timestamp?
  /// Personal data.
  public var userID: UserID?
  public var cause: ChangeCause

  /// - Returns: nil if neither the state nor the reason changed.
  init?(from old: PurchaseRecord?, to new: PurchaseRecord, cause: ChangeCause) {
    guard let receipt = new.receipt else { return nil }
    let before = old?.receipt
    guard before?.state != receipt.state || before?.reason != receipt.reason else { return nil }
    app = new.app
    receiptID = receipt.id
    from = before?.state
    to = receipt.state
    reason = receipt.reason
    attempts = receipt.attempts
    lastStatus = receipt.lastStatus
    lastCause = receipt.lastCause
    importID = receipt.importID
    waitUntil = receipt.waitUntil
    userID = new.purchase.userID
    self.cause = cause
  }
}
