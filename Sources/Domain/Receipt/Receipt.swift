// A receipt as stored. Only its life cycle (`ReceiptLifeCycle.swift`) changes it: outside this target every
// property is read-only. Pure; any thread.

/// A receipt.
public struct Receipt: Sendable, Equatable {
  public let id: ReceiptID
  public let createdAt: Timestamp
  public internal(set) var state: ReceiptState
  /// Why it is in this state; nil for pending and delivered receipts.
  public internal(set) var reason: Reason?
  /// When to decide again about a waiting receipt.
  public internal(set) var waitUntil: Timestamp?
  public internal(set) var priceID: PriceID?
  /// Whether the context names a different price from the processor's.
  public internal(set) var priceMismatch: Bool
  /// Whether it was sent with a guessed context that another purchase names.
  public internal(set) var contextDisputed: Bool
  /// The destination that `body` is for; nil without a body.
  public internal(set) var destination: DestinationName?
  /// Whether `body` reports that the payment was reversed. The destination accepted the purchase before.
  public internal(set) var isReversal: Bool
  /// The request body to send; nil until the receipt is ready.
  public internal(set) var body: [UInt8]?
  /// All attempts that counted.
  public internal(set) var attempts: Int64
  /// Attempts that counted since it became ready or was replayed.
  public internal(set) var spentAttempts: Int64
  /// The HTTP status of the last answer.
  public internal(set) var lastStatus: Int64?
  /// Why the last attempt failed; nil if it did not.
  public internal(set) var lastCause: Reason?
  /// Whether an operator sent it again. New receipts are delivered before replays.
  public internal(set) var isReplay: Bool
  public internal(set) var importID: String?
  public internal(set) var readyAt: Timestamp?
  /// When the retry budget began.
  public internal(set) var retrySince: Timestamp?
  /// How long the app had been paused when the retry budget began.
  public internal(set) var pausedBase: Duration
  public internal(set) var nextAttemptAt: Timestamp?
  public internal(set) var deliveredAt: Timestamp?
  /// The operator's note.
  public internal(set) var note: String?
  /// The delivered receipt of the same purchase that an operator corrected with this one; nil if this is the
  /// purchase's first.
  public let corrects: ReceiptID?
  /// The receipt that corrects this one. What this one said is known to be wrong, so it is never sent again.
  public internal(set) var correctedBy: ReceiptID?
  /// If this is the copy for a second destination: the purchase's own receipt, and this one's destination.
  public let copyOf: ReceiptCopy?
  /// The copy of this receipt for a second destination, and that destination; nil if there is none.
  public internal(set) var copy: ReceiptCopy?

  /// Makes a receipt from its stored columns. `Receipt.begin` makes a new receipt.
  public init(
    id: ReceiptID, createdAt: Timestamp, state: ReceiptState, reason: Reason?, waitUntil: Timestamp? = nil,
    priceID: PriceID? = nil, priceMismatch: Bool = false, contextDisputed: Bool = false,
    destination: DestinationName? = nil, isReversal: Bool = false, body: [UInt8]? = nil,
    attempts: Int64 = 0, spentAttempts: Int64 = 0, lastStatus: Int64? = nil, lastCause: Reason? = nil,
    isReplay: Bool = false, importID: String? = nil, readyAt: Timestamp? = nil, retrySince: Timestamp? = nil,
    pausedBase: Duration = .zero, nextAttemptAt: Timestamp? = nil, deliveredAt: Timestamp? = nil,
    note: String? = nil, corrects: ReceiptID? = nil, correctedBy: ReceiptID? = nil,
    copyOf: ReceiptCopy? = nil, copy: ReceiptCopy? = nil
  ) {
    self.id = id
    self.createdAt = createdAt
    self.state = state
    self.reason = reason
    self.waitUntil = waitUntil
    self.priceID = priceID
    self.priceMismatch = priceMismatch
    self.contextDisputed = contextDisputed
    self.destination = destination
    self.isReversal = isReversal
    self.body = body
    self.attempts = attempts
    self.spentAttempts = spentAttempts
    self.lastStatus = lastStatus
    self.lastCause = lastCause
    self.isReplay = isReplay
    self.importID = importID
    self.readyAt = readyAt
    self.retrySince = retrySince
    self.pausedBase = pausedBase
    self.nextAttemptAt = nextAttemptAt
    self.deliveredAt = deliveredAt
    self.note = note
    self.corrects = corrects
    self.correctedBy = correctedBy
    self.copyOf = copyOf
    self.copy = copy
  }

