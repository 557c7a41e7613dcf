// The relay's dependencies. Tests and simulations replace them. A value.

internal import HTTPClient
internal import Platform
internal import Service
internal import Store

/// The transports of merchant backends. Each worker has its own.
struct BackendTransports: Sendable {
  var requests: any HTTPTransport
  var captures: any HTTPTransport
}

/// The dependencies of `RelayCore`.
struct RelayDependencies: Sendable {
  /// The dependencies of every worker.
  var shared: Dependencies
  /// Sends receipts.
  var transport: any HTTPTransport
  /// Sends queries to processors; nil for no lookups.
  var lookupTransport: (any HTTPTransport)?
  /// Announces purchases without a user; nil for no announcements.
  var announcementTransport: (any HTTPTransport)?
  /// Fetches key sets; nil for no fetches.
  var keyTransport: (any HTTPTransport)?
  /// Send the calls of merchant backends, and those that capture payments; nil for none.
  var backendTransports: BackendTransports?
  /// Called once if a sync fails: later answers may be wrong.
  var onSyncFailure: @Sendable (StoreFault) -> Void
  /// How often the database gets a timestamp that receiptd is running.
  var noteServiceInterval: Duration = .seconds(60)
  /// The pause between two attempts to reach the database while a batch is held.
  var holdPause = Committer.holdPause
  /// The grace period for deliveries under way after a stop.
  var grace = Daemon.grace
  /// Called on the committer's thread after each commit that changed something. It must not block.
  var onCommit: @Sendable (StoreChanges) -> Void = { _ in }

  /// The same with another clock; nil for none.
  func using(_ clock: (any Clock)?) -> Self {
    guard let clock else { return self }
    var changed = self
    changed.shared.clock = clock
    return changed
  }

  var log: Log { shared.log }
  var clock: any Clock { shared.clock }
}
