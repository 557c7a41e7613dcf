// The status of a checkout: read once, or polled until it is final. Called from any task.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension RelayClient {
  /// Seconds for which one request waits at the relay (long poll). The relay answers earlier when the state
  /// is final; the next request reports a payment that is not final.
  private static let waitSeconds = 15
  /// The minimum time between two requests, in case the relay answers at once without a change.
  private static let paceSeconds: TimeInterval = 1

  /// Reads the status once, without waiting at the relay.
  /// - Parameter contextID: as the relay returned it. The id is the secret, so status requests carry neither
  ///   key nor token: an expired token or a sign-out cannot hide a purchase.
  public func status(of contextID: String) async throws(RelayError) -> CheckoutStatus {
    try await ask(contextID, wait: 0, retries)
  }

  /// Waits until the checkout has ended.
  ///
  /// Network failures are retried until the time is up. Cancelling the task ends the wait at once.
  /// - Parameters:
  ///   - contextID: as the relay returned it.
  ///   - seconds: the time limit.
  /// - Returns: a status whose state is final. Its ``CheckoutStatus/progress`` may still be
  ///   ``CheckoutStatus/Progress/processing``: then keep the id and ask again later.
  /// - Throws: ``RelayError/timedOut`` when the checkout has not ended in time; the cause when the relay
  ///   could not be reached.
  public func finalStatus(
    of contextID: String, within seconds: TimeInterval = 600
  ) async throws(RelayError) -> CheckoutStatus {
    try await follow(contextID, within: seconds) { _ in }
  }

  /// The checkout's states: the current one at once, then each change, up to the final one. It ends like
  /// ``finalStatus(of:within:)``; the errors are ``RelayError``.
  public func updates(
    of contextID: String, within seconds: TimeInterval = 600
  ) -> AsyncThrowingStream<CheckoutStatus, any Error> {
    AsyncThrowingStream { continuation in
      let task = Task {
        do {
          _ = try await follow(contextID, within: seconds) { continuation.yield($0) }
          continuation.finish()
        } catch {
          continuation.finish(throwing: error)
        }
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }

  private func follow(
    _ contextID: String, within seconds: TimeInterval, onChange: @Sendable (CheckoutStatus) -> Void
  ) async throws(RelayError) -> CheckoutStatus {
    let deadline = clock.seconds + (seconds.isNaN ? 0 : seconds)
    var last: CheckoutStatus?
    while true {
      let start = clock.seconds
      let rest = deadline - start
      guard rest > 0 || last == nil else { throw .timedOut }
      // The first request does not wait, because the screen needs a state to show.
      let wait = last == nil || rest < 1 ? 0 : Int(min(rest, TimeInterval(Self.waitSeconds)))
      var retries = retries
      (retries.attemptsMax, retries.patience) = (.max, rest)
      let status = try await ask(contextID, wait: wait, retries)
      if status != last { onChange(status) }
      if status.state.isFinal { return status }
      if last != nil {
        let early = Self.paceSeconds - (clock.seconds - start)
        if early > 0 { try await self.rest(min(early, max(0, deadline - clock.seconds))) }
      }
      last = status
    }
  }

  /// - Parameter wait: seconds for which the relay may hold the request.
  func ask(
    _ contextID: String, wait: Int, _ retries: RetryPolicy
  ) async throws(RelayError) -> CheckoutStatus {
    guard LinkPath.isSegment(contextID) else { throw .encoding("This is not the id of a context.") }
    let query = wait > 0 ? "?wait=\(wait)" : ""
    var request = try request("contexts/\(LinkText.escaped(contextID))\(query)")
    request.timeoutInterval = TimeInterval(wait) + RequestTimeout.status
    let answer = try await send(request, isKeyed: false, retries)
    guard let status = CheckoutStatus(body: answer.body) else { throw answer.unexpected }
    return status
  }
}
