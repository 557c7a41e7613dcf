// PostgreSQL as a program's database engine. Thread-safe.

public import Domain
internal import Formats
public import Platform
public import Store

/// A PostgreSQL database, which several programs may use at once.
public final class PostgresEngine: StoreEngine {
  let source: PostgresSource
  /// Whether the first connection failed: others would only fail, too, after some time.
  private let startsWithoutServer = Monitor(false)
  private let instance = Monitor<PostgresInstance?>(nil)
  private let size = Monitor((bytes: Int64?.none, readAt: MonotonicInstant(nanoseconds: .min)))
  public let reserve: any SpaceReserve = NoReserve()

  /// - Parameters:
  ///   - url: as libpq understands it.
  ///   - isOwner: whether this program creates and migrates the schema.
  ///   - application: the name in the server's views.
  ///   - allowsUnsafe: whether to use a server that can lose what was committed.
  ///   - allowsAsynchronous: whether to use a server that a standby which lacks commits may replace.
  ///   - readURL: the URL as it is written now, when a login fails; nil if it cannot have changed.
  ///   - usesServerClock: whether the server's clock decides what is stored, instead of the given times.
  ///   - onMigration: called before a schema with data is migrated, on the thread that connects.
  public init(
    _ url: String, isOwner: Bool, application: String, allowsUnsafe: Bool = false,
    allowsAsynchronous: Bool = true, readURL: @escaping @Sendable () -> String? = { nil },
    usesServerClock: Bool = true, onMigration: @escaping @Sendable () -> Void = {}
  ) throws(StoreError) {
    do throws(PostgresError) {
      var source = try PostgresSource(
        url, application: application, isOwner: isOwner, allowsUnsafe: allowsUnsafe)
      source.usesServerClock = usesServerClock
      source.allowsAsynchronous = allowsAsynchronous
      source.readURL = readURL
      source.onMigration = onMigration
      self.source = source
    } catch {
      throw .fault(StoreFault(error))
    }
  }

  /// Succeeds also if the server cannot be reached now, when this program owns the schema: a service waits
  /// for its database.
  public func openWriter(
    rules: [AppSlug: AppRules], random: any RandomNumberGenerator & Sendable
  ) throws(StoreError) -> StoreWriter {
    let connection = try connect(.writer)
    poll()
    do throws(StoreFault) {
      return try StoreWriter(
        StoreConnection(connection), rules: rules, random: random, upkeep: PostgresUpkeep())
    } catch {
      throw .fault(error)
    }
  }

  public func openReader() throws(StoreError) -> StoreReader {
    StoreReader(StoreConnection(try connect(.reader)))
  }

  /// A connection as the store uses it.
  func connect(_ role: PostgresStoreConnection.Role) throws(StoreError) -> PostgresStoreConnection {
    do throws(StoreError) {
      // A service has a reader for each of its parts, and most are used seldom.
      if role == .reader, source.isKnownToWork || startsWithoutServer.withLock({ $0 }) {
        return PostgresStoreConnection(source, role: role)
      }
      return PostgresStoreConnection(
        source, role: role, try source.open(within: PostgresSource.firstTime, writes: role == .writer))
    } catch {
      guard source.isOwner, case .fault(let fault) = error, fault.kind.isOutage else { throw error }
      startsWithoutServer.withLock { $0 = true }
      return PostgresStoreConnection(source, role: role)
    }
  }

  public func makeInstance(_ calls: InstanceCalls, log: Log) -> (any StoreInstance)? {
    let made = PostgresInstance(source, calls, log: log)
    instance.withLock { $0 = made }
    return made
  }

  public func start() throws(SystemError) {}
  public func stop() {}

  /// Reads the size of the database, once a minute: each time needs a connection.
  public func poll() {
    let now = MonotonicInstant.now()
    let isDue = size.withLock { size in
      guard now >= size.readAt else { return false }
      size.readAt = now + Self.sizePause
      return true
    }
    guard isDue, isKnownToAnswer else { return }
    let bytes = try? runOnce(.reading, "SELECT pg_database_size(current_database())", within: .seconds(1))
      .integer(0, 0)
    size.withLock { $0.bytes = bytes ?? nil }
  }

