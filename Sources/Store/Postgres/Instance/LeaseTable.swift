// The statements on `leases` and `instances`. One thread at a time.

/// What a program writes about itself.
struct InstanceReport: Equatable {
  var host: String
  var version: String
  var configuration: String
  var secrets: String
  /// What it may own.
  var leases: Set<String>
  /// Milliseconds by which its clock is ahead of the database's.
  var clockAhead: Int64
  var queueDepth: Int
  var isNotified: Bool
  /// Names of the reasons why it is not ready; empty if it is.
  var unreadiness: [String]
}

struct LeaseTable {
  /// What one look at the database found.
  struct View {
    /// The database's time, in Unix milliseconds.
    var time: Int64
    var leases: [LeaseRow]
    /// The heartbeat of each program.
    var beats: [Int64: Int64]
    /// The leases that each program may own.
    var apps: [Int64: Set<String>]
    /// The leases that were renewed.
    var renewed: Set<String>
  }

  private let source: PostgresSource
  private let connection: PostgresConnection

  init(_ source: PostgresSource, _ connection: PostgresConnection) {
    (self.source, self.connection) = (source, connection)
  }

  /// A lease need not be on the standby: what its owner stores is there only after the lease is.
  private static let settings = ["set_config('synchronous_commit', 'local', true)"]
  private static let limits = PostgresLimits(
    lock: .milliseconds(500), statement: .milliseconds(900), idle: .seconds(2))

  /// Runs commands in one transaction, in one round trip.
  @discardableResult
  private func transaction(_ commands: [PostgresCommand]) throws(PostgresError) -> [PostgresResult] {
    try source.run(connection, .writing, commands, Self.limits, Self.settings)
  }

  /// Which marks in `copies` forbid to use the database, as a condition.
  static let isCopied = "(role = 'target' OR state = 'retired')"

  /// The database's time in Unix milliseconds, as an expression.
  static let clock = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

  /// Renews this program's leases by its heartbeat, and reads all. The leases are read after the row of the
  /// heartbeat is locked, as by a program that acquires one: either sees what the other did.
  /// - Parameters:
  ///   - report: to write, too; nil if nothing is new.
  ///   - held: epochs of the leases that it holds.
  /// - Throws: also if the database is retired, or an unfinished copy.
  func look(
    _ me: Int64, _ report: InstanceReport?, held: [String: Int64]
  ) throws(PostgresError) -> View {
    let results = try transaction(
      [
        PostgresCommand(
          """
          INSERT INTO heartbeats (id, beat) VALUES ($1, 1)
          ON CONFLICT (id) DO UPDATE SET beat = heartbeats.beat + 1 RETURNING beat
          """, [.integer(me)]),
        PostgresCommand("SELECT name, owner, epoch FROM leases"),
        PostgresCommand("SELECT id, beat FROM heartbeats"),
        PostgresCommand("SELECT id, leases FROM instances"),
        PostgresCommand(
          "SELECT \(Self.clock), EXISTS (SELECT 1 FROM copies WHERE \(Self.isCopied))::int::bigint"),
      ] + (report.map { [Self.write($0, of: me)] } ?? []))
    let (own, leases, beats, instances, state) = (results[0], results[1], results[2], results[3], results[4])
    guard state.integer(0, 1) == 0 else {
      throw PostgresError(
        .invalidSettings, operation: "renew leases",
        reason: "the database is retired, or is an unfinished copy; see: receiptctl db check")
    }
    let rows = (0..<leases.count).map { row in
      LeaseRow(
        name: leases.text(row, 0), owner: leases.isNull(row, 1) ? nil : leases.integer(row, 1),
        epoch: leases.integer(row, 2))
    }
    // The first beat renews nothing: others may have seen that there was none.
    let isRenewal = own.integer(0, 0) > 1
    return View(
      time: state.integer(0, 0), leases: rows,
      beats: (0..<beats.count).reduce(into: [:]) { $0[beats.integer($1, 0)] = beats.integer($1, 1) },
      apps: (0..<instances.count).reduce(into: [:]) { found, row in
        found[instances.integer(row, 0)] = Set(instances.text(row, 1).split(separator: " ").map(String.init))
      },
      renewed: Set(rows.filter { isRenewal && $0.owner == me && held[$0.name] == $0.epoch }.map(\.name)))
  }

  private static func write(_ report: InstanceReport, of me: Int64) -> PostgresCommand {
    PostgresCommand(
      """
      INSERT INTO instances (id, host, version, configuration, started_at, seen_at, clock_ahead,
        queue_depth, is_notified, leases, unreadiness, secrets)
      VALUES ($1, $2, $3, $4, \(clock), \(clock), $5, $6, $7, $8, $9, $10)
      ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, configuration = excluded.configuration,
        clock_ahead = excluded.clock_ahead, queue_depth = excluded.queue_depth, secrets = excluded.secrets,
        is_notified = excluded.is_notified, leases = excluded.leases, unreadiness = excluded.unreadiness
      """,
      [
        .integer(me), .text(report.host), .text(report.version), .text(report.configuration),
        .integer(report.clockAhead), .integer(Int64(report.queueDepth)),
        .integer(report.isNotified ? 1 : 0), .text(report.leases.sorted().joined(separator: " ")),
        .text(report.unreadiness.joined(separator: " ")), .text(report.secrets),
      ])
  }

