// The database engines. The rest of this program uses the protocol.

internal import Configuration
internal import Domain
internal import Platform
internal import SQLiteStore
internal import Store

enum Engines {
  /// Opens the configured database for exclusive use by this process.
  /// - Parameters:
  ///   - makesNew: whether to start with an empty database although files of an earlier one exist.
  ///   - onMigration: called before opening migrates the schema.
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

  /// Opens the configured database for reading, whether or not another process serves it.
  static func reader(of configuration: Configuration) throws(StoreError) -> StoreReader {
    try StoreReader(path: configuration.databasePath)
  }
}
