// What became of a checkout: asked once, or followed until its end by long polling. Any task.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension RelayClient {
  /// Seconds for which one request waits at the relay. The relay answers earlier when the checkout has ended;
  /// a payment that is not its end is seen with the next request.
  private static let waitSeconds = 15
  /// The least time between two requests, should an answer come at once that says nothing new.
  private static let paceSeconds: TimeInterval = 1

  /// Asks once, without waiting at the relay.
  /// - Parameter contextID: as the relay gave it. The id is the secret, so neither key nor token is sent here
  ///   and where a checkout is followed: an expired token, or a person who signed out meanwhile, cannot hide
  ///   a purchase.
  public func status(of contextID: String) async throws(RelayError) -> CheckoutStatus {
    try await ask(contextID, wait: 0, retries)
  }

  /// Waits until the checkout has ended.
  ///
  /// A dead network is waited out. Being cancelled, as by a screen that goes away, ends it at once.
  /// - Parameters:
  ///   - contextID: as the relay gave it.
  ///   - seconds: how long to go on at most.
  /// - Returns: a status whose state is final. Its ``CheckoutStatus/progress`` may still be
  ///   ``CheckoutStatus/Progress/processing``: then keep the id and ask again later.
  /// - Throws: ``RelayError/timedOut`` when it had not ended by then; what stood in the way when the relay
  ///   could not be asked at all.
  public func finalStatus(
    of contextID: String, within seconds: TimeInterval = 600
  ) async throws(RelayError) -> CheckoutStatus {
    try await follow(contextID, within: seconds) { _ in }
  }

  /// The checkout's states as they come: the present one at once, then each that differs, until the final
  /// one. Ends as ``finalStatus(of:within:)`` does; the errors are ``RelayError``.
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
      // The first answer comes at once, so that the screen has something to show.
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

  private func ask(
    _ contextID: String, wait: Int, _ retries: RetryPolicy
  ) async throws(RelayError) -> CheckoutStatus {
    guard LinkPath.isSegment(contextID) else { throw .encoding("This is no id of a context.") }
    let query = wait > 0 ? "?wait=\(wait)" : ""
    var request = try request("contexts/\(LinkText.escaped(contextID))\(query)")
    request.timeoutInterval = TimeInterval(wait) + 15
    let answer = try await send(request, isKeyed: false, retries)
    guard let status = CheckoutStatus(body: answer.body) else { throw answer.unexpected }
    return status
  }
}
