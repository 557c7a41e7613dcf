// A payment order of the simulated Swedbank Pay and its states. A value; pure.

internal import Formats

/// What changes a payment order. The raw value is its name in paths and on the command line.
public enum SandboxSwedbankAction: String, Sendable, CaseIterable {
  /// The payer pays; the money is captured at once, as with Swish.
  case pay
  /// The payer pays; the money is reserved until a capture, as with a card.
  case authorize
  /// The payment fails; the payer may try again.
  case fail
  /// The payer or the merchant cancels before a capture.
  case cancel
  /// The merchant gives the order up before the payer has paid.
  case abort
  /// The merchant captures reserved money.
  case capture
  /// The merchant pays captured money back.
  case reverse
}

/// A payment order.
public struct SandboxSwedbankOrder: Sendable, Equatable {
  public enum Status: String, Sendable, CaseIterable {
    case initialized = "Initialized"
    case paid = "Paid"
    case failed = "Failed"
    case cancelled = "Cancelled"
    case aborted = "Aborted"
    case reversed = "Reversed"
  }

  /// The version of the API that created it. It determines the operations and the form of callbacks.
  public enum Version: String, Sendable {
    case v2 = "2.0"
    case v3 = "3.0"
    case v31 = "3.1"
  }

  /// One movement of money.
  public struct Transaction: Sendable, Equatable {
    public var id: String
    /// `Authorization`, `Sale`, `Verification`, `Capture`, `Cancellation` or `Reversal`.
    public var type: String
    public var number: Int64
    public var amount: Int64
    public var payeeReference: String
    /// Unix milliseconds.
    public var created: Int64
  }

  /// A token of the payer's card.
  public struct Token: Sendable, Equatable {
    /// `payment`, `recurrence` or `unscheduled`.
    public var type: String
    public var token: String
  }

  public let uuid: String
  public let version: Version
  /// Unix milliseconds.
  public let created: Int64
  public internal(set) var updated: Int64
  /// `Purchase` or `Verify`.
  public let operation: String
  public let currency: String
  /// In the smallest unit of the currency.
  public internal(set) var amount: Int64
  public internal(set) var vatAmount: Int64
  public let description: String
  public let language: String
  public let payeeReference: String
  public let orderReference: String?
  public let callbackURL: String?
  public let completeURL: String
  public let cancelURL: String?
  public let payerReference: String?
  /// The `User-Agent` of the request that created it.
  public let creator: String
  /// As the request has them; nil without them.
  let orderItems: JSONValue?
  public let availableInstruments: [String]
  public internal(set) var instrument: String
  public internal(set) var status = Status.initialized
  public internal(set) var abortReason: String?
  /// All in the smallest unit of the currency.
  public internal(set) var authorizedAmount: Int64 = 0
  public internal(set) var capturedAmount: Int64 = 0
  public internal(set) var cancelledAmount: Int64 = 0
  public internal(set) var reversedAmount: Int64 = 0
  public internal(set) var transactions: [Transaction] = []
  /// The kinds of tokens that the order asked for.
  let tokenTypes: [String]
  public internal(set) var tokens: [Token] = []
  /// The number of the last attempt, transaction or callback.
  public internal(set) var number: Int64
  /// How many requests of the merchant asked for a capture, for the order's state, and how many callbacks
  /// were due.
  public internal(set) var captureRequests = 0
  public internal(set) var reads = 0
  public internal(set) var callbacks = 0
  let paymentUUID: String

  /// The resource: `/psp/paymentorders/<uuid>`.
  public var id: String { "/psp/paymentorders/\(uuid)" }

  /// What a capture, and what a reversal may still move.
  public var capturableAmount: Int64 { authorizedAmount - capturedAmount - cancelledAmount }
  public var reversibleAmount: Int64 { capturedAmount - reversedAmount }

  /// Whether the payer has not paid, and still can.
  public var isOpen: Bool { status == .initialized || status == .failed }
}

extension SandboxSwedbankOrder {
  /// What a change needs in addition to the order.
  struct Change {
    var action: SandboxSwedbankAction
    /// Of a capture, a cancellation or a reversal; nil means all that is left.
    var amount: Int64?
    /// The merchant's reference of the transaction; nil means the order's.
    var reference: String?
    var uuid: String
    var number: Int64
    /// Unix milliseconds.
    var now: Int64
  }

  /// Applies a change.
  /// - Returns: false if the state forbids it; nothing has changed then.
  mutating func apply(_ change: Change) -> Bool {
    switch change.action {
    case .pay, .authorize, .fail, .abort: guard isOpen else { return false }
    case .cancel: guard isOpen || capturableAmount > 0 else { return false }
    case .capture: guard Self.allows(change.amount, of: capturableAmount) else { return false }
    case .reverse: guard Self.allows(change.amount, of: reversibleAmount) else { return false }
    }
    switch change.action {
    case .pay: pay(change, isCaptured: true)
    case .authorize: pay(change, isCaptured: false)
    case .fail: status = .failed
    case .abort: status = .aborted
    case .cancel:
      if capturableAmount > 0 {
        let amount = capturableAmount
        cancelledAmount += amount
        add("Cancellation", amount, change)
      }
      if capturedAmount == 0 { status = .cancelled }
    case .capture:
      let amount = change.amount ?? capturableAmount
      capturedAmount += amount
      add("Capture", amount, change)
    case .reverse:
      let amount = change.amount ?? reversibleAmount
      reversedAmount += amount
      if reversibleAmount == 0, capturableAmount == 0 { status = .reversed }
      add("Reversal", amount, change)
    }
    (updated, number) = (change.now, change.number)
    return true
  }

  private mutating func pay(_ change: Change, isCaptured: Bool) {
    status = .paid
    authorizedAmount = amount
    if isCaptured { capturedAmount = amount }
    add(operation == "Verify" ? "Verification" : isCaptured ? "Sale" : "Authorization", amount, change)
  }

  private mutating func add(_ type: String, _ amount: Int64, _ change: Change) {
    transactions.append(
      Transaction(
        id: "/psp/creditcard/payments/\(paymentUUID)/\(type.lowercased())s/\(change.uuid)", type: type,
        number: change.number, amount: amount, payeeReference: change.reference ?? payeeReference,
        created: change.now))
  }

  private static func allows(_ amount: Int64?, of rest: Int64) -> Bool {
    rest > 0 && (amount.map { (1...rest).contains($0) } ?? true)
  }
}
