// The state of a checkout with Afterpay or Cash App Pay: read once, or polled until it is final. Called from
// any task.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension AfterpayCheckout {
  /// Reads the state once.
  /// - Parameter token: as the relay returned it.
  /// - Throws: ``RelayError``; ``RelayError/isUnknownCheckout`` when the relay does not know the checkout, or
  ///   it is another user's. An error says nothing about the payment.
  public func status(of token: String) async throws(RelayError) -> AfterpayStatus {
    try await status(of: token, relay.retries)
  }

  /// Waits until the checkout has ended.
  ///
  /// Network failures are retried until the time is up. Cancelling the task ends the wait at once.
  /// - Parameters:
  ///   - token: as the relay returned it.
  ///   - seconds: the time limit.
  /// - Throws: ``RelayError/timedOut`` when the checkout has not ended in time; the cause when the relay
  ///   could not be reached. An error says nothing about the payment.
  public func finalStatus(
    of token: String, within seconds: TimeInterval = 600
  ) async throws(RelayError) -> AfterpayStatus {
    try await follow(token, until: relay.clock.deadline(after: seconds)) { _ in }
  }

  /// The checkout's states: the current one at once, then each change, up to the final one. It ends like
  /// ``finalStatus(of:within:)``; the errors are ``RelayError``.
  public func updates(
    of token: String, within seconds: TimeInterval = 600
  ) -> AsyncThrowingStream<AfterpayStatus, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task {
        do {
          let deadline = relay.clock.deadline(after: seconds)
          _ = try await follow(token, until: deadline) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func follow(
    _ token: String, until deadline: TimeInterval, onChange: @Sendable (AfterpayStatus) -> Void
  ) async throws(RelayError) -> AfterpayStatus {
    var pauses = Pauses()
    var last: AfterpayStatus?
    while true {
      let rest = deadline - relay.clock.seconds
      guard rest > 0 || last == nil else { throw .timedOut }
      let status = try await status(of: token, within: rest)
      if status != last { onChange(status) }
      if status.state.isFinal { return status }
      last = status
      try await relay.rest(pauses.next(atMost: deadline - relay.clock.seconds))
    }
  }

  /// Reads the state, and retries until the time is up.
  func status(of token: String, within seconds: TimeInterval) async throws(RelayError) -> AfterpayStatus {
    var retries = relay.retries
    (retries.attemptsMax, retries.patience) = (.max, seconds)
    return try await status(of: token, retries)
  }

  private func status(of token: String, _ retries: RetryPolicy) async throws(RelayError) -> AfterpayStatus {
    guard Self.isToken(token) else { throw .encoding("This is not the token of a checkout.") }
    var request = try request("checkouts/\(LinkText.escaped(token))")
    request.timeoutInterval = RequestTimeout.status
    let answer = try await relay.send(request, isKeyed: true, retries)
    guard let status = AfterpayStatus(of: token, body: answer.body) else { throw answer.unexpected }
    return status
  }

  /// Pauses between two requests for a state: a second, then up to 15 s.
  struct Pauses {
    private var pause: TimeInterval = 1

    /// - Parameters:
    ///   - rest: the time that is left, in seconds.
    ///   - least: the server's `Retry-After`, in seconds.
    mutating func next(atMost rest: TimeInterval, atLeast least: TimeInterval = 0) -> TimeInterval {
      defer { pause = min(pause * 2, 15) }
      return max(0, min(max(pause, least), rest))
    }
  }
}

extension RelayError {
  /// Whether the relay does not know the checkout: it never did, it has deleted it, or it is another user's.
  public var isUnknownCheckout: Bool {
    guard case .http(let failure) = self else { return false }
    return failure.status == 404 && failure.problem?.type == "urn:receiptd:problem:unknown-payment"
  }
}

extension CheckoutClock {
  /// The time when this many seconds have passed.
  func deadline(after seconds: TimeInterval) -> TimeInterval {
    self.seconds + (seconds.isNaN ? 0 : seconds)
  }
}
