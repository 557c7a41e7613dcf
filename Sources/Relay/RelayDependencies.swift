// Everything that the relay's threads get from outside, so that tests and simulations can put their own in
// its place. A value.

internal import HTTPClient
internal import Platform
internal import Store

/// What the relay is made with.
struct RelayDependencies: Sendable {
  /// What every worker gets.
  var shared: Dependencies
  /// Sends receipts.
  var transport: any HTTPTransport
  /// Sends questions to processors; without it nothing is asked.
  var lookupTransport: (any HTTPTransport)?
  /// Fetches key sets; without it none is fetched.
  var keyTransport: (any HTTPTransport)?
  /// Called once, when a write could not be made durable: whatever is answered from then on may be untrue.
  var onSyncFailure: @Sendable (StoreFault) -> Void
  /// Between two notes in the database that receiptd serves.
  var signIntervalMilliseconds: Int64 = 60_000
  /// For how long what is under way may go on after a stop.
  var graceMilliseconds = Daemon.graceMilliseconds
  /// Called on the committer's thread after each commit that changed something. It must not block.
  var onCommit: @Sendable (StoreChanges) -> Void = { _ in }
  /// Called when a request begins to wait, or what one waits for may have changed. It must not block.
  var onWait: @Sendable () -> Void = {}

  var log: Log { shared.log }
  var clock: any Clock { shared.clock }
}
