// Rate limits for what apps post, per address and per user. Thread-safe; blocks only for a table lookup.

internal import Config
internal import Domain
internal import Formats
internal import HTTPServer
internal import Platform
internal import Service

/// Counts requests.
final class RequestLimits: Sendable {
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

  /// Counts a request of a user, including a repeat of an earlier one.
  func acquire(user: UserID, app: AppSlug) -> Duration {
    guard let users else { return .zero }
    let (now, user) = (now, User(app: app, id: user))
    return users.withLock { $0.acquire(user, nowMilliseconds: now) }
  }

  private var now: Int64 { clock.monotonic.nanoseconds / 1_000_000 }
}
