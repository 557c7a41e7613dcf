// Connects a task that waits for a redirect with the redirect, in either order and with a time-out.
// Thread-safe: a lock guards the state, and continuations are resumed outside of it.

public import Foundation

/// Passes the redirect of a payment in another app, such as Cash App, to the task that waits for it.
///
/// Create one for each payment, pass it every URL that opens the app, and wait:
///
/// ```swift
/// let handOff = RedirectHandOff(redirect: redirect)   // exampleapp://cash-app
/// // open the authorisation URL, then
/// switch await handOff.wait(seconds: 300) {
/// case .redirected(let url): …   // ask Cash App what became of the request
/// case .timedOut, .cancelled, .superseded: …
/// }
/// ```
///
/// - A redirect that arrives before a wait is kept for the first wait.
/// - ``open(_:)`` returns false for a second redirect, and for one that arrives after its wait has ended.
public final class RedirectHandOff: Sendable {
  /// How a wait ended.
  public enum Outcome: Sendable, Hashable {
    /// The app was opened with this URL.
    case redirected(URL)
    /// The time is up.
    case timedOut
    /// The waiting task was cancelled.
    case cancelled
    /// Another task waits now.
    case superseded
  }

  private struct Waiter {
    let number: Int
    var continuation: CheckedContinuation<Outcome, Never>?
    /// The result, when the wait ended before its continuation was set.
    var outcome: Outcome?
  }

  private struct State {
    var waits = 0
    var waiter: Waiter?
    var early: URL?
    var hadRedirect = false
  }

  private let redirect: URLParts
  private let clock: any CheckoutClock
  private let state = Locked(State())

  /// Creates a hand-off for one payment.
  /// - Parameters:
  ///   - redirect: the URL that was given to the payment provider. The URL that comes back may have
  ///     additional query items; scheme and host are case-insensitive, the path is case-sensitive.
  ///   - clock: measures the time-out.
  public init(redirect: URL, clock: any CheckoutClock = SystemClock()) {
    self.redirect = URLParts(redirect)
    self.clock = clock
  }

  /// Receives a URL that opened the app.
  /// - Returns: whether it is the redirect and a wait gets it, now or later.
  @discardableResult public func open(_ url: URL) -> Bool {
    guard isRedirect(URLParts(url)) else { return false }
    let (isTaken, continuation): (Bool, CheckedContinuation<Outcome, Never>?) = state.withLock { state in
      guard !state.hadRedirect, state.waits == 0 || state.waiter?.outcome == nil && state.waiter != nil else {
        return (false, nil)
      }
      state.hadRedirect = true
      guard state.waiter != nil else {
        state.early = url
        return (true, nil)
      }
      return (true, Self.end(.redirected(url), &state))
    }
    continuation?.resume(returning: .redirected(url))
    return isTaken
  }

  /// Waits for the redirect.
  /// - Parameter seconds: the time-out.
  public func wait(seconds: TimeInterval) async -> Outcome {
    let (number, superseded, early) = state.withLock { state in
      state.waits += 1
      // A redirect that the previous wait has not returned yet goes to this one.
      if case .redirected(let url)? = state.waiter?.outcome { state.early = url }
      let superseded = Self.end(.superseded, &state)
      let early = state.early
      state.early = nil
      state.waiter = Waiter(number: state.waits, outcome: early.map { .redirected($0) })
      return (state.waits, superseded, early)
    }
    superseded?.resume(returning: .superseded)
    let timer =
      early != nil
      ? nil
      : Task { [clock] in
        // The sleep is cancelled when the wait has ended.
        guard (try? await clock.sleep(seconds: seconds)) != nil else { return }
        self.finish(number, .timedOut)
      }
    defer { timer?.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { begin(number, $0) }
    } onCancel: {
      finish(number, .cancelled)
    }
  }

  private func begin(_ number: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
    let outcome: Outcome? = state.withLock { state in
      guard let waiter = state.waiter, waiter.number == number else { return .superseded }
      if waiter.outcome != nil { state.waiter = nil } else { state.waiter?.continuation = continuation }
      return waiter.outcome
    }
    if let outcome { continuation.resume(returning: outcome) }
  }

  private func finish(_ number: Int, _ outcome: Outcome) {
    let continuation: CheckedContinuation<Outcome, Never>? = state.withLock { state in
      state.waiter?.number == number ? Self.end(outcome, &state) : nil
    }
    continuation?.resume(returning: outcome)
  }

  /// Ends the current wait, unless it has ended.
  /// - Returns: the continuation to resume, which the caller does after it releases the lock.
  private static func end(_ outcome: Outcome, _ state: inout State) -> CheckedContinuation<Outcome, Never>? {
    guard let waiter = state.waiter, waiter.outcome == nil else { return nil }
    if waiter.continuation == nil { state.waiter?.outcome = outcome } else { state.waiter = nil }
    return waiter.continuation
  }

  private func isRedirect(_ parts: URLParts) -> Bool {
    parts.comparableScheme == redirect.comparableScheme
      && parts.authority.map { LinkText.lowercased($0) } == redirect.authority.map { LinkText.lowercased($0) }
      && Self.path(parts) == Self.path(redirect)
  }

  /// `/` and an empty path are equal.
  private static func path(_ parts: URLParts) -> String { parts.path == "/" ? "" : parts.path }
}
