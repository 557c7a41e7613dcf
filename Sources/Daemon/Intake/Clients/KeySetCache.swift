// The keys of one app's issuer and the rules for fetching them, without threads or I/O. Guarded by the
// fetcher's lock.

internal import Cryptography
internal import Formats
internal import Platform

/// One fetched key set: its keys, due times and waiters.
struct KeySetCache {
  /// Between two fetches if the answer has no lifetime; a given lifetime is clamped to the range.
  static let refreshInterval: Duration = .minutes(15)
  static let refreshIntervalRange: ClosedRange<Duration> = .minutes(5)...(.days(1))
  /// Pauses after consecutive failures; the last one repeats.
  static let retryPauses: [Duration] = [.seconds(1), .seconds(5), .seconds(15), .seconds(60), .minutes(5)]
  /// Between two fetches that tokens cause, whichever keys they name.
  static let askInterval: Duration = .seconds(10)
  /// Before the same unknown key may cause another fetch.
  static let unknownTime: Duration = .seconds(60)
  /// How long keys are valid after their last fetch if fetches fail.
  static let keepTime: Duration = .days(7)
  /// Between two warnings while fetches fail.
  static let warningInterval: Duration = .hours(1)
  /// How long a request waits for a fetch.
  static let waitTime: Duration = .seconds(6)
  static let waitersMax = 100
  static let unknownMax = 1000

  /// A request that waits for a fetch.
  struct Waiter {
    let until: MonotonicInstant
    let wake: @Sendable (Waking) -> Void
  }

  /// The result of a wait.
  enum Waking: Sendable, Equatable {
    /// The provider answered: the current keys are complete.
    case fetched
    case failed(retryAfter: Duration)
    case stopping
  }

  /// Whether a fetch may bring the unknown key of a token.
  enum Prospect: Equatable {
    /// A fetch is under way, or may be started.
    case fetch
    /// A fetch that began after the key was requested has ended recently, without the key.
    case none
    /// Undecided; retry later.
    case later(Duration)
  }

  let url: String
  /// The keys of the last successful fetch; nil before the first one.
  private var keys: KeySet?
  private var fetchedAt: MonotonicInstant?
  private var warnedAt: MonotonicInstant?
  private(set) var isFetching = false
  private var isWanted = false
  private var dueAt: MonotonicInstant
  private var askedAt: MonotonicInstant?
  private(set) var failures = 0
  /// The unknown keys that a fetch has looked for or will look for, with the time of the request.
  private var lookedFor: [String: MonotonicInstant] = [:]
  private var waiters: [Waiter] = []

  init(url: String, now: MonotonicInstant) {
    self.url = url
    dueAt = now
  }

  /// The valid keys; nil if there are none, or if they are too old.
  func keys(now: MonotonicInstant) -> KeySet? {
    guard let fetchedAt, now < fetchedAt.advanced(by: Self.keepTime) else { return nil }
    return keys
  }

  /// - Parameter keyID: the key id in the token; nil if it names none.
  func prospect(_ keyID: String?, now: MonotonicInstant) -> Prospect {
    if waiters.count >= Self.waitersMax { return .later(.seconds(1)) }
    if isFetching || isWanted || (keys == nil && dueAt <= now) { return .fetch }
    if let at = lookedFor[keyID ?? ""], now < at.advanced(by: Self.unknownTime) {
      return isBlind(now) ? .later(max(.seconds(1), dueAt.duration(since: now))) : .none
    }
    if let askedAt {
      let wait = askedAt.advanced(by: Self.askInterval).duration(since: now)
      // No fetch has looked for this key. It may be new, so it is not refused before a fetch.
      if wait > .zero { return .later(wait) }
    }
    return .fetch
  }

  /// Whether the stored keys may be outdated.
  private func isBlind(_ now: MonotonicInstant) -> Bool { failures > 0 || keys(now: now) == nil }

  /// Adds a waiter. Call only if the prospect is `.fetch`.
  mutating func wait(for keyID: String?, now: MonotonicInstant, _ wake: @escaping @Sendable (Waking) -> Void)
  {
    waiters.append(Waiter(until: now.advanced(by: Self.waitTime), wake: wake))
    // A fetch under way may have begun before the key was published, so its result decides nothing.
    guard !isFetching else { return }
    if lookedFor.count >= Self.unknownMax {
      lookedFor = lookedFor.filter { now < $0.value.advanced(by: Self.unknownTime) }
    }
    if lookedFor.count < Self.unknownMax { lookedFor[keyID ?? ""] = now }
    guard !isWanted else { return }
    isWanted = true
    // A fetch that is due anyway does not count as caused by a token.
    if now < dueAt { askedAt = now }
  }

  /// Whether a fetch must begin now. If so, marks it as begun.
  mutating func begin(now: MonotonicInstant) -> Bool {
    guard !isFetching, isWanted || dueAt <= now else { return false }
    (isFetching, isWanted) = (true, false)
    return true
  }

  /// Records the result of a fetch.
  /// - Parameter maxAge: the lifetime that the answer gives.
  /// - Returns: the waiters' callbacks, to be called without a lock.
  mutating func finish(
    _ keys: KeySet?, maxAge: Duration?, now: MonotonicInstant
  ) -> [@Sendable () -> Void] {
    isFetching = false
    let waking: Waking
    if let keys {
      self.keys = keys
      fetchedAt = now
      failures = 0
      let range = Self.refreshIntervalRange
      let age = maxAge ?? Self.refreshInterval
      dueAt = now.advanced(by: min(max(age, range.lowerBound), range.upperBound))
      waking = .fetched
    } else {
      let pause = Self.retryPauses[min(failures, Self.retryPauses.count - 1)]
      failures += 1
      dueAt = now.advanced(by: pause)
      waking = .failed(retryAfter: pause)
    }
    return release(waking) { _ in true }
  }

  /// Releases the waiters whose time is up.
  mutating func expire(now: MonotonicInstant) -> [@Sendable () -> Void] {
    release(.failed(retryAfter: .seconds(1))) { $0.until <= now }
  }

  /// Releases all waiters.
  mutating func answerAll(_ waking: Waking) -> [@Sendable () -> Void] { release(waking) { _ in true } }

  /// Whether to log the last failure: the first of consecutive ones, then one per interval.
  mutating func warns(now: MonotonicInstant) -> Bool {
    if failures > 1, let warnedAt, now < warnedAt.advanced(by: Self.warningInterval) {
      return false
    }
    warnedAt = now
    return true
  }

  private mutating func release(
    _ waking: Waking, _ condition: (Waiter) -> Bool
  ) -> [@Sendable () -> Void] {
    let released = waiters.filter(condition)
    waiters.removeAll(where: condition)
    return released.map { waiter in { waiter.wake(waking) } }
  }

  /// When the next fetch or timeout is due, apart from answers.
  var nextAt: MonotonicInstant {
    let due = isFetching ? MonotonicInstant(nanoseconds: .max) : dueAt
    return waiters.reduce(due) { min($0, $1.until) }
  }
}
