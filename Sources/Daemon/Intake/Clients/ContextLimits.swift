// Rate limits for posted contexts, per address and per user. Thread-safe; blocks only for a table lookup.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Service

/// Counts posted contexts.
final class ContextLimits: Sendable {
  /// The most users and addresses that are tracked.
  static let usersMax = 32_768
  static let addressesMax = 16_384

  private struct User: Hashable, Sendable {
    let app: AppSlug
    let id: UserID
  }

  private let users: Monitor<RateLimiter<User>>?
  private let addresses: Monitor<RateLimiter<AddressGroup>>?
  private let clock: any Clock

  init(_ limits: Configuration.Limits, clock: any Clock) {
    users = limits.contextsPerUser.map { Monitor(RateLimiter($0, entriesMax: Self.usersMax)) }
    addresses = limits.contextsPerAddress.map { Monitor(RateLimiter($0, entriesMax: Self.addressesMax)) }
    self.clock = clock
  }

  /// Counts a request of an address.
  /// - Returns: zero if it is allowed, otherwise the time until a retry.
  func acquire(_ head: RequestHead, proxies: TrustedProxies) -> Duration {
    guard let addresses, let group = proxies.client(head).group else { return .zero }
    let now = now
    return addresses.withLock { $0.acquire(group, nowMilliseconds: now) }
  }

  /// Counts a context of a user, including a repeat of an earlier one.
  func acquire(user: UserID, app: AppSlug) -> Duration {
    guard let users else { return .zero }
    let (now, user) = (now, User(app: app, id: user))
    return users.withLock { $0.acquire(user, nowMilliseconds: now) }
  }

  private var now: Int64 { clock.monotonic.nanoseconds / 1_000_000 }
}

extension Problem {
  /// The requests that these limits count, with the slug of their refusal.
  enum Limited: String {
    case contexts = "too-many-contexts"
    case claims = "too-many-claims"
    case storePurchases = "too-many-store-purchases"
    /// Those of a processor's SDK.
    case payments = "too-many-requests"
  }

  /// - Parameter wait: until the next request is allowed.
  static func limited(_ requests: Limited, _ wait: Duration) -> Problem {
    Problem(
      slug: requests.rawValue, status: 429,
      detail: "Too many requests arrived for this user or from this address in a short time. Nothing of this "
        + "request was stored; send it again after the time that Retry-After says.",
      headers: ["Retry-After": String(max(1, wait.secondsRoundedUp))])
  }
}

// MARK: - ContextRetention

// How long contexts are kept, for the ids that clients choose. Thread-safe.

/// The configured retention of contexts. A reload of the configuration replaces it.
final class ContextRetention: Sendable {
  private let duration: Monitor<Duration>

  init(_ retention: Configuration.Retention) { duration = Monitor(retention.contexts) }

  /// Uses a new configuration.
  func use(_ retention: Configuration.Retention) {
    duration.update { $0 = retention.contexts }
  }

  /// Which ids the relay accepts.
  var rule: ContextIDRule { ContextIDRule(retention: duration.withLock { $0 }) }
}
