// The configuration was read again while an app's deliveries were stopped.

internal import Domain

/// Makes due at once what an app would have tried again within the pause of its breaker. The reason for the
/// pause may be gone, and then the receipts that met it must not sit it out.
public struct Expedite: StoreCommand {
  public var app: String
  /// How long a pause of the app's breaker is.
  public var pauseMilliseconds: Int64

  public init(app: String, pauseMilliseconds: Int64) {
    self.app = app
    self.pauseMilliseconds = pauseMilliseconds
  }

  public func apply(to store: StoreSession) throws(StoreFault) {
    guard let breaker = store.breakers.byApp[app], breaker.state != .closed else { return }
    let until = store.now.advanced(byMilliseconds: pauseMilliseconds)
    try store.purchases.expedite(app: app, now: store.now, until: until)
    store.changes.note(anythingDueAt: store.now, of: app)
  }
}
