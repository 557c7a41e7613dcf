// Captures at Afterpay: calls and the meaning of their replies
// (https://developers.cash.app/afterpay/api-reference/reference/payments/capture-full-payment). Pure; any
// thread.

public import Domain
internal import Formats

/// One app's captures at Afterpay. A capture is idempotent by the token: Afterpay answers a repeat as the
/// first call, for 24 hours.
public struct AfterpayCaptures: PaymentCaptures {
  /// How long after the first call a repeat is safe.
  static let repeatableFor: Duration = .hours(24)

  public let base: String
  public let headers: [(name: String, value: String)]
  private let settings: AfterpaySettings

  init(_ settings: AfterpaySettings, secret: String) {
    self.settings = settings
    base = settings.apiBase
    headers = settings.headers(secret: secret)
  }

  public var answersWithin: Duration { settings.captureTimeout }

  /// It has documented members only: a grant is not one of them. An express checkout must repeat its amount.
  public func captureCall(_ payment: CapturablePayment) -> BackendCall? {
    var body: JSONValue = ["token": .string(payment.key.id.text)]
    if let reference = payment.facts.reference {
      body = body.adding("merchantReference", .string(reference))
    }
    if AfterpayDetails(payment.facts).isExpress, let amount = payment.facts.money {
      body = body.adding("amount", amount.object)
    }
    return BackendCall(
      "POST", "/v2/payments/capture", headers: ["Content-Type": "application/json"], body: body.serialized(),
      timeout: settings.captureTimeout)
  }

  public func lookupCall(_ payment: CapturablePayment) -> BackendCall {
    BackendCall("GET", AfterpayQueries.target(payment.key), timeout: settings.timeout)
  }

  /// A declined payment has the status 402 in one page of the documentation and 201 in another, so its own
  /// `status` decides.
  public func readCapture(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    switch AfterpayReply(reply) {
    case .busy: .unclear(.failed)
    case .trouble(let trouble): .unclear(trouble)
    case .object(let status, let object):
      if status < 300 || status == 402, let end = end(object, of: payment, isSuccess: status < 300, now) {
        end
      } else if !settings.isAccount(of: payment.facts) {
        .unclear(.credentials)
      } else if let error = AfterpayError(status, object), let end = refusal(error, of: payment, now) {
        end
      } else {
        .unclear(.unreadable)
      }
    }
  }

  /// Only Afterpay's own `not_found` proves that nothing was captured; a 404 of something between does not.
  public func readLookup(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    switch AfterpayReply(reply) {
    case .busy: .unclear(.failed)
    case .trouble(let trouble): .unclear(trouble)
    case .object(404, _) where !settings.isAccount(of: payment.facts): .unclear(.credentials)
    case .object(404, let object) where AfterpayError(404, object)?.code == "not_found":
      now.duration(since: payment.orderedAt) <= Self.repeatableFor
        ? .nothingCaptured(capturedBy: nil)
        : .ended(AfterpayAnswers.expired(payment.key), closed(payment, now))
    case .object(let status, let object):
      status < 300
        ? end(object, of: payment, isSuccess: true, now) ?? .unclear(.unreadable) : .unclear(.unreadable)
    }
  }

  /// Reads a Payment object; nil if it is not one, or not about this payment.
  private func end(
    _ object: JSONValue, of payment: CapturablePayment, isSuccess: Bool, _ now: Timestamp
  ) -> CaptureReading? {
    guard let found = AfterpayPayment(object), found.isAbout(payment.key) else { return nil }
    switch found.status {
    case .declined:
      return .ended(AfterpayAnswers.declined(payment.key, object), found.report(about: payment.key, now: now))
    case .approved:
      guard isSuccess, found.isCaptured else { return nil }
      return .ended(
        AfterpayAnswers.captured(payment, found), found.report(about: payment.key, now: now))
    }
  }

  /// The documented refusals. They are final: no later call with this token is accepted, except that the
  /// customer may still confirm the payment.
  private func refusal(
    _ error: AfterpayError, of payment: CapturablePayment, _ now: Timestamp
  ) -> CaptureReading? {
    switch error.status {
    case 402: .ended(AfterpayAnswers.refused(payment.key, error), closed(payment, now))
    case 412: .ended(AfterpayAnswers.unconfirmed(payment.key, error), nil)
    // 422, and the common errors about the request itself.
    case 400, 405, 406, 415, 422: .ended(AfterpayAnswers.refused(payment.key, error), nil)
    default: nil
    }
  }

  private func closed(_ payment: CapturablePayment, _ now: Timestamp) -> PurchaseReport {
    PurchaseReport(key: payment.key, observations: .closed, happenedAt: now)
  }
}

extension PaymentFacts {
  /// Amount and currency, if both are known and well formed.
  var money: Money? {
    guard let amount, let currency = currency.flatMap(Currency.init) else { return nil }
    return Money(amount, currency)
  }
}
