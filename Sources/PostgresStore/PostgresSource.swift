// Where a database is, and how it is opened: the schema's version is checked, and the owner migrates it. Values.

internal import Migrations
internal import PostgreSQL
internal import Store

/// The settings of a database, for all connections of a program.
struct PostgresSource: Sendable {
  /// The time limit of a call.
  static let timeLimit: Duration = .seconds(30)

  let settings: PostgresSettings
  /// The name in the server's views.
  let application: String
  /// Whether to use a server that can lose what was committed.
  let allowsUnsafe: Bool
  /// How long a transaction may wait for this program before the server ends it, so that a program that stopped
  /// does not keep the locks of its apps.
  var idleTime: Duration = .seconds(2)

  init(_ url: String, application: String, allowsUnsafe: Bool) throws(PostgresError) {
    settings = try PostgresSettings(url)
    self.application = application
    self.allowsUnsafe = allowsUnsafe
  }

  /// Opens a connection whose commits are durable.
  /// - Parameter time: for all attempts together.
  /// - Throws: also `invalidSettings`, if a setting of the server or the database can lose what was committed (R1).
  func connect(within time: Duration = .seconds(60)) throws(PostgresError) -> PostgresConnection {
    let connection = try PostgresConnection.open(
      settings, timeLimit: Self.timeLimit, application: application, within: time)
    guard !allowsUnsafe else { return connection }
    let found = try connection.run(Self.durabilitySQL)
    var values: [String: String] = [:]
    for row in 0..<found.count { values[found.text(row, 0)] = found.text(row, 1) }
    if let fault = Self.durabilityFault(values) {
      throw PostgresError(.invalidSettings, operation: "connect", reason: fault)
    }
    return connection
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

  /// Checks the schema's version.
  /// - Parameter migrates: whether to create or migrate the schema.
  func prepare(migrates: Bool) throws(StoreError) {
    let result: Result<Void, StoreError>
    do throws(PostgresError) {
      result = try PostgresMigrator.run(try connect(), migrates: migrates)
    } catch {
      throw .fault(StoreFault(error))
    }
    try result.get()
  }
}

/// Migrates an older schema in one transaction, all or nothing (R10).
enum PostgresMigrator {
  /// "RRly", as in SQLite's `application_id`. The lock exists before any table, and ends with its transaction, so
  /// it also works behind a pooler.
  private static let lock = "SELECT pg_advisory_xact_lock(1381125241)"

  static func run(
    _ connection: PostgresConnection, migrates: Bool
  ) throws(PostgresError) -> Result<Void, StoreError> {
    let known = Migrations.postgres.count
    if let fault = fault(found: try version(connection), known: known, migrates: migrates) {
      return .failure(fault)
    }
    guard migrates, try version(connection) < known else { return .success(()) }
    try connection.runTogether([PostgresCommand("BEGIN"), PostgresCommand(lock)])
    // Another instance may have migrated it meanwhile.
    let found = try version(connection)
    guard found < known else {
      try connection.run("ROLLBACK")
      return fault(found: found, known: known, migrates: migrates).map { .failure($0) } ?? .success(())
    }
    let statements = Migrations.postgres[found...].flatMap { Self.statements(of: $0) }
    try connection.runTogether(
      statements.map { PostgresCommand($0) } + [
        PostgresCommand("UPDATE schema_version SET version = $1", [.integer(Int64(known))]),
        PostgresCommand("COMMIT"),
      ])
    return .success(())
  }

  /// 0 for an empty database.
  private static func version(_ connection: PostgresConnection) throws(PostgresError) -> Int {
    let found = try connection.run(
      "SELECT count(*) FROM pg_class WHERE relname = 'schema_version' "
        + "AND relnamespace = current_schema()::regnamespace")
    guard found.integer(0, 0) == 1 else { return 0 }
    let version = try connection.run("SELECT version FROM schema_version")
    return version.count == 1 ? Int(version.integer(0, 0)) : 0
  }

  private static func fault(found: Int, known: Int, migrates: Bool) -> StoreError? {
    if found > known { return .newerSchema(found: found, known: known) }
    guard !migrates, found < known else { return nil }
    return found == 0 ? .missing : .olderSchema(found: found, known: known)
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
