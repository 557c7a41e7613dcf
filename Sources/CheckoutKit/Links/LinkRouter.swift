// One pending link for everything that can open the app. Any thread: state is behind a lock, and no closure
// of the app is called while it is held.

public import Foundation

/// What to do with a link that came.
public enum LinkDecision<Route: LinkRoute>: Sendable {
  /// It leads to a place in the app, and waits for ``LinkRouter/activate(_:)``.
  case route(Route)
  /// It is a page of the web that the app does not know: open it in the browser, so that it is not lost.
  case openInBrowser(URL)
  /// It is neither, or ``LinkRouter`` was told not to allow it.
  case refused
}

extension LinkDecision: Equatable where Route: Equatable {}

/// Takes links, universal links, quick actions and notifications, and keeps the last valid one until the app
/// is active.
///
/// Nothing navigates when a link comes, because the app may not have a screen yet. Offer everything with
/// `handle(…)`, which says whether it leads to a place in the app, and call ``activate(_:)`` when the scene
/// becomes active.
///
/// - The latest valid link wins. One that cannot be read leaves a pending one alone.
/// - The pending link is cleared before it is handled, so it is handled once, and one that comes meanwhile
///   waits for the next activation.
/// - Schemes and hosts compare without case; other schemes and hosts are refused.
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

  /// Makes a router; an app has one.
  /// - Parameters:
  ///   - schemes: the app's custom schemes (`CFBundleURLSchemes`); `http` and `https` are never among them.
  ///   - hosts: the app's Associated Domains, without `applinks:`.
  ///   - lifetime: after how many seconds a pending link is dropped; nil keeps it.
  ///   - clock: what `lifetime` is measured with.
  ///   - allows: whether a place may be opened at all, asked when its link comes: a guest's profile may not
  ///     have all of them.
  public init(
    schemes: Set<String>, hosts: Set<String> = [], lifetime: TimeInterval? = nil,
    clock: any CheckoutClock = SystemClock(), allows: @escaping @Sendable (Route) -> Bool = { _ in true }
  ) {
    reader = LinkReader(schemes: schemes, hosts: hosts)
    self.lifetime = lifetime
    self.clock = clock
    self.allows = allows
  }

  // MARK: Reading and printing

  /// The place that a URL leads to; nil when it is none of the app's. Changes nothing.
  public func route(for url: URL) -> Route? { reader.path(of: url).flatMap { Route(path: $0) } }

  /// A link under a custom scheme; nil when this router would not read it as the same place: the scheme is
  /// none of its own, or the first segment is one of its hosts, which counts as no segment.
  public func url(for route: Route, scheme: String) -> URL? {
    route.path.url(scheme: scheme).flatMap { leads($0, to: route) ? $0 : nil }
  }

  /// A universal link; nil when this router would not read it as the same place: the host is none of its own.
  public func url(for route: Route, host: String) -> URL? {
    route.path.url(host: host).flatMap { leads($0, to: route) ? $0 : nil }
  }

  /// Places need not be comparable, so what they print is compared.
  private func leads(_ url: URL, to route: Route) -> Bool { self.route(for: url)?.path == route.path }

  // MARK: What comes

  /// Takes a URL that the app was opened with, and says what to do with it.
  /// - Returns: ``LinkDecision/openInBrowser(_:)`` for a web page that is no place of the app, on its hosts
  ///   or on others; ``LinkDecision/refused`` for other schemes.
  @discardableResult public func receive(_ url: URL) -> LinkDecision<Route> {
    if let route = route(for: url) { return offer(route) ? .route(route) : .refused }
    return ExternalLink(url) == .browser ? .openInBrowser(url) : .refused
  }

  /// Takes a URL that the app was opened with (`onOpenURL`, `scene(_:openURLContexts:)`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(_ url: URL) -> Bool {
    if case .route = receive(url) { true } else { false }
  }

  /// Takes a user activity (`onContinueUserActivity`, `scene(_:continue:)`), by its values.
  /// - Returns: whether it is a universal link to a place in the app. When it is not, ``receive(_:)`` says
  ///   what to do with its URL.
  @discardableResult public func handle(activityType: String, webpageURL: URL?) -> Bool {
    guard
      let link = UniversalLink(activityType: activityType, webpageURL: webpageURL, hosts: reader.hosts),
      let route = Route(path: link.path)
    else { return false }
    return offer(route)
  }

  /// Takes a quick action's type (`UIApplicationShortcutItem.type`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(shortcutType: String) -> Bool {
    Route(shortcutType: shortcutType).map { offer($0) } ?? false
  }

  /// Takes a notification that was tapped (`UNNotificationContent.userInfo`).
  /// - Returns: whether it leads to a place in the app.
  @discardableResult public func handle(notification userInfo: [AnyHashable: Any]) -> Bool {
    Route(notification: NotificationPayload(userInfo)).map { offer($0) } ?? false
  }

  /// Makes a place the pending one.
  /// - Returns: false when it is not allowed; what was pending stays then.
  @discardableResult public func offer(_ route: Route) -> Bool {
    guard allows(route) else { return false }
    let now = clock.date
    pending.withLock { $0 = Pending(route: route, since: now) }
    return true
  }

  // MARK: Activation

  /// Hands the pending place to the app. Call it when the scene became active, and after a link came while it
  /// was.
  /// - Parameter handler: navigates. It is called once at most, on this thread, and may offer links itself:
  ///   those wait for the next activation.
  /// - Returns: whether there was one.
  @discardableResult public func activate(_ handler: (Route) throws -> Void) rethrows -> Bool {
    guard let route = takePending() else { return false }
    try handler(route)
    return true
  }

  /// The pending place, which is no longer pending then; for apps that navigate asynchronously.
  public func takePending() -> Route? {
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
