// Reschedules retries after a reload while an app's deliveries were stopped.

internal import Domain

/// Makes an app's retries due now if they are due within its breaker's pause. The reload may have fixed the
/// cause, so these receipts must not wait for the rest of the pause.
public struct Expedite: StoreCommand {
  public var app: String
  /// The length of a pause of the app's breaker.
  public var pause: Duration

  public init(app: String, pause: Duration) {
    self.app = app
    self.pause = pause
  }

  public func apply(to store: StoreSession) throws(StoreFault) {
    guard let breaker = store.breakers.byApp[app], breaker.state != .closed else { return }
    let until = store.now.advanced(by: pause)
    try store.purchases.expedite(app: app, now: store.now, until: until)
    store.changes.note(anythingDueAt: store.now, of: app)
  }
}
