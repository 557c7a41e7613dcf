// Reschedules retries after a reload while an app's deliveries were stopped.

public import Domain

/// Makes an app's retries due now if they are due within their breaker's pause. The reload may have fixed the
/// cause, so these receipts must not wait for the rest of the pause.
public struct Expedite: StoreCommand {
  public var app: AppSlug
  /// The length of a pause of the app's breakers.
  public var pause: Duration

  public init(app: AppSlug, pause: Duration) {
    self.app = app
    self.pause = pause
  }

  public var scope: CommandScope { .apps([app]) }

  public func apply(to store: StoreSession) throws(StoreFault) {
    guard store.rules(of: app) != nil else { return }
    let until = store.now.advanced(by: pause)
    var isStopped = false
    for destination in try store.purchases.pendingDestinations(of: app) {
      let place = AppDestination(app, destination)
      guard let breaker = store.breakers.byPlace[place], breaker.state != .closed else { continue }
      try store.purchases.expedite(place, now: store.now, until: until)
      isStopped = true
    }
    guard isStopped else { return }
    store.changes.note(anythingDueAt: store.now, of: app)
  }
}