  /// Whether later events and contexts may still change the decision about it. Not if it is a reversal: the
  /// destination accepted the purchase. A correction has the values that an operator chose: it can only wait
  /// for its destination. A copy follows the purchase's own receipt.
  public var isOpenToJoin: Bool {
    guard !isReversal, copyOf == nil, corrects == nil || state == .waiting else { return false }
    return switch state {
    case .waiting: true
    case .failed, .cancelled: reason.map(Reason.ofJoin.contains) ?? false
    case .pending, .delivered: false
    }
  }

  /// Whether it was ready once, so that its bytes may be under way. One that waits again has no bytes, but
  /// keeps the price.
  public var wasReady: Bool { body != nil || readyAt != nil || priceID != nil || attempts > 0 }

  /// Describes a violation of the rules of its state; nil if there is none. The schema has the same rules as
  /// CHECK constraints, as far as SQL can express them.
  public var contradiction: String? {
    switch state {
    case .waiting where reason == nil: "a waiting receipt has a reason"
    case .waiting where waitUntil == nil: "a waiting receipt is decided again at some time"
    case .failed where reason == nil, .cancelled where reason == nil: "a receipt that ended has a reason"
    case .pending where reason != nil, .delivered where reason != nil: "it needs no reason"
    case .pending where body == nil: "a pending receipt has a body"
    case .pending where destination == nil: "a pending receipt has a destination"
    case .pending where nextAttemptAt == nil: "a pending receipt is due at some time"
    case .pending where retrySince == nil: "a pending receipt has a retry budget"
    case .delivered where deliveredAt == nil: "a delivered receipt was delivered at some time"
    case _ where correctedBy != nil && state != .delivered: "only a delivered receipt is corrected"
    case _ where copy != nil && copyOf != nil: "a copy has no copy"
    case .pending where copyOf.map({ $0.destination != destination }) ?? false: "a copy has its destination"
    case .pending where copy.map({ $0.destination == destination }) ?? false: "its copy has another one"
    case .waiting, .pending, .delivered, .failed, .cancelled:
      state == .pending || nextAttemptAt == nil ? nil : "only a pending receipt is due"
    }
  }
}

/// The link between a purchase's own receipt and its copy for a second destination.
public struct ReceiptCopy: Sendable, Equatable {
  /// The other receipt of the two.
  public var receipt: ReceiptID
  /// The destination of the copy.
  public var destination: DestinationName

  public init(receipt: ReceiptID, destination: DestinationName) {
    self.receipt = receipt
    self.destination = destination
  }
}

extension Receipt {
  /// The other receipt, if the purchase has one for each of two destinations.
  public var twin: ReceiptID? { copyOf?.receipt ?? copy?.receipt }

  /// Whether the two differ only in what a delivery, a replay or a cancellation changes.
  public func hasContent(of other: Receipt) -> Bool {
    id == other.id && createdAt == other.createdAt && priceID == other.priceID
      && priceMismatch == other.priceMismatch && contextDisputed == other.contextDisputed
      && readyAt == other.readyAt && destination == other.destination && isReversal == other.isReversal
      && body == other.body && corrects == other.corrects && correctedBy == other.correctedBy
      && copyOf == other.copyOf && copy == other.copy
  }

  /// Whether another version is the same, except for the end of its wait.
  public func equalsExceptWait(_ other: Receipt) -> Bool {
    var same = other
    same.waitUntil = waitUntil
    return same == self
  }
}
