// Which database engines there are. Everything else in this program has the protocol.

internal import Configuration
internal import Domain
internal import Platform
internal import SQLiteStore
internal import Store

enum Engines {
  /// The configured database, which this process has to itself from now on.
  /// - Parameters:
  ///   - makesNew: whether to begin with an empty database although files of an earlier one are there.
  ///   - onMigration: called when opening it will bring its schema up to date.
  static func serve(
    _ configuration: Configuration, makesNew: Bool, log: Log, clock: any Clock, onMigration: () -> Void,
    onSyncFailure: @escaping @Sendable (StoreFault) -> Void
  ) throws(DaemonError) -> any StoreEngine {
    do throws(DatabaseRefusal) {
      return try SQLiteEngine.serve(
        configuration.databasePath, makesNew: makesNew, log: log,
        now: Timestamp(unixMilliseconds: clock.wallMilliseconds), onMigration: onMigration,
        onSyncFailure: onSyncFailure)
    } catch {
      switch error {
      case .held(let holder): throw .held(by: holder)
      case .refused(let message): throw .refused(message)
      case .system(let error):
        throw .unavailable(
          "cannot lock the database (\(error)); see that its folder exists and that receiptd may write to it")
      }
    }
  }

  /// A look into the configured database, whoever serves it.
  static func reader(of configuration: Configuration) throws(StoreError) -> StoreReader {
    try StoreReader(path: configuration.databasePath)
  }
}
