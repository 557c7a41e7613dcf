// Who waits for a redirect back into the app meets the redirect: whichever comes first, and with an end. Any
// thread: state is behind a lock, and continuations are resumed outside of it.

public import Foundation

/// Hands the redirect of a payment in another app, such as Cash App, to whoever waits for it.
///
/// Make one for each payment, give it every URL that the app is opened with, and wait:
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
/// - A redirect that comes before anyone waits is kept, once, for the first who does.
/// - A second redirect, or one that comes after its wait was over, is nobody's: ``open(_:)`` says false.
public final class RedirectHandOff: Sendable {
  /// How a wait ended.
  public enum Outcome: Sendable, Hashable {
    /// The app was opened with this URL.
    case redirected(URL)
    /// It was not, for as long as was given.
    case timedOut
    /// The task that waited was cancelled.
    case cancelled
    /// Someone else waits now.
    case superseded
  }

  private struct Waiter {
    let number: Int
    var continuation: CheckedContinuation<Outcome, Never>?
    /// How it ended, when that was before it could be told.
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

  /// A hand-off for one payment.
  /// - Parameters:
  ///   - redirect: the URL that was given to the payment's provider. What comes back may have more in its
  ///     query; scheme and host compare without case, the path exactly.
  ///   - clock: what the time-out is measured with.
  public init(redirect: URL, clock: any CheckoutClock = SystemClock()) {
    self.redirect = URLParts(redirect)
    self.clock = clock
  }

  /// Takes a URL that the app was opened with.
  /// - Returns: whether it is the redirect, and somebody waits or will.
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
  /// - Parameter seconds: how long at most.
  public func wait(seconds: TimeInterval) async -> Outcome {
    let (number, superseded, early) = state.withLock { state in
      state.waits += 1
      // What the one before was not told yet is not lost.
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
        // Cancelled when the wait is over, and then there is nothing to end.
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

  /// Ends the wait that is, unless it has ended.
  /// - Returns: whom to tell, which is up to the caller once the lock is free.
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

  /// `/` and nothing are the same path.
  private static func path(_ parts: URLParts) -> String { parts.path == "/" ? "" : parts.path }
}
