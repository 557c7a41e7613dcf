// Where a database is, and how it is opened: the schema's version is checked, and the owner migrates it.
// Values.

internal import Durations
internal import Migrations
internal import Platform
internal import PostgreSQL
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

  let settings: PostgresSettings
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
  /// Whether the schema was checked: later connections may find a newer one, while other instances are
  /// upgraded.
  private let isChecked = Monitor(false)

  init(
    _ url: String, application: String, isOwner: Bool, allowsUnsafe: Bool
  ) throws(PostgresError) {
    settings = try PostgresSettings(url)
    self.application = application
    self.isOwner = isOwner
    self.allowsUnsafe = allowsUnsafe
  }

  /// The time limit of a query. A service waits for less: a thread that delivers must notice that another
  /// server has the database now.
  var readingTime: Duration { isOwner ? .seconds(10) : Self.timeLimit }

  /// Whether a connection was opened before.
  var isKnownToWork: Bool { isChecked.withLock { $0 } }

  /// Opens a connection whose commits are durable, to a database with a known schema.
  /// - Parameters:
  ///   - time: for all attempts together.
  ///   - writes: whether a program that does not own the schema writes.
  func open(within time: Duration, writes: Bool = false) throws(StoreError) -> PostgresConnection {
    let connection: PostgresConnection
    let schema: Result<Void, StoreError>
    do throws(PostgresError) {
      connection = try PostgresConnection.open(
        settings, timeLimit: Self.timeLimit, application: application, within: time)
      try checkDurability(connection)
      schema =
        isKnownToWork
        ? .success(())
        : try PostgresMigrator.run(connection, migrates: isOwner, onMigration: onMigration)
    } catch {
      throw .fault(StoreFault(error))
    }
    try schema.get()
    // Each time: the database may have been copied while this program was cut off from it.
    if checksMarks, isOwner || writes {
      try StoreConnection(PostgresStoreConnection(self, role: .writer, connection)).admitWriter()
    }
    isChecked.withLock { $0 = true }
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
    let found = try connection.run(Self.durabilitySQL)
    var values: [String: String] = [:]
    for row in 0..<found.count { values[found.text(row, 0)] = found.text(row, 1) }
    if let fault = Self.durabilityFault(values) {
      throw PostgresError(.invalidSettings, operation: "connect", reason: fault)
    }
  }

  private static let durabilitySQL = """
    SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit',
      'synchronous_standby_names', 'client_min_messages')
    """

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

  /// Checks the version, and migrates.
  static func run(
    _ connection: PostgresConnection, migrates: Bool, onMigration: () -> Void = {}
  ) throws(PostgresError) -> Result<Void, StoreError> {
    let known = Migrations.postgres.count
    let found = try version(connection)
    if let fault = fault(found, known: known, migrates: migrates) { return .failure(fault) }
    guard migrates, found.version < known else { return .success(()) }
    // An empty one is ready in milliseconds.
    if found.version > 0 { onMigration() }
    let usualTime = connection.timeLimit
    connection.timeLimit = PostgresSource.migrationTime
    defer { connection.timeLimit = usualTime }
    try connection.runTogether([PostgresCommand("BEGIN"), PostgresCommand(lock)])
    // Another instance may have migrated it meanwhile.
    let locked = try version(connection)
    guard locked.version < known else {
      try connection.run("ROLLBACK")
      return fault(locked, known: known, migrates: migrates).map { .failure($0) } ?? .success(())
    }
    let statements = Migrations.postgres[locked.version...].flatMap { Self.statements(of: $0) }
    try connection.runTogether(
      statements.map { PostgresCommand($0) } + [
        PostgresCommand(
          "UPDATE schema_version SET version = $1, usable_from = $2",
          [.integer(Int64(known)), .integer(Int64(Migrations.postgresUsableFrom))]),
        PostgresCommand("COMMIT"),
      ])
    return .success(())
  }

  /// The version of a database's schema; 0 for an empty one.
  typealias Version = (version: Int, usableFrom: Int)

  static func version(_ connection: PostgresConnection) throws(PostgresError) -> Version {
    let found = try connection.run(
      "SELECT count(*) FROM pg_class WHERE relname = 'schema_version' "
        + "AND relnamespace = current_schema()::regnamespace")
    guard found.integer(0, 0) == 1 else { return (0, 0) }
    let version = try connection.run("SELECT version, usable_from FROM schema_version")
    return version.count == 1 ? (Int(version.integer(0, 0)), Int(version.integer(0, 1))) : (0, 0)
  }

  private static func fault(_ found: Version, known: Int, migrates: Bool) -> StoreError? {
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
