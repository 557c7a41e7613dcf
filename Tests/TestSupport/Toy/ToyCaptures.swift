// The toy processor's captures: bodies are words.

public import Domain
public import Partners

/// `POST /orders/ORDER/capture` and `GET /orders/ORDER/capture` answer `captured`, `declined`, `accepted`,
/// `unconfirmed`, `refused` for a capture that is not to be sent again or, to the second, 404 `none`. Another
/// 404 proves nothing.
public struct ToyCaptures: PaymentCaptures {
  public let base: String
  public let headers: [(name: String, value: String)]
  public let answersWithin: Duration
  private let timeout: Duration

  init(base: String, apiKey: String, timeout: Duration) {
    self.base = base
    self.timeout = timeout
    headers = [(ToyProcessor.keyHeader, apiKey), ("Content-Type", "text/plain")]
    answersWithin = timeout * 2
  }

  private func target(_ payment: CapturablePayment) -> String {
    ToyQueries.target(of: payment.key) + "/capture"
  }

  public func captureCall(_ payment: CapturablePayment) -> BackendCall? {
    let body = Array((payment.facts.reference ?? "").utf8)
    return BackendCall("POST", target(payment), body: body, timeout: timeout)
  }

  public func lookupCall(_ payment: CapturablePayment) -> BackendCall {
    BackendCall("GET", target(payment), timeout: timeout)
  }

  public func readCapture(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    guard case .answer(200, _, let body) = reply else { return trouble(reply) }
    switch String(decoding: body, as: UTF8.self) {
    case "captured": return end(payment, .captured, 200, .paid, now)
    case "declined": return end(payment, .declined, 402, .closed, now)
    case "unconfirmed": return end(payment, .unconfirmed, 412, nil, now)
    case "refused": return end(payment, .abandoned, 409, nil, now)
    case "accepted": return .accepted
    default: return .unclear(.unreadable)
    }
  }

  public func readLookup(
    _ reply: BackendReply, of payment: CapturablePayment, now: Timestamp
  ) -> CaptureReading {
    if case .answer(404, _, let body) = reply, body == Array("none".utf8) {
      return .nothingCaptured(capturedBy: nil)
    }
    return readCapture(reply, of: payment, now: now)
  }

  private func trouble(_ reply: BackendReply) -> CaptureReading {
    switch reply {
    case .answer(401, _, _): .unclear(.credentials)
    case .answer(let status, _, _): .unclear(status >= 500 ? .failed : .unreadable)
    case .unreachable: .unclear(.unreachable)
    case .noAnswer(let isTimeout): .unclear(isTimeout ? .timeout : .unreachable)
    case .busy: .unclear(.failed)
    }
  }

  private func end(
    _ payment: CapturablePayment, _ kind: CaptureOutcome.Kind, _ status: Int, _ seen: Observations?,
    _ now: Timestamp
  ) -> CaptureReading {
    .ended(
      CaptureOutcome(kind: kind, status: status, body: Array(#"{"state":"\#(kind.rawValue)"}"#.utf8)),
      seen.map { PurchaseReport(key: payment.key, observations: $0, happenedAt: now) })
  }
}
