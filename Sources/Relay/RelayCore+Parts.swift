// How the parts of the relay are made. The main thread.

internal import Apps
internal import Configuration
internal import Delivery
internal import Domain
internal import HTTPServer
internal import HTTPService
internal import Health
internal import Intake
internal import Lookups
internal import Persistence
internal import Platform
internal import Presentation
internal import PublicPages
internal import SQLiteStore
internal import Store
internal import Telemetry

extension RelayCore {
  static func directory(_ configuration: Configuration) throws(DaemonError) -> AppDirectory {
    do {
      return try AppDirectory(configuration)
    } catch {
      throw .configuration(
        (error as? Fault) ?? Fault(path: "apps", message: "a secret cannot be used as a key"))
    }
  }

  static func associations(_ configuration: Configuration) throws(DaemonError) -> AssociationBoard {
    do throws(Fault) {
      return try AssociationBoard(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  /// Nil where nothing is checked at the start.
  static func checker(
    _ path: String, _ dependencies: RelayDependencies, _ health: DatabaseHealth
  ) -> DatabaseChecker? {
    dependencies.checkMilliseconds.map { milliseconds in
      DatabaseChecker(path: path, milliseconds: milliseconds, health: health, log: dependencies.log)
    }
  }

  /// Nil where the committer moves the log itself.
  static func checkpointer(
    _ path: String, _ dependencies: RelayDependencies, _ health: DatabaseHealth, _ checker: DatabaseChecker?
  ) -> Checkpointer? {
    guard dependencies.movesLogInBackground else { return nil }
    return Checkpointer(
      path: path, onSyncFailure: dependencies.onSyncFailure, onDamage: { health.note($0) },
      onHeldBack: { checker?.giveWay() })
  }

  static func writer(
    _ path: String, _ directory: AppDirectory, _ checkpointer: Checkpointer?,
    _ dependencies: RelayDependencies,
    _ health: DatabaseHealth
  ) throws(DaemonError) -> StoreWriter {
    do throws(StoreError) {
      return try StoreWriter(
        path: path, role: .owner, rules: directory.rules, random: dependencies.shared.random,
        background: checkpointer, onDamage: { health.note($0) }, isInPlace: { health.isInPlace() })
    } catch {
      throw DaemonError(error)
    }
  }

  /// Nil where nothing can be asked.
  static func enquirer(
    _ path: String, _ directory: AppDirectory, _ committer: Committer, _ metrics: Metrics,
    _ dependencies: RelayDependencies, _ health: DatabaseHealth
  ) throws(DaemonError) -> Enquirer? {
    guard let transport = dependencies.lookupTransport else { return nil }
    return Enquirer(
      transport: transport, reader: try reader(path, health), directory: directory, committer: committer,
      metrics: metrics, dependencies: dependencies.shared)
  }
}