  /// Runs one statement with a separate connection.
  func runOnce(
    _ begin: PostgresBegin, _ sql: String, _ values: [PostgresValue] = [],
    within time: Duration = PostgresSource.firstTime
  ) throws(PostgresError) -> PostgresResult {
    let connection = try source.connect(within: time)
    return try source.run(connection, begin, [PostgresCommand(sql, values)])[0]
  }

  public func reload() { source.readURLAgain() }

  /// A look must return soon.
  private var isKnownToAnswer: Bool { source.isKnownToWork && !troubles.contains(.unreachable) }
  private static let sizePause: Duration = .seconds(60)

  public var troubles: [StoreTrouble] {
    instance.withLock { $0 }?.troubles.withLock { Array($0) } ?? []
  }

  public var space: StoreSpace {
    let bytes = size.withLock { $0.bytes }
    return StoreSpace(parts: bytes.map { [.init(name: "database", bytes: $0)] } ?? [], freeBytes: nil)
  }
}

/// The server's disk is not this program's.
private struct NoReserve: SpaceReserve {
  func acquire() -> SpaceAcquired { .remote }
  func release() {}
}

/// The server checkpoints and vacuums automatically.
private final class PostgresUpkeep: StoreUpkeep {
  func beforeCommit() throws(StoreFault) {}
  func afterBatch() throws(StoreFault) {}
  func freeSpace() throws(StoreFault) {}
  func finish() throws(StoreFault) {}
}

// MARK: - Instances

// What operators see of the programs that use a database. Thread-safe.

extension PostgresEngine {
  /// A program that was not seen for this long has ended, or cannot reach the database.
  private static let seenWithin: Duration = .seconds(10)

  public func hasInstances(_ reader: StoreReader) throws(StoreFault) -> Bool {
    try reader.connection.prepare("SELECT 1 FROM instances WHERE seen_at > \(LeaseTable.clock) - ?1 LIMIT 1")
      .first([.integer(Self.seenWithin.milliseconds)]) { _ throws(StoreFault) in true } ?? false
  }

  public func instances() throws(StoreFault) -> (now: Timestamp, running: [InstanceDescription])? {
    try translated { () throws(PostgresError) in
      let connection = try source.connect(within: PostgresSource.firstTime)
      let results = try source.run(
        connection, .reading,
        [
          PostgresCommand("SELECT \(LeaseTable.clock)"),
          PostgresCommand("SELECT name, owner FROM leases WHERE owner IS NOT NULL ORDER BY name"),
          PostgresCommand(
            """
            SELECT id, host, version, configuration, started_at, seen_at, clock_ahead, queue_depth,
              is_notified, unreadiness, secrets, leases
            FROM instances WHERE seen_at > \(LeaseTable.clock) - $1 ORDER BY started_at, id
            """, [.integer(Self.seenWithin.milliseconds)]),
        ])
      var owned: [Int64: [String]] = [:]
      for row in 0..<results[1].count {
        owned[results[1].integer(row, 1), default: []].append(results[1].text(row, 0))
      }
      let rows = results[2]
      let running = (0..<rows.count).map { row in
        let names = owned[rows.integer(row, 0)] ?? []
        return InstanceDescription(
          id: rows.integer(row, 0), host: rows.text(row, 1), version: rows.text(row, 2),
          configuration: rows.text(row, 3), secrets: rows.text(row, 10),
          startedAt: Timestamp(unixMilliseconds: rows.integer(row, 4)),
          seenAt: Timestamp(unixMilliseconds: rows.integer(row, 5)),
          clockAhead: .milliseconds(rows.integer(row, 6)), queueDepth: Int(rows.integer(row, 7)),
          isNotified: rows.integer(row, 8) == 1,
          unreadiness: rows.text(row, 9).split(separator: " ").map(String.init),
          configured: Set(
            rows.text(row, 11).split(separator: " ").map(String.init).filter { $0 != LeaseRow.shared }
              .map { AppSlug($0) }),
          apps: names.filter { $0 != LeaseRow.shared }.map { AppSlug($0) },
          doesSharedWork: names.contains(LeaseRow.shared))
      }
      return (Timestamp(unixMilliseconds: results[0].integer(0, 0)), running)
    }
  }

  public func notifyInstances() throws(StoreFault) {
    _ = try translated { () throws(PostgresError) in
      try runOnce(
        .writing, "SELECT pg_notify($1, $2)",
        [.text(InstanceNews.channel), .text(InstanceNews.anything(from: 0))])
    }
  }
}
