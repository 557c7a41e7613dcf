// Where a database is, and how it is opened: the schema's version is checked, and the owner migrates it.
// Values.

internal import Formats
internal import Platform
internal import Store

/// A database, for all connections of a program.
struct PostgresSource: Sendable {
  /// The time limit of a call.
  static let timeLimit: Duration = .seconds(30)
  /// The time limit of a migration, with the wait for one by another program.
  static let migrationTime: Duration = .hours(1)
  /// The time limit of a program's first attempt to connect.
  static let firstTime: Duration = .seconds(10)
  /// The time limit of an attempt of a program that runs. Requests that arrive meanwhile are refused at once.
  static let reconnectTime: Duration = .seconds(3)

  /// The name in the server's views.
  let application: String
  /// Whether this program creates and migrates the schema.
  let isOwner: Bool
  /// Whether to use a server that can lose what was committed.
  let allowsUnsafe: Bool
  /// Whether the server's clock decides what is stored; otherwise the times that commands are given.
  var usesServerClock = true
  /// How long a transaction may wait for this program before the server ends it, so that a program that
  /// stopped does not keep the locks of its apps.
  var idleTime: Duration = .seconds(2)
  /// Called before a schema with data is migrated.
  var onMigration: @Sendable () -> Void = {}
  /// Whether a database that was copied, or is an unfinished copy, is refused.
  var checksMarks = true
  /// Whether to use a server that a standby which lacks commits may replace automatically.
  var allowsAsynchronous = true
  /// The database's URL as it is written now; nil if it cannot have changed.
  var readURL: @Sendable () -> String? = { nil }

  private struct Shared {
    var settings: PostgresSettings
    /// As an identifier in SQL. Nil before the first contact, and in an empty database.
    var schema: String?
    /// Whether the schema was checked: later connections may find a newer one, while other instances are
    /// upgraded.
    var isChecked = false
  }

  /// What all copies of this value know.
  private let shared: Monitor<Shared>

  init(
    _ url: String, application: String, isOwner: Bool, allowsUnsafe: Bool
  ) throws(PostgresError) {
    shared = Monitor(Shared(settings: try PostgresSettings(url)))
    self.application = application
    self.isOwner = isOwner
    self.allowsUnsafe = allowsUnsafe
  }

  /// The time limit of a query. A service waits for less: a thread that delivers must notice that another
  /// server has the database now.
  var readingTime: Duration { isOwner ? .seconds(10) : Self.timeLimit }

  /// The time limits of a query on the server. An operator may look at a page for minutes; a service never.
  var readingLimits: PostgresLimits {
    var limits = PostgresLimits.within(readingTime)
    if !isOwner { limits.idle = .minutes(5) }
    return limits
  }

  var settings: PostgresSettings { shared.withLock { $0.settings } }

  /// The schema with this program's tables, for as long as it runs: one that appears before it on the search
  /// path would hide them.
  var schema: String? { shared.withLock { $0.schema } }

  /// Whether a connection was opened before.
  var isKnownToWork: Bool { shared.withLock { $0.isChecked } }

  /// Uses a URL that was changed, such as its password, for the next connections.
  /// - Returns: whether it was.
  @discardableResult func readURLAgain() -> Bool {
    guard let text = readURL(), let settings = try? PostgresSettings(text) else { return false }
    return shared.withLock { shared in
      defer { shared.settings = settings }
      return shared.settings != settings
    }
  }

  func login(within time: Duration) throws(PostgresError) -> PostgresConnection {
    let end = MonotonicInstant.now() + time
    do throws(PostgresError) {
      return try .open(settings, timeLimit: Self.timeLimit, application: application, within: time)
    } catch {
      guard error.kind == .notAllowed, readURLAgain() else { throw error }
      let rest = max(end.duration(since: .now()), .seconds(1))
      return try .open(settings, timeLimit: Self.timeLimit, application: application, within: rest)
    }
  }

  /// Finds the schema with the tables.
  /// - Returns: nil if there is one, or none.
  func findSchema(_ connection: PostgresConnection) throws(PostgresError) -> StoreError? {
    guard schema == nil else { return nil }
    let found = try PostgresMigrator.schemas(self, connection)
    guard found.count < 2 else { return .severalSchemas(found) }
    use(schema: found.first)
    return nil
  }

