// The statements on `leases` and `instances`. One thread at a time.

internal import PostgreSQL
internal import Store

/// What a program writes about itself.
struct InstanceReport: Equatable {
  var host: String
  var version: String
  var configuration: String
  /// What it may own.
  var leases: Set<String>
  /// Milliseconds by which its clock is ahead of the database's.
  var clockAhead: Int64
  var queueDepth: Int
  var isNotified: Bool
  /// Names of the reasons why it is not ready; empty if it is.
  var unreadiness: [String]
}

enum LeaseTable {
  /// What one look at the database found.
  struct View {
    /// The database's time, in Unix milliseconds.
    var time: Int64
    var leases: [LeaseRow]
    /// When each program was last seen.
    var instances: [Int64: Int64]
    /// The leases that each program may own.
    var apps: [Int64: Set<String>]
    /// The leases that were renewed.
    var renewed: Set<String>
  }

  /// Time limits on the server, shorter than those of this side: after a wait for a lock, or for a standby,
  /// a session would remain that keeps its locks, one for each attempt. A lease need not be on the standby:
  /// what its owner stores is there only after the lease is.
  private static let limits = PostgresCommand(
    """
    SELECT set_config('lock_timeout', '500ms', true), set_config('statement_timeout', '900ms', true),
      set_config('idle_in_transaction_session_timeout', '2s', true),
      set_config('synchronous_commit', 'local', true)
    """)

  /// Runs commands in one transaction, in one round trip.
  @discardableResult
  private static func transaction(
    _ connection: PostgresConnection, _ commands: [PostgresCommand]
  ) throws(PostgresError) -> [PostgresResult] {
    let results = try connection.runTogether(
      [PostgresCommand("BEGIN"), limits] + commands + [PostgresCommand("COMMIT")])
    return Array(results.dropFirst(2).dropLast())
  }

  /// Which marks in `copies` forbid to use the database, as a condition.
  static let isCopied = "(role = 'target' OR state = 'retired')"

  /// The database's time in Unix milliseconds, as an expression.
  static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  /// Reports that this program runs, renews its leases, and reads all.
  /// - Throws: also if the database is retired, or an unfinished copy.
  static func look(
    _ connection: PostgresConnection, _ me: Int64, _ report: InstanceReport, held: [String: Int64]
  ) throws(PostgresError) -> View {
    let names = held.keys.sorted()
    let results = try transaction(
      connection,
      [
        PostgresCommand(
          """
          INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead,
            queue_depth, is_notified, leases, unreadiness)
          VALUES ($1, $2, $3, $4, \(clock), \(clock), $5, $6, $7, $8, $9)
          ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, configuration = excluded.configuration,
            clock_ahead = excluded.clock_ahead, queue_depth = excluded.queue_depth,
            is_notified = excluded.is_notified, leases = excluded.leases, unreadiness = excluded.unreadiness
          """,
          [
            .integer(me), .text(report.host), .text(report.version), .text(report.configuration),
            .integer(report.clockAhead), .integer(Int64(report.queueDepth)),
            .integer(report.isNotified ? 1 : 0), .text(report.leases.sorted().joined(separator: " ")),
            .text(report.unreadiness.joined(separator: " ")),
          ]),
        PostgresCommand(
          """
          UPDATE leases SET renewed_at = \(clock) FROM unnest($2, $3) AS held (name, epoch)
          WHERE leases.name = held.name AND leases.epoch = held.epoch AND leases.owner = $1
          RETURNING leases.name
          """, [.integer(me), .texts(names), .integers(names.map { held[$0] ?? 0 })]),
        PostgresCommand(
          """
          INSERT INTO leases (name, owner, epoch, renewed_at) SELECT unnest($1), NULL, 0, 0
          ON CONFLICT DO NOTHING
          """, [.texts(report.leases.sorted())]),
        PostgresCommand("SELECT name, owner, epoch, renewed_at FROM leases"),
        PostgresCommand("SELECT id, seen_at, leases FROM instances"),
        PostgresCommand("SELECT \(clock), EXISTS (SELECT 1 FROM copies WHERE \(isCopied))::int::bigint"),
      ])
    let (renewed, leases, instances, state) = (results[1], results[3], results[4], results[5])
    guard state.integer(0, 1) == 0 else {
      throw PostgresError(
        .invalidSettings, operation: "renew leases",
        reason: "the database is retired, or is an unfinished copy; see: receiptctl db check")
    }
    return View(
      time: state.integer(0, 0),
      leases: (0..<leases.count).map { row in
        LeaseRow(
          name: leases.text(row, 0), owner: leases.isNull(row, 1) ? nil : leases.integer(row, 1),
          epoch: leases.integer(row, 2), renewedAt: leases.integer(row, 3))
      },
      instances: (0..<instances.count).reduce(into: [:]) { found, row in
        found[instances.integer(row, 0)] = instances.integer(row, 1)
      },
      apps: (0..<instances.count).reduce(into: [:]) { found, row in
        found[instances.integer(row, 0)] = Set(
          instances.text(row, 2).split(separator: " ").map(String.init))
      },
      renewed: Set((0..<renewed.count).map { renewed.text($0, 0) }))
  }

