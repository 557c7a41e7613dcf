// A checkout of the simulated Afterpay with its payment. A value; pure.

internal import Formats
internal import Platform

/// An amount of money, in the smallest unit.
public struct SandboxAfterpayAmount: Sendable, Equatable {
  public var cents: Int64
  /// ISO 4217.
  public var currency: String

  public init(cents: Int64, currency: String) {
    self.cents = cents
    self.currency = currency
  }

  /// In major units: `50.00`.
  public var text: String { "\(cents / 100).\(cents % 100 < 10 ? "0" : "")\(cents % 100)" }

  var json: JSONValue { ["amount": .string(text), "currency": .string(currency)] }
}

/// A checkout and what became of it.
public struct SandboxAfterpayCheckout: Sendable, Equatable {
  public enum State: String, Sendable, CaseIterable {
    /// The customer has not confirmed yet.
    case open
    case confirmed
    case cancelled
  }

  /// The outcome of a capture.
  public struct Payment: Sendable, Equatable {
    public var id: String
    public var eventID: String
    public var isApproved: Bool
    public var merchantReference: String?
    /// Unix milliseconds.
    public var created: Int64
  }

  /// Money that went back.
  public struct Refund: Sendable, Equatable {
    public var id: String
    /// Unix milliseconds.
    public var created: Int64
  }

  public let token: String
  public let amount: SandboxAfterpayAmount
  public let email: String
  public let isCashAppPay: Bool
  public let confirmURL: String?
  public let cancelURL: String?
  public let merchantReference: String?
  /// Unix milliseconds.
  public let created: Int64
  public internal(set) var state = State.open
  /// Nil before a capture.
  public internal(set) var payment: Payment?
  /// How often the customer was charged. More than once would be an error of the stand-in: captures are
  /// idempotent by token.
  public internal(set) var charges = 0
  /// How many requests asked for a capture.
  public internal(set) var captureRequests = 0
  /// The signed payments of Cash App, and the grant that was validated.
  var tickets: [String] = []
  /// The merchant's refund of the whole amount.
  public internal(set) var refund: Refund?
  public internal(set) var grantID: String?

  /// Whether the state allows an action.
  public func allows(_ action: SandboxAfterpayAction) -> Bool {
    switch action {
    case .confirm, .cancel: state == .open
    case .refund: payment?.isApproved == true && refund == nil
    }
  }

  /// When a capture is no longer possible, in Unix milliseconds.
  func expires(after window: Duration) -> Int64 { created &+ window.milliseconds }

  /// What a capture answers, and a later lookup.
  func resource(_ payment: Payment) -> JSONValue {
    let created = JSONValue.string(RFC3339.string(unixMilliseconds: payment.created))
    let isApproved = payment.isApproved
    let open = SandboxAfterpayAmount(cents: isApproved ? 0 : amount.cents, currency: amount.currency)
    let refunds = refund.map { refund -> [JSONValue] in
      let time = RFC3339.string(unixMilliseconds: refund.created)
      return [["refundId": .string(refund.id), "refundedAt": .string(time), "amount": amount.json]]
    }
    let event: JSONValue = [
      "id": .string(payment.eventID), "created": created, "expires": .null,
      "type": isApproved ? "CAPTURED" : "CAPTURE_DECLINED", "amount": amount.json,
      "paymentEventMerchantReference": .null,
    ]
    return [
      "id": .string(payment.id), "token": .string(token), "status": isApproved ? "APPROVED" : "DECLINED",
      "created": created, "originalAmount": amount.json, "openToCaptureAmount": open.json,
      "paymentState": isApproved ? "CAPTURED" : "CAPTURE_DECLINED",
      "merchantReference": .optional(payment.merchantReference), "refunds": .array(refunds ?? []),
      "orderDetails": ["consumer": ["email": .string(email)]], "events": [event],
    ]
  }

  /// What a test compares with a relay's ledger.
  var ledgerEntry: JSONValue {
    [
      "token": .string(token), "email": .string(email), "amount": .string(amount.text),
      "currency": .string(amount.currency), "isCashAppPay": .bool(isCashAppPay),
      "state": .string(state.rawValue),
      "status": .optional(payment.map { $0.isApproved ? "APPROVED" : "DECLINED" }),
      "paymentId": .optional(payment?.id), "merchantReference": .optional(payment?.merchantReference),
      "grantId": .optional(grantID), "captureRequests": .integer(Int64(captureRequests)),
      "charges": .integer(Int64(charges)), "refunded": .bool(refund != nil),
    ]
  }
}
