// How an outbox posts what waits. Called from any task.

internal import Foundation

extension CheckoutOutbox {
  /// Posts the contexts that wait, oldest first. Call it when the app is launched and whenever it becomes
  /// active. It ends at the first failure of the network; the outbox then tries again while the app runs.
  /// - Returns: how many contexts still wait.
  @discardableResult public func flush() async -> Int {
    load()
    for entry in state.withLock({ $0.entries }) {
      if entry.end <= relay.clock.date {
        drop(entry.id)
        continue
      }
      // Another task may post it now.
      guard state.withLock({ $0.sending.insert(entry.id).inserted }) else { continue }
      let result = await attempt(entry, retries: .none)
      state.withLock { _ = $0.sending.remove(entry.id) }
      if case .failure(let error) = result, error.isTransient { break }
    }
    let count = state.withLock { $0.entries.count }
    if count > 0 { repeatLater() }
    return count
  }

  /// Posts a new context, with the client's retries.
  /// - Returns: nil if it still waits, or was refused.
  func post(_ entry: OutboxEntry) async -> PostedContext? {
    guard state.withLock({ $0.sending.insert(entry.id).inserted }) else { return nil }
    let result = await attempt(entry, retries: relay.retries)
    state.withLock { _ = $0.sending.remove(entry.id) }
    if case .success(let posted) = result { return posted }
    repeatLater()
    return nil
  }

  private func attempt(
    _ entry: OutboxEntry, retries: RetryPolicy
  ) async -> Result<PostedContext, RelayError> {
    do throws(RelayError) {
      let posted = try await send(entry, retries: retries)
      remove(entry.id)
      report(.posted(id: entry.id, posted))
      return .success(posted)
    } catch {
      if Self.isLasting(error) {
        remove(entry.id)
        report(.refused(id: entry.id, error))
      } else {
        report(.delayed(id: entry.id, error))
      }
      return .failure(error)
    }
  }

  private func send(_ entry: OutboxEntry, retries: RetryPolicy) async throws(RelayError) -> PostedContext {
    do throws(RelayError) {
      return try await relay.post(
        plyContext: entry.plyContext, userID: entry.userID, id: entry.id, retries: retries)
    } catch {
      guard case .http(let failure) = error, failure.problem?.type == Self.refusedTime else { throw error }
    }
    // The device's clock differs much from the relay's. Without the id, the relay can still guess which
    // purchase the context belongs to.
    return try await relay.post(
      plyContext: entry.plyContext, userID: entry.userID, id: nil, retries: retries)
  }

  private static let refusedTime = "urn:receiptd:problem:context-id-time"

  /// Whether the same post will fail in the same way. A wrong key, an expired token and an app that the relay
  /// does not know yet can be corrected while the context waits.
  private static func isLasting(_ error: RelayError) -> Bool {
    switch error {
    case .http(let failure):
      !error.isTransient && !(300...399).contains(failure.status)
        && ![401, 403, 404].contains(failure.status)
    case .encoding: true
    // A captive portal may answer in place of the relay.
    case .network, .notHTTP, .unexpectedAnswer, .noToken, .timedOut, .cancelled: false
    }
  }

  /// Posts what waits with growing pauses, while the app runs.
  private func repeatLater() {
    state.withLock { state in
      guard state.repeating == nil, !state.entries.isEmpty else { return }
      state.repeating = Task { [weak self, clock = relay.clock, pauses = pace.pauses] in
        var round = 1
        while let pause = pauses.pause(after: round, elapsed: 0, retryAfter: nil) {
          guard (try? await clock.sleep(seconds: pause)) != nil, let self else { return }
          if await flush() == 0 { break }
          round += 1
        }
        self?.state.withLock { $0.repeating = nil }
      }
    }
  }
}