  /// Acquires a lease, if it still is as it was seen.
  /// - Returns: the new epoch; nil if another program was faster.
  static func acquire(
    _ row: LeaseRow, for me: Int64, _ connection: PostgresConnection
  ) throws(PostgresError) -> Int64? {
    let acquiring = PostgresCommand(
      """
      UPDATE leases SET owner = $1, epoch = epoch + 1, renewed_at = \(clock)
      WHERE name = $2 AND epoch = $3 AND renewed_at = $4 RETURNING epoch
      """, [.integer(me), .text(row.name), .integer(row.epoch), .integer(row.renewedAt)])
    let result = try transaction(connection, [acquiring])[0]
    return result.count == 1 ? result.integer(0, 0) : nil
  }

  /// Gives leases up.
  static func release(
    _ names: [String], of me: Int64, _ connection: PostgresConnection
  ) throws(PostgresError) {
    try transaction(
      connection,
      [
        PostgresCommand(
          "UPDATE leases SET owner = NULL, renewed_at = \(clock) WHERE owner = $1 AND name = ANY($2)",
          [.integer(me), .texts(names)])
      ])
  }

  /// Ends the sessions of programs that stopped in the middle of a transaction, which keeps the locks of its
  /// apps.
  ///
  /// The server's own time limits (`idle_in_transaction_session_timeout`, `statement_timeout`) do not count
  /// while a session waits for the rest of a pipeline, or for its client to read results: a frozen program,
  /// or a proxy that forwards nothing more, would keep the locks for hours. A role may end its own sessions.
  /// - Returns: how many there were.
  static func endHangingSessions(_ connection: PostgresConnection) throws(PostgresError) -> Int {
    try connection.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
        AND application_name = current_setting('application_name') AND xact_start IS NOT NULL
        AND state = 'active' AND wait_event_type = 'Client'
        AND query_start < clock_timestamp() - interval '\(hangingSeconds) seconds'
      """
    ).count
  }

  /// A session waits for its client for milliseconds in a batch.
  private static let hangingSeconds = 3

  /// Deletes what programs that ended long ago have left. Their numbers are never used again.
  static func forgetOld(_ connection: PostgresConnection) throws(PostgresError) {
    try transaction(
      connection,
      [
        PostgresCommand("DELETE FROM writers WHERE seen_at < \(clock) - 86400000"),
        PostgresCommand("DELETE FROM instances WHERE seen_at < \(clock) - 3600000"),
      ])
  }

  /// A program that stops is not running any more.
  static func leave(_ me: Int64, _ connection: PostgresConnection) throws(PostgresError) {
    try transaction(
      connection,
      [
        PostgresCommand(
          "UPDATE leases SET owner = NULL, renewed_at = \(clock) WHERE owner = $1", [.integer(me)]),
        PostgresCommand("DELETE FROM instances WHERE id = $1", [.integer(me)]),
      ])
  }
}
