// Creates the parts of the relay. The main thread.

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

  static func associations(_ configuration: Configuration) throws(DaemonError) -> AssociationFileSet {
    do throws(Fault) {
      return try AssociationFileSet(configuration)
    } catch {
      throw .configuration(error)
    }
  }

  static func writer(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ dependencies: RelayDependencies
  ) throws(DaemonError) -> StoreWriter {
    do throws(StoreError) {
      return try engine.openWriter(rules: directory.rules, random: dependencies.shared.random)
    } catch {
      throw DaemonError(error)
    }
  }

  /// Nil if no lookup transport is given.
  static func lookupWorker(
    _ engine: any StoreEngine, _ directory: AppDirectory, _ committer: Committer, _ metrics: Metrics,
    _ dependencies: RelayDependencies
  ) throws(DaemonError) -> LookupWorker? {
    guard let transport = dependencies.lookupTransport else { return nil }
    return LookupWorker(
      transport: transport, reader: try reader(engine), directory: directory, committer: committer,
      metrics: metrics, dependencies: dependencies.shared,
      signInterval: dependencies.signInterval)
  }
}
