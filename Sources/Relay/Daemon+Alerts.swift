// Creates the daemon's alerter. The main thread.

internal import Alerts
internal import Configuration
internal import Domain
internal import HTTPClient
internal import Health
internal import Persistence
internal import Platform
internal import Presentation
internal import Store

extension Daemon {
  static func alertPlan(_ configuration: Configuration) throws(DaemonError) -> AlertPlan {
    do throws(Fault) {
      return try AlertPlan(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  /// Creates the alerter with its own connection and transfers.
  static func alerter(
    _ plan: AlertPlan, _ core: RelayCore, _ health: HealthMonitor, _ log: Log, _ clock: any Clock
  ) throws(DaemonError) -> Alerter {
    let transport: TransferPool
    do throws(TransferFailure) {
      transport = try TransferPool(connectionsMax: Alerter.transfersMax)
    } catch {
      throw .unavailable("libcurl could not be set up (\(error))")
    }
    let sources = AlertSources(
      metrics: core.metrics, committer: core.committer,
      freeBytes: { [engine = core.engine] in engine.space.freeBytes },
      unreadiness: { [readiness = core.readiness] in readiness.reasons().map(\.text) },
      health: health, database: { [engine = core.engine] in engine.troubles.map(ReadinessReason.init) })
    return Alerter(
      plan, sources: sources, transport: transport, reader: try RelayCore.reader(core.engine),
      dependencies: Dependencies(log: log, clock: clock))
  }
}
