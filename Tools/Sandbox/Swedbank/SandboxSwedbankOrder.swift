// A payment order of the simulated Swedbank Pay and its states. A value; pure.

internal import Formats
internal import Platform

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

// MARK: - JSON

// A payment order as the API shows it (https://developer.swedbankpay.com/checkout-v3/technical-reference).
// Pure.

extension SandboxSwedbankOrder {
  /// How a request wants the order.
  struct View {
    /// The version that the request names.
    var version: Version?
    /// The names in `$expand`.
    var expanded: Set<String> = []
    /// Scheme, host and port of the API.
    var base: String
  }

  /// The whole resource with its operations.
  func resource(_ view: View) -> JSONValue {
    ["paymentOrder": paymentOrder(view), "operations": .array(operations(view))]
  }

  private func paymentOrder(_ view: View) -> JSONValue {
    var members: [JSONValue.Member] = []
    func add(_ name: String, _ value: JSONValue) { members.append(.init(name: name, value: value)) }
    add("id", .string(id))
    add("created", .string(RFC3339.string(unixMilliseconds: created)))
    add("updated", .string(RFC3339.string(unixMilliseconds: updated)))
    add("operation", .string(operation))
    // Without the version, the order shows that it can be used, and never what became of it.
    if view.version == .v31 { add("status", .string(status.rawValue)) } else { add("state", "Ready") }
    add("currency", .string(currency))
    add("amount", .integer(amount))
    add("vatAmount", .integer(vatAmount))
    // The API leaves a zero out, which its documentation shows.
    for (name, amount) in [
      ("remainingCaptureAmount", capturableAmount), ("remainingCancellationAmount", capturableAmount),
      ("remainingReversalAmount", reversibleAmount),
    ] where amount > 0 {
      add(name, .integer(amount))
    }
    add("description", .string(description))
    add("initiatingSystemUserAgent", .string(creator))
    add("language", .string(language))
    add("instrument", .string(instrument))
    add("availableInstruments", .array(availableInstruments.map(JSONValue.string)))
    add("implementation", "PaymentsOnly")
    add("integration", "")
    add("instrumentMode", version == .v2 ? true : false)
    add("guestMode", .bool(payerReference == nil))
    if let payerReference { add("payer", ["reference": .string(payerReference)]) }
    var items: JSONValue = ["id": .string("\(id)/orderitems")]
    if view.expanded.contains("orderItems"), let orderItems {
      items = items.adding("orderItemList", orderItems)
    }
    add("orderItems", items)
    for name in ["history", "failed", "cancelled", "reversed"] { add(name, ["id": .string("\(id)/\(name)")]) }
    add("aborted", view.expanded.contains("aborted") ? aborted : ["id": .string("\(id)/aborted")])
    add("paid", view.expanded.contains("paid") ? paid : ["id": .string("\(id)/paid")])
    let transactions = view.expanded.contains("financialTransactions")
    add(
      "financialTransactions",
      transactions ? financialTransactions : ["id": .string("\(id)/financialtransactions")])
    return .object(members)
  }

  /// The payment, if there is one.
  var paid: JSONValue {
    let unpaid: JSONValue = ["id": .string("\(id)/paid")]
    guard let first = transactions.first else { return unpaid }
    return [
      "id": .string("\(id)/paid"), "number": .integer(first.number), "instrument": .string(instrument),
      "payeeReference": .string(payeeReference), "orderReference": .optional(orderReference),
      "transactionType": .string(first.type), "amount": .integer(first.amount),
      "submittedAmount": .integer(first.amount), "feeAmount": 0, "discountAmount": 0,
      "paymentTokenGenerated": .bool(tokens.contains { $0.type == "payment" }),
      "tokens": .array(tokens.map(\.json)),
      "details": [
        "cardBrand": "Visa", "cardType": "Credit", "maskedPan": .string(Token.maskedPan),
        "expiryDate": .string(Token.expiryDate),
      ],
    ]
  }

  private var aborted: JSONValue {
    ["id": .string("\(id)/aborted"), "abortReason": .optional(abortReason)]
  }

  private var financialTransactions: JSONValue {
    let list = transactions.map { transaction -> JSONValue in
      [
        "id": .string(transaction.id),
        "created": .string(RFC3339.string(unixMilliseconds: transaction.created)),
        "type": .string(transaction.type), "number": .integer(transaction.number),
        "amount": .integer(transaction.amount), "payeeReference": .string(transaction.payeeReference),
      ]
    }
    return ["id": .string("\(id)/financialtransactions"), "financialTransactionsList": .array(list)]
  }

