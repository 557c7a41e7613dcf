// PostgreSQL as a program's database engine. Thread-safe.

public import Domain
public import Platform
internal import PostgreSQL
public import Store
internal import Synchronization

/// A PostgreSQL database, which several programs may use at once.
public final class PostgresEngine: StoreEngine {
  private let source: PostgresSource
  private let isOwner: Bool
  private let size = Mutex<Int64?>(nil)
  public let reserve: any SpaceReserve = NoReserve()

  /// - Parameters:
  ///   - url: as libpq understands it.
  ///   - isOwner: whether this program creates and migrates the schema.
  ///   - application: the name in the server's views.
  ///   - allowsUnsafe: whether to use a server that can lose what was committed.
  public init(
    _ url: String, isOwner: Bool, application: String, allowsUnsafe: Bool = false
  ) throws(StoreError) {
    do throws(PostgresError) {
      source = try PostgresSource(url, application: application, allowsUnsafe: allowsUnsafe)
    } catch {
      throw .fault(StoreFault(error))
    }
    self.isOwner = isOwner
  }

  public func openWriter(
    rules: [AppSlug: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter {
    try source.prepare(migrates: isOwner)
    look()
    do throws(StoreFault) {
      let connection = try connect(.writer)
      // Committed before any batch, so that a transaction that locks all apps finds these, too.
      _ = try connection.run(
        PostgresCommand(
          "INSERT INTO app_locks (app) SELECT unnest($1) ON CONFLICT DO NOTHING",
          [.texts(rules.keys.map(\.text).sorted())]))
      return try StoreWriter(
        StoreConnection(connection), rules: rules, random: random, upkeep: PostgresUpkeep())
    } catch {
      throw .fault(error)
    }
  }

  public func openReader() throws(StoreError) -> StoreReader {
    try source.prepare(migrates: false)
    do throws(StoreFault) {
      return StoreReader(StoreConnection(try connect(.reader)))
    } catch {
      throw .fault(error)
    }
  }

  /// A connection as the store uses it.
  func connect(_ role: PostgresStoreConnection.Role) throws(StoreFault) -> PostgresStoreConnection {
    try translated { () throws(PostgresError) in try PostgresStoreConnection(source, role: role) }
  }

  public func start() throws(SystemError) {}
  public func stop() {}

  public func look() {
    let bytes = try? source.connect().run("SELECT pg_database_size(current_database())").integer(0, 0)
    size.withLock { $0 = bytes ?? nil }
  }

  public var troubles: [StoreTrouble] { [] }

  public var space: StoreSpace {
    let bytes = size.withLock { $0 }
    return StoreSpace(parts: bytes.map { [.init(name: "database", bytes: $0)] } ?? [], freeBytes: nil)
  }
}

/// The server's disk is not this program's.
private struct NoReserve: SpaceReserve {
  func acquire() -> SpaceAcquired { .held }
  func release() {}
}

/// The server checkpoints and vacuums by itself.
private final class PostgresUpkeep: StoreUpkeep {
  func beforeCommit() throws(StoreFault) {}
  func afterBatch() throws(StoreFault) {}
  func freeSpace() throws(StoreFault) {}
  func finish() throws(StoreFault) {}
}
