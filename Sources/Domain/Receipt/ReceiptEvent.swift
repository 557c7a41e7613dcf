// The events in a receipt's life. Pure; any thread.

/// An event in a receipt's life. `Receipt.apply` defines what follows from it in each state.
public enum ReceiptEvent: Sendable, Equatable {
  /// The join decided about the purchase.
  case resolved(ReceiptResolution)
  /// Nothing can be decided yet: decide again at that time.
  case postponed(until: Timestamp)
  /// The purchase lost its context before the receipt was sent, or its destination is not configured any
  /// more: decide again. A reversal waits for its own destination.
  case withdrawn(Reason, until: Timestamp)
  /// Its destination is not configured any more, and another one is.
  case redirected(ReceiptPayload)
  /// The purchase lost its context after its receipt had ended unsent. The payload is what a replay would
  /// send; nil if nothing can be sent.
  case recomposed(ReceiptPayload?)
  /// The receipt was changed while an attempt was under way: keep what the destination received.
  case foundSent(SentReceipt)
  /// Another purchase names the context with which this receipt was sent.
  case contextDisputed
  /// A delivery attempt has ended.
  case attempted(ReceiptAttempt)
  /// Its time for attempts ended while the destination was known to be down.
  case gaveUp
  /// The payment went back to the customer: report that to the destination that accepted the purchase. Also
  /// when that destination is there again.
  case reversed(ReceiptPayload)
  /// An operator sends it again; a delivered one only with force.
  /// - payload: what to send if it never became ready, or if its bytes are for another destination.
  case replayed(dueAt: Timestamp, force: Bool, payload: ReceiptPayload?)
  /// An operator cancels it.
  case cancelled(note: String)
  /// An event showed that the sale is not the app's.
  case excepted
  /// An operator supplied what it lacked.
  case completed(ReceiptPayload, changesContext: Bool)
  /// An operator corrects what it said with another receipt of the same purchase.
  case corrected(by: ReceiptID)
  /// It has a copy for a second destination now.
  case copied(ReceiptCopy)
  /// The purchase's own receipt was decided about, and this copy of it was not sent: it gets the same
  /// decision, in its destination's format.
  case followed(ReceiptResolution)
  /// Its user was erased.
  /// - cancelsOpen: whether a receipt that is still to be delivered is also cancelled.
  case erased(cancelsOpen: Bool)
}

/// What the join decided about a purchase's receipt.
public enum ReceiptResolution: Sendable, Equatable {
  case waiting(Reason, until: Timestamp)
  case ready(ReceiptPayload)
  case failed(Reason)
  case cancelled(Reason)
}

/// The result of an ended attempt for its receipt.
public struct ReceiptAttempt: Sendable, Equatable {
  /// The HTTP status of the answer; nil without an answer.
  public var status: Int64?
  /// Why the attempt failed; nil if it says nothing about the destination.
  public var cause: Reason?
  public var decision: Delivery.Decision

  public init(status: Int64?, cause: Reason?, decision: Delivery.Decision) {
    self.status = status
    self.cause = cause
    self.decision = decision
  }
}

/// What a destination received.
public struct SentReceipt: Sendable, Equatable {
  public var destination: DestinationName
  public var body: [UInt8]
  /// The content of the body; nil if it cannot be determined.
  public var content: Content?

  /// What a body says, and what is doubtful about it.
  public struct Content: Sendable, Equatable {
    public var priceID: PriceID?
    public var priceMismatch: Bool
    /// Whether another purchase names the context that was sent.
    public var contextDisputed: Bool

    public init(priceID: PriceID?, priceMismatch: Bool, contextDisputed: Bool) {
      self.priceID = priceID
      self.priceMismatch = priceMismatch
      self.contextDisputed = contextDisputed
    }
  }

  public init(to destination: DestinationName, body: [UInt8], content: Content?) {
    self.destination = destination
    self.body = body
    self.content = content
  }
}

/// Why an event does not change a receipt.
public enum ReceiptRefusal: Error, Sendable, Equatable {
  /// Its state does not allow it.
  case notAllowed(ReceiptState)
  /// It has no body, and none was supplied.
  case hasNoBody
  /// Another receipt corrects it.
  case isCorrected
}

/// When something happens to a receipt.
public struct ReceiptMoment: Sendable, Equatable {
  public var now: Timestamp
  /// How long the receipt's app has been paused in total; no retry budget counts this time.
  public var pausedTime: Duration

  public init(now: Timestamp, pausedTime: Duration) {
    self.now = now
    self.pausedTime = pausedTime
  }
}
