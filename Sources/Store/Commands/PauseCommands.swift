// Holds and releases an app's deliveries.

public import Domain
internal import Formats

/// Holds an app's deliveries. What is under way is completed; contexts, events and everything else go on.
/// Must be wrapped in `Audited`.
public struct PauseApp: StoreCommand {
  /// The shortest and the longest pause that ends by its time.
  public static let times: ClosedRange<Duration> = .seconds(1)...(.seconds(365 * 86_400))

  public var app: AppSlug
  /// For how long; nil until an operator resumes it.
  public var time: Duration?
  public var actor: String
  public var reason: String?

  public init(app: AppSlug, for time: Duration?, actor: String, reason: String?) {
    self.app = app
    self.time = time
    self.actor = actor
    self.reason = reason
  }

  public var scope: CommandScope { .apps([app]) }

  /// The pause.
  public func apply(to store: StoreSession) throws(StoreFault) -> AppPause {
    var pause = store.pauses[app]
    pause.begin(now: store.now, until: time.map(store.now.advanced), actor: actor, reason: reason)
    try store.pauses.save(pause, of: app)
    store.changes.hasPauses = true
    return pause
  }
}

/// Ends what an app's breakers wait for, also a rest that a destination asked for, and makes its pending
/// receipts due. Must be wrapped in `Audited`. Only the running dispatcher can probe at once: it notes the
/// time of the request.
public struct RetryNow: StoreCommand {
  public var app: AppSlug

  public init(app: AppSlug) { self.app = app }

  public var scope: CommandScope { .apps([app]) }

  /// Whether a breaker was stopped, or rested.
  public func apply(to store: StoreSession) throws(StoreFault) -> Bool {
    var pause = store.pauses[app]
    pause.retryAt = store.now
    try store.pauses.save(pause, of: app)
    var didWait = false
    for (place, breaker) in store.breakers.byPlace where place.app == app {
      let isResting = breaker.restUntil.map { $0 > store.now } ?? false
      guard breaker.state != .closed || isResting else { continue }
      didWait = true
      var ready = breaker
      ready.retryNow(now: store.now)
      try store.breakers.save(ready, of: place)
    }
    let farthest = store.now.advanced(by: .days(400))
    for destination in try store.purchases.pendingDestinations(of: app) {
      try store.purchases.expedite(AppDestination(app, destination), now: store.now, until: farthest)
    }
    store.changes.hasPauses = true
    store.changes.note(anythingDueAt: store.now, of: app)
    return didWait
  }
}

/// Ends the pause of an app. Must be wrapped in `Audited`.
public struct ResumeApp: StoreCommand {
  public var app: AppSlug

  public init(app: AppSlug) { self.app = app }

  public var scope: CommandScope { .apps([app]) }

  /// The pause that it ended; nil if there was none.
  public func apply(to store: StoreSession) throws(StoreFault) -> AppPause? {
    let before = store.pauses[app]
    guard before.isActive(now: store.now) else { return nil }
    var pause = before
    pause.end(now: store.now)
    try store.pauses.save(pause, of: app)
    store.changes.hasPauses = true
    return before
  }
}