  func use(schema: String?) { shared.withLock { $0.schema = schema } }

  /// Opens a connection whose commits are durable, to a database with a known schema.
  /// - Parameters:
  ///   - time: for all attempts together.
  ///   - writes: whether a program that does not own the schema writes.
  func open(within time: Duration, writes: Bool = false) throws(StoreError) -> PostgresConnection {
    let connection: PostgresConnection
    let schema: Result<Void, StoreError>
    do throws(PostgresError) {
      connection = try login(within: time)
      try checkDurability(connection)
      schema = isKnownToWork ? .success(()) : try PostgresMigrator.run(self, connection)
    } catch {
      throw .fault(StoreFault(error))
    }
    try schema.get()
    // Each time: the database may have been copied while this program was cut off from it.
    if checksMarks, isOwner || writes {
      try StoreConnection(PostgresStoreConnection(self, role: .writer, connection)).admitWriter()
    }
    shared.withLock { $0.isChecked = true }
    return connection
  }

  /// The same, for a program that is running.
  func connect(within time: Duration, writes: Bool = false) throws(PostgresError) -> PostgresConnection {
    do throws(StoreError) {
      return try open(within: time, writes: writes)
    } catch {
      if case .fault(let fault) = error {
        throw PostgresError(
          fault.kind.isOutage ? .cannotConnect : .invalidSettings, operation: fault.operation,
          reason: fault.reason)
      }
      throw PostgresError(.invalidSettings, operation: "connect", reason: error.description)
    }
  }

  /// A setting of the server or the database that can lose what was committed is refused (R1).
  private func checkDurability(_ connection: PostgresConnection) throws(PostgresError) {
    guard !allowsUnsafe else { return }
    let results = try run(connection, .reading, [PostgresCommand(Self.durabilitySQL), Self.standbyCount])
    var values: [String: String] = [:]
    for row in 0..<results[0].count { values[results[0].text(row, 0)] = results[0].text(row, 1) }
    let fault = Self.durabilityFault(values) ?? failoverFault(values, standbys: results[1].integer(0, 0))
    if let fault { throw PostgresError(.invalidSettings, operation: "connect", reason: fault) }
  }

  private static let durabilitySQL = """
    SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit',
      'synchronous_standby_names', 'client_min_messages')
    """

  /// Any role may count them. What else they are, such as a base backup, only pg_monitor may see.
  private static let standbyCount = PostgresCommand(
    "SELECT count(*) FROM pg_stat_replication WHERE state IS NULL OR state IN ('streaming', 'catchup')")

  /// Why a failover could lose receipts, at a program's first contact; later it would stop a service that
  /// has lost its standby. Several hosts mean that another server may become the primary.
  func failoverFault(_ settings: [String: String], standbys: Int64) -> String? {
    guard isOwner, !allowsAsynchronous, !isKnownToWork, self.settings.hostCount > 1, standbys > 0,
      settings["synchronous_standby_names"]?.isEmpty != false
    else { return nil }
    return "the URL has several hosts, and no standby is synchronous: a failover loses receipts that were "
      + "acknowledged, and an old primary that is still up delivers at the same time as the new one. Set "
      + "synchronous_standby_names, or accept that with \"database_durability\": \"asynchronous\""
  }

  /// Why committed transactions could be lost; nil if they cannot
  /// (https://www.postgresql.org/docs/15/runtime-config-wal.html).
  /// - Parameter settings: by their names.
  static func durabilityFault(_ settings: [String: String]) -> String? {
    for name in ["fsync", "full_page_writes"] where settings[name] == "off" {
      return "the server has \(name) = off: a power cut can lose receipts; set it to on"
    }
    let commit = settings["synchronous_commit"] ?? "on"
    let hasStandby = settings["synchronous_standby_names"]?.isEmpty == false
    if commit == "off" || (hasStandby && !["on", "remote_apply"].contains(commit)) {
      return
        "the server has synchronous_commit = \(commit): \(hasStandby ? "a failover" : "a crash") can lose "
        + "receipts; set it to on"
    }
    // Only a warning says that a transaction did not reach the standby.
    if ["error", "log"].contains(settings["client_min_messages"] ?? "notice") {
      return
        "client_min_messages hides warnings, and only a warning says that a transaction did not reach the "
        + "standby; set it to notice"
    }
    return nil
  }
}
