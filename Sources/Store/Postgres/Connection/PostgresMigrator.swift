// The schema in a server's database: which version it has, and how it gets the newest.

internal import Formats
internal import Migrations
internal import Platform
public import Store

/// Brings the schema of a server's database to this program's version, with a role that may change it.
public enum PostgresSchema {
  /// Creates the tables, or migrates older ones.
  /// - Parameters:
  ///   - url: as libpq understands it, with a role that may create tables.
  ///   - role: gets the rights to use the tables, and none to change them; nil for none.
  ///   - application: the name in the server's views.
  /// - Returns: the version before, 0 for an empty database, and the version now.
  public static func migrate(
    _ url: String, granting role: String?, application: String
  ) throws(StoreError) -> (before: Int, now: Int) {
    let result: Result<(before: Int, now: Int), StoreError>
    do throws(PostgresError) {
      // It stores no receipts, so what the server may lose does not matter.
      let source = try PostgresSource(url, application: application, isOwner: true, allowsUnsafe: true)
      let connection = try source.login(within: PostgresSource.firstTime)
      result = try migrate(source, connection, granting: role)
    } catch {
      throw .fault(StoreFault(error))
    }
    return try result.get()
  }

  private static func migrate(
    _ source: PostgresSource, _ connection: PostgresConnection, granting role: String?
  ) throws(PostgresError) -> Result<(before: Int, now: Int), StoreError> {
    if let fault = try source.findSchema(connection) { return .failure(fault) }
    if source.schema == nil { try checkOtherSchemas(source, connection) }
    let before = try PostgresMigrator.version(source, connection).version
    if case .failure(let fault) = try PostgresMigrator.run(source, connection) { return .failure(fault) }
    if let role { try grant(source, connection, role) }
    return .success((before, try PostgresMigrator.version(source, connection).version))
  }

  /// The administrator's search path may not lead to receiptd's tables. Others beside them would stop
  /// receiptd.
  private static func checkOtherSchemas(
    _ source: PostgresSource, _ connection: PostgresConnection
  ) throws(PostgresError) {
    let search = PostgresCommand(
      """
      SELECT quote_ident(n.nspname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relname = 'schema_version' AND EXISTS (
        SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'usable_from') LIMIT 1
      """, operation: "find the schema")
    let found = try source.run(connection, .reading, [search])[0]
    guard found.count > 0 else { return }
    throw PostgresError(
      .notAllowed, operation: "migrate",
      reason: "the tables are in the schema \(found.text(0, 0)), to which this role's search_path does not "
        + "lead; add ?options=-csearch_path%3D\(found.text(0, 0)) to the URL")
  }

  private static func grant(
    _ source: PostgresSource, _ connection: PostgresConnection, _ role: String
  ) throws(PostgresError) {
    let names = Migrations.postgres.flatMap(PostgresMigrator.statements).compactMap { statement in
      let words = statement.split(whereSeparator: \.isWhitespace)
      return words.starts(with: ["CREATE", "TABLE"]) || words.starts(with: ["CREATE", "SEQUENCE"])
        ? String(words[2]) : nil
    }
    let grants = try source.run(
      connection, .reading,
      [
        PostgresCommand(
          """
          SELECT format('GRANT USAGE ON SCHEMA %s TO %I', $3::text, $1::text)
          UNION ALL
          SELECT format('GRANT %s %s.%I TO %I',
            CASE c.relkind WHEN 'S' THEN 'SELECT, USAGE ON SEQUENCE' ELSE
              'SELECT, INSERT, UPDATE, DELETE ON TABLE' END, $3::text, c.relname, $1::text)
          FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE quote_ident(n.nspname) = $3::text AND c.relkind IN ('r', 'S')
            AND c.relname = ANY (string_to_array($2::text, ','))
          """, [.text(role), .text(names.joined(separator: ",")), .text(source.schema ?? "public")])
      ])[0]
    try source.run(
      connection, .writing,
      (0..<grants.count).map { PostgresCommand(grants.text($0, 0), operation: "grant") })
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
      guard error.state == insufficientPrivilege else { throw error }
      throw notAllowed(error.reason)
    }
  }

  /// https://www.postgresql.org/docs/15/errcodes-appendix.html
  private static let insufficientPrivilege = "42501"

  private static func notAllowed(_ reason: String) -> PostgresError {
    PostgresError(
      .notAllowed, operation: "migrate",
      reason:
        "the role may not change the tables (\(reason)); let a role that may do so: receiptctl db migrate "
        + "--as URL --grant ROLE")
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
      throw notAllowed("there is no schema in which it may create some")
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
