// How an outbox posts what waits. Called from any task.

internal import Foundation

extension CheckoutOutbox {
  typealias PostResult = Result<PostedContext, RelayError>

  /// Posts the contexts that wait, oldest first. Call it when the app is launched and whenever it becomes
  /// active. It waits for posts that are under way, and ends at the first failure of the network, or when its
  /// task is cancelled; a post that has begun goes on all the same. The outbox tries again while the app
  /// runs. Before the time of the relay's `Retry-After` nothing is sent.
  /// - Returns: how many contexts still wait.
  @discardableResult public func flush() async -> Int {
    load(isAgain: true)
    for entry in state.withLock({ $0.entries }) {
      // The post of a tap may be under way. If it fails, this is the next attempt.
      _ = await state.withLock { $0.posts[entry.id] }?.value
      if Task.isCancelled { break }
      guard let post = post(entry, isFirst: false) else { continue }
      guard case .failure(let error) = await post.value else { continue }
      if error.isTransient || error.problemName == nil { break }
      // Only after the relay has answered: the device's clock may be wrong, or may have been.
      if entry.end <= time.now, state.withLock({ $0.entries.contains { $0.id == entry.id } }) {
        drop([entry.id])
      }
    }
    repeatLater()
    return state.withLock { $0.entries.count }
  }

  /// Begins to post an entry.
  /// - Parameter isFirst: whether the customer waits for it.
  /// - Returns: nil if the entry is over, or must not be sent yet. The task is the caller's to cancel, and
  ///   not a part of the caller's: going to the background must not end a post.
  func post(_ entry: OutboxEntry, isFirst: Bool) -> Task<PostResult, Never>? {
    let now = relay.clock.seconds
    return state.withLock { state in
      guard state.entries.contains(where: { $0.id == entry.id }) else { return nil }
      if let running = state.posts[entry.id] { return running }
      guard isFirst || now >= state.notBefore else { return nil }
      let post = Task { await self.attempt(entry, isFirst: isFirst) }
      state.posts[entry.id] = post
      return post
    }
  }

  private func attempt(_ entry: OutboxEntry, isFirst: Bool) async -> PostResult {
    let result: PostResult
    do throws(RelayError) {
      result = .success(try await isFirst ? sendFirst(entry) : send(entry, to: "contexts", Self.once))
    } catch {
      result = .failure(error)
    }
    let now = relay.clock.seconds
    let isOver = Self.isOver(result, isFirst: isFirst)
    let isKnown = state.withLock { state in
      state.posts[entry.id] = nil
      if case .failure(let error) = result, let pause = error.retryAfter {
        state.notBefore = max(state.notBefore, now + min(pause, Self.retryAfterMax))
      }
      let isKnown = state.entries.contains { $0.id == entry.id }
      if isOver { state.remove([entry.id], folder) }
      return isKnown
    }
    // Otherwise it was cancelled, or its user was forgotten.
    guard isKnown else { return result }
    switch result {
    case .success(let posted): report(.posted(id: entry.id, posted))
    case .failure(let error):
      report(isOver ? .refused(id: entry.id, error) : .delayed(id: entry.id, error))
      repeatLater()
    }
    return result
  }

  /// One attempt, with the time that a slow network needs.
  private static let once = RetryPolicy(attemptsMax: 1, firstTimeout: 30)
  /// The longest `Retry-After`, in seconds: the clock that measures it stands still while the device sleeps.
  private static let retryAfterMax: TimeInterval = 3600

  /// Posts to the path that also answers with the relay's page, or opens a checkout at the payment processor.
  /// The retries begin while the customer waits; after that the app's own page is open.
  private func sendFirst(_ entry: OutboxEntry) async throws(RelayError) -> PostedContext {
    var retries = relay.retries
    retries.patience = min(retries.patience, pace.patience)
    do throws(RelayError) {
      return try await send(entry, to: "checkout", retries)
    } catch {
      // Only the app knows the page.
      guard error.problemName == "unknown-price" else { throw error }
    }
    return try await send(entry, to: "contexts", retries)
  }

  func send(
    _ entry: OutboxEntry, to endpoint: String, _ retries: RetryPolicy
  ) async throws(RelayError) -> PostedContext {
    do throws(RelayError) {
      return try await relay.post(
        plyContext: entry.plyContext, userID: entry.userID, id: entry.id, endpoint: endpoint, retries: retries
      )
    } catch {
      guard error.problemName == "context-id-time" else { throw error }
    }
    // The relay refuses the time in the id: the device's clock was wrong when it was made. Without an id the
    // relay makes one. If a page was opened with the refused one, the purchase names no context and no user,
    // and gets this context only if the relay learns the user in another way and guesses.
    return try await relay.post(
      plyContext: entry.plyContext, userID: entry.userID, id: nil, endpoint: endpoint, retries: retries)
  }

  /// Whether the context need not be posted again: the relay has it, or will refuse it again. What a proxy or
  /// a captive portal says in the relay's place is not the relay's refusal. A wrong key, an expired token and
  /// an app that the relay does not know yet can be corrected while the context waits.
  /// - Parameter isFirst: the relay may have no checkout for the price, and still accept the context.
  private static func isOver(_ result: PostResult, isFirst: Bool) -> Bool {
    guard case .failure(let error) = result else { return true }
    switch error {
    case .http(let failure):
      return !isFirst && error.problemName != nil && (400...499).contains(failure.status)
        && !error.isTransient && ![401, 403, 404].contains(failure.status)
    case .encoding: return true
    case .network, .notHTTP, .unexpectedAnswer, .noToken, .timedOut, .cancelled: return false
    }
  }

  // MARK: Repeating

  /// Posts what waits with growing pauses, while the app runs.
  func repeatLater() {
    state.withLock { state in
      guard state.repeating == nil, !state.entries.isEmpty else { return }
      state.repeating = Task { [weak self, clock = relay.clock] in
        var round = 1
        while let pause = self?.pause(after: round) {
          guard (try? await clock.sleep(seconds: pause)) != nil, let self else { return }
          await flush()
          round += 1
        }
      }
    }
  }

  /// Seconds until the next round; nil when nothing waits, and the rounds have ended.
  private func pause(after round: Int) -> TimeInterval? {
    let now = relay.clock.seconds
    return state.withLock { state in
      // Under the same lock, so that a context that comes now begins the rounds again.
      guard !state.entries.isEmpty,
        let pause = pace.pauses.pause(after: round, elapsed: 0, retryAfter: state.notBefore - now)
      else {
        state.repeating = nil
        return nil
      }
      return pause
    }
  }
}
