// The alerter as the daemon has it. The main thread.

internal import Domain
internal import HTTPClient
internal import Platform
internal import Store

extension Daemon {
  static func alertPlan(_ configuration: Configuration) throws(DaemonError) -> AlertPlan {
    do throws(Fault) {
      return try AlertPlan(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  /// With a connection and transfers of its own.
  static func alerter(
    _ plan: AlertPlan, _ core: RelayCore, _ health: HealthMonitor, _ databasePath: String, _ log: Log,
    _ clock: any Clock
  ) throws(DaemonError) -> Alerter {
    let carrier: TransferPool
    do throws(TransferFailure) {
      carrier = try TransferPool(connectionsMax: Alerter.transfersMax)
    } catch {
      throw .unavailable("libcurl could not be set up (\(error))")
    }
    let sources = AlertSources(
      metrics: core.metrics, committer: core.committer,
      freeBytes: { DiskSpace.availableBytes(at: databasePath) },
      unreadiness: { [readiness = core.readiness] in readiness.reasons().map(\.text) },
      health: health, database: { [files = core.health] in files.unreadiness() })
    return Alerter(
      plan, sources: sources, reader: try RelayCore.reader(databasePath, core.health),
      surroundings: Surroundings(
        log: log, clock: clock, carrier: carrier, reserve: NoReserve(), onSyncFailure: { _ in }))
  }

  /// The alerter stores nothing by itself.
  private struct NoReserve: SpaceReserve {
    func take() -> SpaceTaken { .unavailable }
    func giveUp() {}
  }
}
