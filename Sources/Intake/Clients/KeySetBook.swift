// The keys of one app's issuer and when they are fetched: the rules, without a thread and without a network.
// Guarded by the fetcher's lock; pure.

internal import JSONWebToken
internal import Platform

/// What is known of one key set that is fetched.
public struct KeySetBook {
  /// Between two fetches, where the answer does not say; what it says is moved into the range.
  static let refreshMilliseconds: Int64 = 15 * 60_000
  static let refreshMillisecondsRange: ClosedRange<Int64> = 5 * 60_000...24 * 60 * 60_000
  /// After a failure, another, …; the last one repeats.
  static let retryMilliseconds: [Int64] = [1000, 5000, 15_000, 60_000, 300_000]
  /// Between two fetches that tokens cause, whatever keys they name.
  static let askMilliseconds: Int64 = 10_000
  /// Before the same unknown key may cause another.
  static let unknownMilliseconds: Int64 = 60_000
  /// How long keys count after they were fetched, if they cannot be fetched again.
  static let keepMilliseconds: Int64 = 7 * 24 * 60 * 60_000
  /// Between two warnings while fetches fail.
  static let warningMilliseconds: Int64 = 60 * 60_000
  /// How long a request waits for a fetch.
  static let waitMilliseconds: Int64 = 6000
  static let waitersMax = 100
  static let unknownMax = 1000

  /// Somebody who waits for what a fetch says.
  struct Waiter {
    let until: MonotonicInstant
    let wake: @Sendable (Waking) -> Void
  }

  /// What became of it.
  enum Waking: Sendable, Equatable {
    /// There was an answer: whatever keys there are now are all that there are.
    case fetched
    case failed(retryAfterMilliseconds: Int64)
    case stopping
  }

  /// What a token whose key is not known can hope for.
  enum Prospect: Equatable {
    /// A fetch that is under way, or that it may cause.
    case fetch
    /// A fetch that began after its key was asked for ended lately, without it.
    case none
    /// Nobody can say now.
    case later(milliseconds: Int64)
  }

  let url: String
  /// Those that were fetched last; nil until they were fetched once.
  private var keys: KeySet?
  private var fetchedAt: MonotonicInstant?
  private var warnedAt: MonotonicInstant?
  private(set) var isFetching = false
  private var isWanted = false
  private var dueAt: MonotonicInstant
  private var askedAt: MonotonicInstant?
  private(set) var failures = 0
  /// The unknown keys that a fetch has looked for, or is about to, by when they were asked for.
  private var lookedFor: [String: MonotonicInstant] = [:]
  private var waiters: [Waiter] = []

  init(url: String, now: MonotonicInstant) {
    self.url = url
    dueAt = now
  }

  /// The keys in force; nil when there never were any, or when they are too old to be believed.
  func keys(now: MonotonicInstant) -> KeySet? {
    guard let fetchedAt, now < fetchedAt.advanced(byMilliseconds: Self.keepMilliseconds) else { return nil }
    return keys
  }

  /// - Parameter keyID: what the token calls its key; nil when it does not say.
  func prospect(_ keyID: String?, now: MonotonicInstant) -> Prospect {
    if waiters.count >= Self.waitersMax { return .later(milliseconds: 1000) }
    if isFetching || isWanted || (keys == nil && dueAt <= now) { return .fetch }
    if let at = lookedFor[keyID ?? ""], now < at.advanced(byMilliseconds: Self.unknownMilliseconds) {
      return isBlind(now) ? .later(milliseconds: max(1000, dueAt.milliseconds(since: now))) : .none
    }
    if let askedAt {
      let wait = askedAt.advanced(byMilliseconds: Self.askMilliseconds).milliseconds(since: now)
      // Nobody has looked for this one: it may be new, and is not refused before it was looked for.
      if wait > 0 { return .later(milliseconds: wait) }
    }
    return .fetch
  }

  /// Whether the keys that there are may not be those of now.
  private func isBlind(_ now: MonotonicInstant) -> Bool { failures > 0 || keys(now: now) == nil }

  /// Has one more wait. To be called only with the prospect of a fetch.
  mutating func wait(for keyID: String?, now: MonotonicInstant, _ wake: @escaping @Sendable (Waking) -> Void)
  {
    waiters.append(Waiter(until: now.advanced(byMilliseconds: Self.waitMilliseconds), wake: wake))
    // A fetch under way may have begun before the key was published: what it brings says nothing of it.
    guard !isFetching else { return }
    if lookedFor.count >= Self.unknownMax {
      lookedFor = lookedFor.filter { now < $0.value.advanced(byMilliseconds: Self.unknownMilliseconds) }
    }
    if lookedFor.count < Self.unknownMax { lookedFor[keyID ?? ""] = now }
    guard !isWanted else { return }
    isWanted = true
    // What is due anyway is no token's doing.
    if now < dueAt { askedAt = now }
  }

  /// Whether a fetch is to begin now; then it counts as begun.
  mutating func begin(now: MonotonicInstant) -> Bool {
    guard !isFetching, isWanted || dueAt <= now else { return false }
    (isFetching, isWanted) = (true, false)
    return true
  }

  /// Takes an answer in.
  /// - Parameter maxAgeMilliseconds: what it says about how long it holds.
  /// - Returns: who is to be woken, once no lock is held.
  mutating func finish(
    _ keys: KeySet?, maxAgeMilliseconds: Int64?, now: MonotonicInstant
  ) -> [@Sendable () -> Void] {
    isFetching = false
    let waking: Waking
    if let keys {
      self.keys = keys
      fetchedAt = now
      failures = 0
      let range = Self.refreshMillisecondsRange
      let age = maxAgeMilliseconds ?? Self.refreshMilliseconds
      dueAt = now.advanced(byMilliseconds: min(max(age, range.lowerBound), range.upperBound))
      waking = .fetched
    } else {
      let pause = Self.retryMilliseconds[min(failures, Self.retryMilliseconds.count - 1)]
      failures += 1
      dueAt = now.advanced(byMilliseconds: pause)
      waking = .failed(retryAfterMilliseconds: pause)
    }
    return release(waking) { _ in true }
  }

  /// Those whose time is up.
  mutating func expire(now: MonotonicInstant) -> [@Sendable () -> Void] {
    release(.failed(retryAfterMilliseconds: 1000)) { $0.until <= now }
  }

  /// Everyone.
  mutating func dismissAll(_ waking: Waking) -> [@Sendable () -> Void] { release(waking) { _ in true } }

  /// Whether a failure that was taken in is to be told of: the first of a row, and then one in a while.
  mutating func warns(now: MonotonicInstant) -> Bool {
    if failures > 1, let warnedAt, now < warnedAt.advanced(byMilliseconds: Self.warningMilliseconds) {
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

  /// When there is something to do again, but for an answer.
  var nextAt: MonotonicInstant {
    let due = isFetching ? MonotonicInstant(nanoseconds: .max) : dueAt
    return waiters.reduce(due) { min($0, $1.until) }
  }
}
