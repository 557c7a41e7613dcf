// Two private PostgreSQL servers for tests: a primary and its synchronous standby. One thread.

public import PostgresStore

/// A primary and a standby. A commit is answered when both have it.
public final class PostgresPair {
  private let server: PostgresServer
  private let otherPort: ReservedPort
  /// Which of the two folders has the primary.
  private var isSwapped = false
  private var hasStandby = false
  public let database: String

  public init(_ settings: [String] = []) throws {
    server = try PostgresServer(["max_wal_senders=4", "wal_level=replica", "max_connections=200"] + settings)
    otherPort = try ReservedPort()
    database = try server.makeDatabase()
    try makeStandby()
  }

  /// The URL for programs: both hosts, and only the one that accepts writes.
  public var url: String {
    "postgres://receiptd@127.0.0.1:\(server.port),127.0.0.1:\(otherPort.number)/\(database)"
      + "?sslmode=disable&target_session_attrs=read-write&connect_timeout=2"
  }

  private var primaryFolder: String { isSwapped ? "other" : "data" }
  private var standbyFolder: String { isSwapped ? "data" : "other" }
  private var primaryPort: UInt16 { isSwapped ? otherPort.number : server.port }
  private var standbyPort: UInt16 { isSwapped ? server.port : otherPort.number }

  /// Connects to the primary.
  public func connect() throws(PostgresError) -> PostgresConnection {
    try .open(
      PostgresSettings("host=127.0.0.1 port=\(primaryPort) user=receiptd dbname=\(database) sslmode=disable"),
      timeLimit: .seconds(60), application: "tests")
  }

  /// Copies the primary to the other folder and starts it as a synchronous standby.
  public func makeStandby() throws {
    try server.run(
      """
      rm -rf \(standbyFolder) && \
      "$programs/pg_basebackup" -D \(standbyFolder) -R -c fast -X stream \
        -d 'host=127.0.0.1 port=\(primaryPort) user=receiptd application_name=standby sslmode=disable' && \
      "$programs/pg_ctl" -D \(standbyFolder) -o '-p \(standbyPort)' -l log -w -t 60 start
      """)
    hasStandby = true
    let connection = try connect()
    try connection.run("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
    try connection.run("SELECT pg_reload_conf()")
    while try connection.run("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").count == 0 {
      PostgresConnection.pause(.milliseconds(20))
    }
  }

  /// Kills every process of the primary with SIGKILL, and promotes the standby.
  public func failOver() throws {
    try server.run(
      """
      server=$(head -n 1 \(primaryFolder)/postmaster.pid); \
      all="$server $(pgrep -P "$server" | tr '\\n' ' ')"; \
      kill -9 $all; for process in $all; do tail --pid="$process" -f /dev/null; done; \
      "$programs/pg_ctl" -D \(standbyFolder) -w -t 60 promote
      """)
    isSwapped.toggle()
    hasStandby = false
    // The copy has the setting, and no standby now: commits would wait for ever.
    let connection = try connect()
    try connection.run("ALTER SYSTEM SET synchronous_standby_names = ''")
    try connection.run("SELECT pg_reload_conf()")
  }

  /// Stops every process of the standby with SIGSTOP: commits wait, and no connection breaks.
  public func freezeStandby() throws { try signalStandby("STOP") }
  public func thawStandby() throws { try signalStandby("CONT") }

  private func signalStandby(_ signal: String) throws {
    try server.run(
      """
      server=$(head -n 1 \(standbyFolder)/postmaster.pid); kill -\(signal) "$server" $(pgrep -P "$server")
      """)
  }

  /// Stops what `PostgresServer` does not know.
  public func end() {
    let folders = isSwapped ? "other" : (hasStandby ? "other" : "")
    for folder in folders.split(separator: " ") {
      try? server.run("\"$programs/pg_ctl\" -D \(folder) -m immediate -w stop")
    }
    if isSwapped, !hasStandby { try? server.start() }
  }
}
