// A receipt that moved from one state to another, as the log tells it. Gathered while a transaction is open,
// without a word being written; told once it is on disk. Values; any thread.

public import Domain

/// What a change came from, as far as the log can name it.
public struct ChangeCause: Sendable, Equatable {
  /// The id under which the request is found in the log.
  public var requestID: String?
  /// The processor's own id of the event.
  public var eventID: String?

  public init(requestID: String? = nil, eventID: String? = nil) {
    self.requestID = requestID
    self.eventID = eventID
  }
}

/// One receipt's way from one state, or from one reason for it, to the next.
public struct ReceiptTransition: Sendable, Equatable {
  public var app: String
  public var receiptID: String
  /// Nil for a new receipt.
  public var from: ReceiptState?
  public var to: ReceiptState
  public var reason: Reason?
  public var attempts: Int64
  public var lastStatus: Int64?
  /// Why the last attempt failed.
  public var lastCause: Reason?
  public var importID: String?
  /// Until when a waiting one waits.
  public var waitUntil: Timestamp?
  /// Personal data.
  public var userID: String?
  public var cause: ChangeCause

  /// - Returns: nil when neither the state nor the reason changed.
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
