// Captures: calls that charge a customer. A capture is an obligation: it is stored before it is sent, takes
// effect at most once, and is finished after a crash or a lost answer by looking up the payment's state
// first. A processor builds the calls and reads the replies; `Capture` decides what comes next, and other
// code sends. Pure; any thread.

public import Domain

/// One app's captures at a processor. Pure: requests out, replies in.
public protocol PaymentCaptures: Sendable {
  /// The base URL of every call, as `MerchantBackend.base`.
  var base: String { get }

  /// Sent with every call, as `MerchantBackend.headers`.
  var headers: [(name: String, value: String)] { get }

  /// How long an app's request waits for the outcome. The obligation goes on after that.
  var answersWithin: Duration { get }

  /// The call that captures a payment: the same for each repeat, so that the processor recognises it. Nil if
  /// only a lookup gives it (`CaptureReading.nothingCaptured`).
  func captureCall(_ payment: CapturablePayment) -> BackendCall?

  /// The call that asks for the payment's state. Changes nothing.
  func lookupCall(_ payment: CapturablePayment) -> BackendCall

  /// Reads the reply to the call that captures. Total: returns a value for any bytes.
  func readCapture(_ reply: BackendReply, of payment: CapturablePayment, now: Timestamp) -> CaptureReading

  /// Reads the reply to a lookup. Total: returns a value for any bytes.
  func readLookup(_ reply: BackendReply, of payment: CapturablePayment, now: Timestamp) -> CaptureReading
}

/// A payment whose capture was ordered.
public struct CapturablePayment: Sendable, Equatable {
  public var key: PurchaseKey
  public var facts: PaymentFacts
  public var startedAt: Timestamp
  /// When its newest capture was ordered.
  public var orderedAt: Timestamp

  public init(key: PurchaseKey, facts: PaymentFacts, startedAt: Timestamp, orderedAt: Timestamp) {
    self.key = key
    self.facts = facts
    self.startedAt = startedAt
    self.orderedAt = orderedAt
  }
}

/// What the reply to a call says about a capture.
public enum CaptureReading: Sendable, Equatable {
  /// The payment's end, and what is then known of the purchase, if anything. Both are stored in one
  /// transaction.
  case ended(CaptureOutcome, PurchaseReport?)
  /// Nothing was captured. Only a lookup proves that.
  /// - capturedBy: the call that captures, if the reply names it.
  case nothingCaptured(capturedBy: BackendCall?)
  /// The processor accepted the call. Lookups show its outcome, and the call is not made again.
  case accepted
  /// The reply proves nothing.
  case unclear(BackendTrouble)
}

extension BackendAnswer {
  /// The answer to an app whose user has started no such payment: it is another user's, or was erased.
  public static let unknownPayment = RelayProblem.answer(
    BackendFault(
      slug: "unknown-payment", title: "Unknown payment", status: 404,
      detail: "This user has started no such payment. Use what the start of the payment returned."))

  /// The answer to an app whose capture has ended.
  public init(_ outcome: CaptureOutcome) {
    if outcome.kind == .abandoned, outcome.body.isEmpty {
      self = .captureAbandoned
    } else {
      self.init(
        status: outcome.status, contentType: outcome.status < 400 ? "application/json" : RelayProblem.type,
        body: outcome.body, lacksRequestID: outcome.status >= 400)
    }
  }

  /// The answer to an app whose capture the relay has given up.
  private static let captureAbandoned = RelayProblem.answer(
    BackendFault(
      slug: "capture-outcome-unknown", title: "Capture outcome unknown", status: 504,
      detail: "The processor has not confirmed the capture, and the relay does not ask any more. The "
        + "customer may have been charged: do not start another payment, and ask the operator of this "
        + "service."))

  /// The answer to an app that has waited for as long as `PaymentCaptures.answersWithin`. The capture goes
  /// on.
  public static let captureOutcomeUnknown = RelayProblem.answer(
    BackendFault(
      slug: "capture-outcome-unknown", title: "Capture outcome unknown", status: 504,
      detail: "The processor has not confirmed the capture yet, and the relay continues to ask for it. Do "
        + "not start another payment: read this payment's state until it changes, or repeat this request."))
}
