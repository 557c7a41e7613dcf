// Captures a payment: the request that charges the customer. Called from any task.
//
// The relay captures a token at most once, so the request may be repeated. When its outcome is not known, the
// relay's state decides, and never the failure of a request.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension AfterpayCheckout {
  /// Captures the payment of a checkout that the customer has confirmed, which charges the customer.
  ///
  /// The capture may be repeated, in the same call or days later: a checkout is charged at most once. If the
  /// relay's answer is lost or is not an outcome, this asks for the checkout's state until the outcome is
  /// known or the time is up.
  /// - Parameters:
  ///   - token: as the relay returned it. Keep it until the outcome is known.
  ///   - grantID: Cash App's grant (`GRG_…`); nil without Cash App Pay.
  ///   - seconds: the time limit.
  public func capture(
    _ token: String, grantID: String? = nil, within seconds: TimeInterval = 180
  ) async -> AfterpayOutcome {
    do {
      let request = try captureRequest(token, grantID)
      let deadline = relay.clock.deadline(after: seconds)
      var capture = AfterpayCapture(checkout: self, token: token, request: request, deadline: deadline)
      return try await capture.run()
    } catch {
      return .unknown(error)
    }
  }

  private struct Capture: Encodable {
    let token: String
    let grantId: String?
  }

  private func captureRequest(_ token: String, _ grantID: String?) throws(RelayError) -> URLRequest {
    guard Self.isToken(token), grantID.map({ LinkText.isIdentifier($0, bytesMax: 255) }) != false else {
      throw .encoding("This is not the token of a checkout, or not the id of a grant.")
    }
    return try request("capture", posting: Capture(token: token, grantId: grantID))
  }
}

/// One capture under way.
private struct AfterpayCapture {
  let checkout: AfterpayCheckout
  let token: String
  let request: URLRequest
  let deadline: TimeInterval
  /// Whether the relay may have received a request whose answer is not known.
  private var isAmbiguous = false
  private var pauses = AfterpayCheckout.Pauses()

  init(checkout: AfterpayCheckout, token: String, request: URLRequest, deadline: TimeInterval) {
    self.checkout = checkout
    self.token = token
    self.request = request
    self.deadline = deadline
  }

  private var rest: TimeInterval { deadline - checkout.relay.clock.seconds }

  /// - Throws: when the outcome is not known.
  mutating func run() async throws(RelayError) -> AfterpayOutcome {
    while true {
      let failure: RelayError
      switch try await post() {
      case .success(let outcome): return outcome
      case .failure(let error): failure = error
      }
      if let outcome = try await outcome(after: failure) { return outcome }
      guard rest > 0 else { throw failure }
      try await checkout.relay.rest(pauses.next(atMost: rest, atLeast: failure.retryAfter ?? 0))
      guard rest > 0 else { throw failure }
    }
  }

  /// Sends the capture once.
  /// - Throws: when nothing was sent, or the task was cancelled.
  private mutating func post() async throws(RelayError) -> Result<AfterpayOutcome, RelayError> {
    var request = request
    request.timeoutInterval = max(1, min(RequestTimeout.captureMax, rest))
    do {
      let answer = try await checkout.relay.send(request, isKeyed: true, .none)
      let status = AfterpayStatus(captureOf: token, status: answer.status, body: answer.body)
      return status.map { .success(Self.outcome($0, nil)) } ?? .failure(answer.unexpected)
    } catch {
      switch error {
      case .http(let failure):
        let body = Data(failure.body.forLog.utf8)
        let status = AfterpayStatus(captureOf: token, status: failure.status, body: body)
        return status.map { .success(Self.outcome($0, error)) } ?? .failure(error)
      case .encoding, .noToken, .cancelled: throw error
      case .network, .notHTTP, .unexpectedAnswer, .timedOut: return .failure(error)
      }
    }
  }

  /// Asks for the state until it decides.
  /// - Parameter failure: why the capture's answer is not an outcome.
  /// - Returns: nil when the capture must be sent again.
  /// - Throws: when the outcome is not known.
  private mutating func outcome(after failure: RelayError) async throws(RelayError) -> AfterpayOutcome? {
    if !failure.isRefusal { isAmbiguous = true }
    while true {
      let status = try await checkout.status(of: token, within: rest)
      switch status.state {
      case .captured, .reversed: return .captured(status)
      case .declined, .refused, .expired, .closed: return .notCharged(status, because: failure)
      case .abandoned: throw failure
      case .started:
        guard failure.isRefusal, failure.status != 429 else { return nil }
        // An earlier request may still be on its way, and only a decision about the checkout stops it.
        if isAmbiguous, !failure.isDecisionOfCapture { throw failure }
        return .notCharged(status, because: failure)
      default:
        guard rest > 0 else { throw .timedOut }
        try await checkout.relay.rest(pauses.next(atMost: rest))
        guard rest > 0 else { throw .timedOut }
      }
    }
  }

  private static func outcome(_ status: AfterpayStatus, _ error: RelayError?) -> AfterpayOutcome {
    status.state == .captured ? .captured(status) : .notCharged(status, because: error)
  }
}

extension RelayError {
  /// Whether the relay has refused the request without acting on it.
  fileprivate var isRefusal: Bool {
    guard case .http(let failure) = self else { return false }
    return (400...499).contains(failure.status) && failure.status != 408
  }

  /// Whether it is the relay's decision about the checkout, and not about the caller: declined or invalid,
  /// ended, expired, not confirmed, unusable.
  fileprivate var isDecisionOfCapture: Bool {
    status.map { [402, 409, 410, 412, 422].contains($0) } ?? false
  }
}
