// Where a database is, and how it is opened: the schema's version is checked, and the owner migrates it.
// Values.

internal import Formats
internal import Migrations
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

  private func login(within time: Duration) throws(PostgresError) -> PostgresConnection {
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

/// Migrates an older schema in one transaction, all or nothing (R10).
enum PostgresMigrator {
  /// "RRly", as in SQLite's `application_id`. The lock exists before any table, and ends with its
  /// transaction, so it also works behind a pooler.
  private static let lock = "SELECT pg_advisory_xact_lock(1381125241)"

  /// Finds the schema, checks its version, and migrates it.
  static func run(
    _ source: PostgresSource, _ connection: PostgresConnection
  ) throws(PostgresError) -> Result<Void, StoreError> {
    let known = Migrations.postgres.count
    if let fault = try source.findSchema(connection) { return .failure(fault) }
    let found = try version(source, connection)
    if let fault = fault(found, known: known, migrates: source.isOwner) { return .failure(fault) }
    guard source.isOwner, found.version < known else { return .success(()) }
    // An empty one is ready in milliseconds.
    if found.version > 0 { source.onMigration() }
    let usualTime = connection.timeLimit
    connection.timeLimit = PostgresSource.migrationTime
    defer { connection.timeLimit = usualTime }
    do throws(PostgresError) {
      return try migrate(source, connection, to: known)
    } catch {
      PostgresSource.rollBack(connection)
      throw error
    }
  }

  private static func migrate(
    _ source: PostgresSource, _ connection: PostgresConnection, to known: Int
  ) throws(PostgresError) -> Result<Void, StoreError> {
    // It waits for the migration of another instance, and for statements that use the tables.
    let time = PostgresSource.migrationTime
    let limits = PostgresLimits(lock: time, statement: time, idle: .minutes(1))
    try connection.runTogether(source.beginning(.writing, limits) + [PostgresCommand(lock)])
    // Another instance may have created or migrated it meanwhile.
    let schemas = try schemas(source, connection)
    let locked: Version = schemas.isEmpty ? (0, 0, false) : try version(source, connection)
    guard locked.version < known, schemas.count < 2 else {
      try connection.run("ROLLBACK")
      source.use(schema: schemas.first)
      return fault(locked, known: known, migrates: true).map { .failure($0) } ?? .success(())
    }
    let place = try connection.run("SELECT quote_ident(current_schema())")
    guard let schema = schemas.first ?? (place.isNull(0, 0) ? nil : place.text(0, 0)) else {
      throw PostgresError(
        .notAllowed, operation: "migrate",
        reason: "the role has no schema in which it may create tables; as a superuser: GRANT CREATE, USAGE "
          + "ON SCHEMA public TO the role")
    }
    let statements = Migrations.postgres[locked.version...].flatMap { Self.statements(of: $0) }
    try connection.runTogether(
      [PostgresCommand("SELECT set_config('search_path', $1, true)", [.text(schema)])]
        + statements.map { PostgresCommand($0) } + [
          PostgresCommand(
            "UPDATE schema_version SET version = $1, usable_from = $2",
            [.integer(Int64(known)), .integer(Int64(Migrations.postgresUsableFrom))]),
          PostgresCommand("COMMIT"),
        ])
    source.use(schema: schema)
    return .success(())
  }

  /// The schemas along the search path that have this program's tables, as identifiers in SQL. Another
  /// program may have a table of that name, but not with this column.
  static func schemas(
    _ source: PostgresSource, _ connection: PostgresConnection
  ) throws(PostgresError) -> [String] {
    let search = PostgresCommand(
      """
      SELECT quote_ident(n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = 'schema_version' AND n.nspname = ANY (current_schemas(false)) AND EXISTS (
        SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'usable_from')
      ORDER BY array_position(current_schemas(false), n.nspname)
      """, operation: "find the schema")
    let found =
      connection.isInTransaction
      ? try connection.runTogether([search])[0] : try source.run(connection, .reading, [search])[0]
    return (0..<found.count).map { found.text($0, 0) }
  }

  /// The version of a database's schema; 0 for an empty one.
  typealias Version = (version: Int, usableFrom: Int, isOfDevelopment: Bool)

  static func version(
    _ source: PostgresSource, _ connection: PostgresConnection
  ) throws(PostgresError) -> Version {
    guard source.schema != nil || connection.isInTransaction else { return (0, 0, false) }
    // Development versions had a table of dictionaries, and other numbers.
    let reading = PostgresCommand(
      """
      SELECT version, usable_from, (SELECT count(*) FROM pg_class other JOIN pg_class own
        ON own.relnamespace = other.relnamespace AND other.relname = 'dictionaries'
        WHERE own.oid = v.tableoid)
      FROM schema_version v
      """)
    let version =
      connection.isInTransaction
      ? try connection.runTogether([reading])[0] : try source.run(connection, .reading, [reading])[0]
    guard version.count == 1 else { return (0, 0, false) }
    return (Int(version.integer(0, 0)), Int(version.integer(0, 1)), version.integer(0, 2) == 1)
  }

  private static func fault(_ found: Version, known: Int, migrates: Bool) -> StoreError? {
    if found.isOfDevelopment { return .ofDevelopment }
    if found.version > known, found.usableFrom > known {
      return .newerSchema(found: found.version, known: known)
    }
    guard !migrates, found.version < known else { return nil }
    return found.version == 0 ? .missing : .olderSchema(found: found.version, known: known)
  }

  /// A statement ends with a semicolon at the end of a line. Comments contain none there.
  static func statements(of script: String) -> [String] {
    var statements: [String] = []
    var lines: [Substring] = []
    for line in script.split(separator: "\n") where !line.hasPrefix("--") {
      lines.append(line)
      guard line.hasSuffix(";") else { continue }
      lines[lines.count - 1] = line.dropLast()
      statements.append(lines.joined(separator: "\n"))
      lines = []
    }
    return statements
  }
}