  /// Inserts the rows of apps that no program had before.
  func insert(_ names: Set<String>) throws(PostgresError) {
    try transaction([
      PostgresCommand(
        """
        INSERT INTO leases (name, owner, epoch, renewed_at) SELECT unnest($1), NULL, 0, 0
        ON CONFLICT DO NOTHING
        """, [.texts(names.sorted())])
    ])
  }

  /// Acquires leases that still are as they were seen, and whose owners have not reported since.
  /// - Parameter beats: the heartbeats of the owners, as they were seen.
  /// - Returns: the new epochs of those that no other program was faster to acquire.
  func acquire(
    _ rows: [LeaseRow], for me: Int64, beats: [Int64: Int64]
  ) throws(PostgresError) -> [String: Int64] {
    let rows = rows.sorted { $0.name < $1.name }
    let owners = Set(rows.compactMap(\.owner)).subtracting([me]).sorted()
    let names = PostgresValue.texts(rows.map(\.name))
    let acquired = try transaction([
      // Rows are locked in one order, so that two programs do not wait for each other.
      PostgresCommand(
        "SELECT id FROM heartbeats WHERE id = ANY($1) ORDER BY id FOR UPDATE", [.integers(owners)]),
      PostgresCommand("SELECT name FROM leases WHERE name = ANY($1) ORDER BY name FOR UPDATE", [names]),
      PostgresCommand(
        """
        UPDATE leases SET owner = $1, epoch = leases.epoch + 1, renewed_at = \(Self.clock)
        FROM unnest($2, $3) AS seen (name, epoch)
        WHERE leases.name = seen.name AND leases.epoch = seen.epoch AND NOT EXISTS (
          SELECT 1 FROM heartbeats JOIN unnest($4, $5) AS known (id, beat) ON known.id = heartbeats.id
          WHERE heartbeats.id = leases.owner AND heartbeats.beat <> known.beat)
        RETURNING leases.name, leases.epoch
        """,
        [
          .integer(me), names, .integers(rows.map(\.epoch)), .integers(owners),
          .integers(owners.map { beats[$0] ?? 0 }),
        ]),
    ])[2]
    return (0..<acquired.count).reduce(into: [:]) { $0[acquired.text($1, 0)] = acquired.integer($1, 1) }
  }

  /// Gives leases up.
  func release(_ names: [String], of me: Int64) throws(PostgresError) {
    try transaction([
      PostgresCommand(
        "UPDATE leases SET owner = NULL, renewed_at = \(Self.clock) WHERE owner = $1 AND name = ANY($2)",
        [.integer(me), .texts(names)])
    ])
  }

  /// Sends texts to the listeners of all programs.
  func notify(_ texts: [String]) throws(PostgresError) {
    try transaction(
      texts.map { PostgresCommand("SELECT pg_notify('\(InstanceNews.channel)', $1)", [.text($0)]) })
  }

  /// Ends the sessions of programs that stopped in the middle of a transaction, which keeps the locks of its
  /// apps.
  ///
  /// The server's own time limits (`idle_in_transaction_session_timeout`, `statement_timeout`) do not count
  /// while a session waits for the rest of a pipeline, or for its client to read results: a frozen program,
  /// or a proxy that forwards nothing more, would keep the locks for hours. A role may end its own sessions.
  /// - Returns: how many there were.
  func endHangingSessions() throws(PostgresError) -> Int {
    try transaction([
      PostgresCommand(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
          AND application_name = current_setting('application_name') AND xact_start IS NOT NULL
          AND state = 'active' AND wait_event_type = 'Client'
          AND query_start < clock_timestamp() - interval '\(Self.hangingSeconds) seconds'
        """)
    ])[0].count
  }

  /// A session waits for its client for milliseconds in a batch.
  private static let hangingSeconds = 3

  /// Deletes what programs that ended long ago have left. Their numbers are never used again.
  func forgetOld() throws(PostgresError) {
    try transaction([
      PostgresCommand("DELETE FROM writers WHERE seen_at < \(Self.clock) - 86400000"),
      PostgresCommand("DELETE FROM instances WHERE seen_at < \(Self.clock) - 3600000"),
      PostgresCommand("DELETE FROM heartbeats WHERE id NOT IN (SELECT id FROM instances)"),
    ])
  }

  /// A program that stops is not running any more.
  func leave(_ me: Int64) throws(PostgresError) {
    try transaction([
      PostgresCommand("DELETE FROM heartbeats WHERE id = $1", [.integer(me)]),
      PostgresCommand(
        "UPDATE leases SET owner = NULL, renewed_at = \(Self.clock) WHERE owner = $1", [.integer(me)]),
      PostgresCommand("DELETE FROM instances WHERE id = $1", [.integer(me)]),
    ])
  }
}
