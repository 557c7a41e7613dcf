// Connects the parts of the relay to the instance that it is among several on one database. Thread-safe.

internal import Domain
internal import Platform
internal import Reports
internal import Service
internal import Store
internal import Upkeep

/// What an instance calls. It is made before the parts, so they are connected later.
final class InstanceHub: Sendable {
  private struct Connected {
    weak var core: RelayCore?
  }

  private let connected = Monitor(Connected())

  func connect(_ core: RelayCore) { connected.withLock { $0.core = core } }

  private var core: RelayCore? { connected.withLock { $0.core } }

  var calls: InstanceCalls {
    InstanceCalls(
      version: Version.number,
      onOwnership: { self.core?.checkOwnership() },
      onChanges: { changes in self.core?.noteOthers(changes) },
      settle: { app, done in self.settle(app, done) },
      onClockStep: { step in self.core?.housekeeper.followClock(FollowClock(step: step)) },
      pulse: { self.pulse() },
      isBusy: { app in self.core?.dispatcher.isBusy(app) ?? false },
      queueDepth: { self.core?.committer.depth ?? 0 },
      unreadiness: { self.core?.readiness.reasons().map(\.name) ?? [] })
  }

  private func settle(_ app: AppSlug, _ done: @escaping @Sendable (Bool) -> Void) {
    let isQueued = core?.committer.submit(SettleApp(app), from: .internal) { result in
      if case .success = result { done(true) } else { done(false) }
    }
    if isQueued != true { done(false) }
  }

  /// While requests are refused, nothing else would notice that the writer can reach the database again.
  private func pulse() {
    guard let committer = core?.committer, committer.isUnavailable, committer.depth == 0 else { return }
    _ = committer.submit(Pulse(), from: .internal) { _ in }
  }
}
