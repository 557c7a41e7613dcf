// The database engines of the daemon. The rest of it uses their protocol.

internal import Service
internal import Config
internal import Domain
internal import Platform
internal import PostgresStore
internal import SQLiteStore
internal import Store

extension Engines {
  /// Opens the configured database for exclusive use by this process.
  /// - Parameters:
  ///   - makesNew: whether to start with an empty database although files of an earlier one exist.
  ///   - acceptsLostLog: whether to start without the log of a run that did not end cleanly.
  ///   - onMigration: called before opening migrates the schema.
  static func serve(
    _ configuration: Configuration, makesNew: Bool, acceptsLostLog: Bool, log: Log, clock: any Clock,
    onMigration: @escaping @Sendable () -> Void, onSyncFailure: @escaping @Sendable (StoreFault) -> Void
  ) throws(DaemonError) -> any StoreEngine {
    switch configuration.database {
    case .postgres(let url):
      guard !makesNew, !acceptsLostLog else {
        throw .refused(
          "--new-database and --without-log are for a database file; in an empty database of a server, "
            + "receiptd creates its tables without them")
      }
      return try server(url, configuration.durability, onMigration)
    case .file(let path):
      return try file(
        path, makesNew: makesNew, acceptsLostLog: acceptsLostLog, log: log, clock: clock,
        onMigration: onMigration, onSyncFailure: onSyncFailure)
    }
  }

  private static func server(
    _ url: DatabaseURL, _ durability: DatabaseDurability, _ onMigration: @escaping @Sendable () -> Void
  ) throws(DaemonError) -> any StoreEngine {
    let text: String
    do throws(Fault) {
      text = try url.reveal()
    } catch {
      throw .configuration(error)
    }
    do throws(StoreError) {
      return try PostgresEngine(
        text, isOwner: true, application: application, allowsUnsafe: durability == .lossy,
        allowsAsynchronous: durability != .safe, readURL: url.readAgain, onMigration: onMigration)
    } catch {
      throw DaemonError(error)
    }
  }

  private static func file(
    _ path: String, makesNew: Bool, acceptsLostLog: Bool, log: Log, clock: any Clock,
    onMigration: () -> Void,
    onSyncFailure: @escaping @Sendable (StoreFault) -> Void
  ) throws(DaemonError) -> any StoreEngine {
    do throws(DatabaseRefusal) {
      return try SQLiteEngine.serve(
        path, makesNew: makesNew, acceptsLostLog: acceptsLostLog, log: log,
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
}