  /// The answer of version 2 to a capture, a cancellation or a reversal.
  /// - Parameter name: `capture`, for example.
  func transactionResource(_ name: String) -> JSONValue {
    guard let last = transactions.last else { return [:] }
    let transaction: JSONValue = [
      "id": .string(last.id), "type": .string(last.type), "state": "Completed",
      "number": .integer(last.number), "amount": .integer(last.amount),
      "payeeReference": .string(last.payeeReference),
    ]
    return .object([
      .init(name: "payment", value: .string("/psp/creditcard/payments/\(paymentUUID)")),
      .init(name: name, value: ["id": .string(last.id), "transaction": transaction]),
    ])
  }

  // MARK: Operations

  /// What the merchant can do next, in the order of the API. The names before the payment are those of the
  /// version that created the order; those after it are those of the version that the request names.
  private func operations(_ view: View) -> [JSONValue] {
    func operation(
      _ rel: String, _ method: String, _ path: String, _ type: String = "application/json"
    ) -> JSONValue {
      [
        "method": .string(method), "href": .string(view.base + path), "rel": .string(rel),
        "contentType": .string(type),
      ]
    }
    let isOld = version == .v2
    var list: [JSONValue] = []
    if isOpen {
      list.append(operation(isOld ? "update-paymentorder-setinstrument" : "set-instrument", "PATCH", id))
      list.append(operation(isOld ? "update-paymentorder-abort" : "abort", "PATCH", id))
    }
    let prefix = isOld && view.version != .v31 ? "create-paymentorder-" : ""
    if capturableAmount > 0 {
      list.append(operation("\(prefix)capture", "POST", "\(id)/captures"))
      list.append(operation("\(prefix)cancel", "POST", "\(id)/cancellations"))
    }
    if reversibleAmount > 0 { list.append(operation("\(prefix)reversal", "POST", "\(id)/reversals")) }
    let page = "/checkout/\(uuid)?culture=\(PercentEncoding.encode(language))"
    list.append(
      operation(isOld ? "view-paymentorder" : "view-checkout", "GET", page, "application/javascript"))
    return list
  }

  // MARK: Callbacks

  /// The body of a callback: it says that something happened, not what.
  var callback: JSONValue {
    if version == .v31 {
      var members: [JSONValue.Member] = []
      if let orderReference {
        members.append(.init(name: "orderReference", value: .string(orderReference)))
      }
      let order: JSONValue = [
        "id": .string(id), "instrument": "paymentorders", "number": .integer(number),
      ]
      return .object(members + [.init(name: "paymentOrder", value: order)])
    }
    let payment = "/psp/creditcard/payments/\(paymentUUID)"
    let transaction = transactions.last?.id ?? "\(payment)/authorizations/\(uuid)"
    return [
      "paymentOrder": ["id": .string(id), "instrument": "paymentorders"],
      "payment": ["id": .string(payment), "number": .integer(number)],
      "transaction": ["id": .string(transaction), "number": .integer(number)],
    ]
  }

  // MARK: Ledger

  /// What a test compares with a relay's ledger.
  var ledgerEntry: JSONValue {
    [
      "id": .string(id), "version": .string(version.rawValue), "status": .string(status.rawValue),
      "payeeReference": .string(payeeReference), "currency": .string(currency), "amount": .integer(amount),
      "authorized": .integer(authorizedAmount), "captured": .integer(capturedAmount),
      "cancelled": .integer(cancelledAmount), "reversed": .integer(reversedAmount),
      "captures": .integer(Int64(transactions.count { $0.type == "Capture" })),
      "captureRequests": .integer(Int64(captureRequests)), "reads": .integer(Int64(reads)),
      "callbacks": .integer(Int64(callbacks)),
    ]
  }
}

extension SandboxSwedbankOrder.Token {
  static let maskedPan = "492500******0004"
  static let expiryDate = "12/2033"

  fileprivate var json: JSONValue {
    [
      "type": .string(type), "token": .string(token), "name": .string(Self.maskedPan),
      "expiryDate": .string(Self.expiryDate),
    ]
  }
}
