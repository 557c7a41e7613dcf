// One pending link for everything that can open the app. Thread-safe: a lock guards the state, and no closure
// of the app is called while it is held.

public import Foundation

/// What to do with a received link.
public enum LinkDecision<Route: LinkRoute>: Sendable {
  /// The link leads to a place in the app. The place waits for ``LinkRouter/activate(_:)``.
  case route(Route)
  /// A web page that is not a place of the app: open it in the browser.
  case openInBrowser(URL)
  /// The link is neither, or the router's `allows` refused it.
  case refused
}

extension LinkDecision: Equatable where Route: Equatable {}

/// Receives links, universal links, quick actions and notifications, and keeps the last valid one until the
/// app is active.
///
/// The router does not navigate when a link arrives, because the app may not have a screen yet. Pass
/// everything to `handle(…)`, which returns whether it leads to a place in the app, and call ``activate(_:)``
/// when the scene becomes active.
///
/// - The latest valid link wins. An invalid one leaves the pending one unchanged.
/// - The pending link is cleared before it is handled, so it is handled once. A link that arrives meanwhile
///   waits for the next activation.
/// - Schemes and hosts are case-insensitive; other schemes and hosts are refused.
public final class LinkRouter<Route: LinkRoute>: Sendable {
  private struct Pending {
    var route: Route
    var since: Date
  }

  private let reader: LinkReader
  private let lifetime: TimeInterval?
  private let clock: any CheckoutClock
  private let allows: @Sendable (Route) -> Bool
  private let pending = Locked<Pending?>(nil)

  /// Creates a router; an app has one.
  /// - Parameters:
  ///   - schemes: the app's custom schemes (`CFBundleURLSchemes`); `http` and `https` are ignored.
  ///   - hosts: the app's Associated Domains, without `applinks:`.
  ///   - lifetime: seconds after which a pending link is dropped; nil keeps it.
  ///   - clock: measures `lifetime`.
  ///   - allows: whether a place may be opened, called when its link arrives: a guest may not be allowed all
  ///     of them.
  public init(
    schemes: Set<String>, hosts: Set<String> = [], lifetime: TimeInterval? = nil,
    clock: any CheckoutClock = SystemClock(), allows: @escaping @Sendable (Route) -> Bool = { _ in true }
  ) {
    reader = LinkReader(schemes: schemes, hosts: hosts)
    self.lifetime = lifetime
    self.clock = clock
    self.allows = allows
  }

  // MARK: Reading and formatting

  /// The place that a URL leads to; nil when it does not belong to the app. It does not change the pending
  /// place.
  public func route(for url: URL) -> Route? { reader.path(of: url).flatMap { Route(path: $0) } }

  /// A link under a custom scheme. It is nil when this router would not read it as the same place: the scheme
  /// is not the app's, or the first segment is one of the app's hosts, which is not read as a segment.
  public func url(for route: Route, scheme: String) -> URL? {
    route.path.url(scheme: scheme).flatMap { leads($0, to: route) ? $0 : nil }
  }

  /// A universal link; nil when this router would not read it as the same place: the host is not the app's.
  public func url(for route: Route, host: String) -> URL? {
    route.path.url(host: host).flatMap { leads($0, to: route) ? $0 : nil }
  }

  /// Compares the paths, because routes need not be `Equatable`.
  private func leads(_ url: URL, to route: Route) -> Bool { self.route(for: url)?.path == route.path }

  // MARK: Incoming

  /// Receives a URL that opened the app, and decides what to do with it.
  /// - Returns: ``LinkDecision/openInBrowser(_:)`` for a web page that is not a place of the app, on its
  ///   hosts or on others; ``LinkDecision/refused`` for other schemes.
  @discardableResult public func receive(_ url: URL) -> LinkDecision<Route> {
    if let route = route(for: url) { return offer(route) ? .route(route) : .refused }
    return ExternalLink(url) == .browser ? .openInBrowser(url) : .refused
  }

  /// Receives a URL that opened the app (`onOpenURL`, `scene(_:openURLContexts:)`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(_ url: URL) -> Bool {
    if case .route = receive(url) { true } else { false }
  }

  /// Receives the values of a user activity (`onContinueUserActivity`, `scene(_:continue:)`).
  /// - Returns: whether it is a universal link to a place in the app. If not, ``receive(_:)`` decides what to
  ///   do with its URL.
  @discardableResult public func handle(activityType: String, webpageURL: URL?) -> Bool {
    guard
      let link = UniversalLink(activityType: activityType, webpageURL: webpageURL, hosts: reader.hosts),
      let route = Route(path: link.path)
    else { return false }
    return offer(route)
  }

  /// Receives a quick action's type (`UIApplicationShortcutItem.type`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(shortcutType: String) -> Bool {
    Route(shortcutType: shortcutType).map { offer($0) } ?? false
  }

  /// Receives a notification that was tapped (`UNNotificationContent.userInfo`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(notification userInfo: [AnyHashable: Any]) -> Bool {
    Route(notification: NotificationPayload(userInfo)).map { offer($0) } ?? false
  }

  /// Makes a place the pending one.
  /// - Returns: false when it is not allowed; the pending place is then unchanged.
  @discardableResult public func offer(_ route: Route) -> Bool {
    guard allows(route) else { return false }
    let now = clock.date
    pending.withLock { $0 = Pending(route: route, since: now) }
    return true
  }

  // MARK: Activation

  /// Passes the pending place to the app. Call it when the scene becomes active, and after a link arrives
  /// while it is active.
  /// - Parameter handler: navigates. It is called at most once, on this thread, and may offer links itself,
  ///   which wait for the next activation.
  /// - Returns: whether a place was pending.
  @discardableResult public func activate(_ handler: (Route) throws -> Void) rethrows -> Bool {
    guard let route = popPending() else { return false }
    try handler(route)
    return true
  }

  /// Removes and returns the pending place; for apps that navigate asynchronously.
  public func popPending() -> Route? {
    let taken = pending.withLock { pending in
      defer { pending = nil }
      return pending
    }
    return taken.flatMap { isFresh($0) ? $0.route : nil }
  }

  /// Whether a place waits for the next activation.
  public var hasPending: Bool { pending.withLock(\.self).map(isFresh) ?? false }

  private func isFresh(_ pending: Pending) -> Bool {
    guard let lifetime else { return true }
    return clock.date.timeIntervalSince(pending.since) <= lifetime
  }
}
