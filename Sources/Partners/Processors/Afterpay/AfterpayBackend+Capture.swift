// Orders captures and reports the states of payments, from what is stored: neither calls Afterpay. Pure; any
// thread.

internal import Domain
internal import Formats

extension AfterpayBackend {
  func orderCapture(_ request: BackendRequest) throws(AfterpayRefusal) -> BackendStep {
    guard let user = request.user else { throw AfterpayRefusal(AfterpayAnswers.missingUser) }
    let wanted = try AfterpayCaptureRequest(request)
    return .findPayment(wanted.token.key, user) { [self] payment in
      guard let payment else { return .answer(.unknownPayment) }
      if AfterpayDetails(payment.facts).isCashAppPay, wanted.grantID == nil {
        return .answer(AfterpayCaptureRequest.missingGrant.answer)
      }
      let order = CaptureOrder(key: payment.key, user: user, grantID: wanted.grantID)
      return answer(order, to: payment, at: request.receivedAt)
    }
  }

  /// Orders for a capture that ended get the answer of the first.
  private func answer(_ order: CaptureOrder, to payment: StartedPayment, at now: Timestamp) -> BackendStep {
    let outcome = payment.capture?.outcome
    switch state(of: payment, at: now) {
    case .started, .capturePending: return .capture(order)
    case .closed: return .answer(AfterpayAnswers.closed)
    case .captured, .reversed:
      if let outcome, outcome.kind == .captured { return .answer(BackendAnswer(outcome)) }
      return .answer(AfterpayAnswers.json(document(payment, at: now)))
    case .declined, .refused, .abandoned, .expired:
      if let outcome, !outcome.kind.allowsAnother { return .answer(BackendAnswer(outcome)) }
      return .answer(RelayProblem.answer(AfterpayAnswers.expiredFault))
    }
  }

  func readState(_ request: BackendRequest) throws(AfterpayRefusal) -> BackendStep {
    guard let user = request.user else { throw AfterpayRefusal(AfterpayAnswers.missingUser) }
    guard let token = request.parameters["token"].flatMap(AfterpayToken.init) else {
      throw AfterpayCaptureRequest.malformedToken
    }
    return .findPayment(token.key, user) { [self] payment in
      guard let payment else { return .answer(.unknownPayment) }
      return .answer(AfterpayAnswers.json(document(payment, at: request.receivedAt)))
    }
  }

  private func document(_ payment: StartedPayment, at now: Timestamp) -> JSONValue {
    let outcome = payment.capture?.outcome.flatMap { try? JSONValue(parsing: $0.body) }
    return AfterpayAnswers.document(
      payment.key, state(of: payment, at: now), payment.facts, paymentID: outcome?["id"]?.stringValue,
      status: outcome?["status"]?.stringValue)
  }

  /// Only the money decides first: a payment that was captured by any means is captured. One that is only
  /// authorised, which the relay never does, may still be captured.
  private func state(of payment: StartedPayment, at now: Timestamp) -> AfterpayAnswers.State {
    if payment.observations.contains(.reversed) { return .reversed }
    if payment.observations.contains(.paid), payment.facts.isCaptured != false { return .captured }
    if let capture = payment.capture {
      switch capture.outcome?.kind {
      case nil: return .capturePending
      case .captured: return .captured
      case .declined: return .declined
      case .refused:
        return capture.outcome?.status == AfterpayAnswers.expiredFault.status ? .expired : .refused
      case .abandoned: return .abandoned
      case .unconfirmed: break
      }
    }
    if payment.observations.contains(.closed) { return .closed }
    return now.duration(since: payment.startedAt) > settings.captureWithin ? .expired : .started
  }
}
