// What a server says about itself, for an operator who asks whether receipts are safe on it. Values.

internal import Migrations
public import Store

/// The state of a server, apart from the rows of the database.
public struct PostgresInspection: Sendable, Equatable {
  /// A server that receives the changes of this one
  /// (https://www.postgresql.org/docs/15/monitoring-stats.html#MONITORING-PG-STAT-REPLICATION-VIEW).
  public struct Standby: Sendable, Equatable {
    /// Its `application_name`.
    public var name: String
    /// Such as `streaming`; the base backup of a new one is `backup`.
    public var state: String
    /// Whether a commit waits for it.
    public var isSynchronous: Bool
  }

  /// Such as `15.18`.
  public let serverVersion: String
  /// The version of the schema that this program knows.
  public static var schemaVersion: Int { Migrations.postgres.count }
  /// Why the server can lose what it has committed, and what to change; nil if it cannot.
  public let durabilityFault: String?
  /// Whether it is a standby itself.
  public let isStandby: Bool
  /// Nil if the role may not see them.
  public let standbys: [Standby]?
  /// The role of this connection.
  public let role: String

  /// Connects, also to a server that can lose what was committed.
  /// - Parameters:
  ///   - url: as libpq understands it.
  ///   - application: the name in the server's views.
  public init(_ url: String, application: String) throws(StoreError) {
    do throws(PostgresError) {
      try self.init(
        .open(
          PostgresSettings(url), timeLimit: PostgresSource.timeLimit, application: application,
          within: PostgresSource.firstTime))
    } catch {
      throw .fault(StoreFault(error))
    }
  }

  /// - Parameter connection: one to such a server.
  init(_ connection: PostgresConnection) throws(PostgresError) {
    let version = connection.serverVersion
    serverVersion = "\(version / 10_000).\(version % 10_000)"
    let settings = try connection.run("SELECT name, setting FROM pg_settings")
    var values: [String: String] = [:]
    for row in 0..<settings.count { values[settings.text(row, 0)] = settings.text(row, 1) }
    durabilityFault = PostgresSource.durabilityFault(values)
    // pg_monitor is a member of pg_read_all_stats; so are superusers.
    let facts = try connection.run(
      "SELECT current_user, pg_is_in_recovery(), pg_has_role('pg_read_all_stats', 'USAGE')")
    role = facts.text(0, 0)
    isStandby = facts.integer(0, 1) == 1
    guard facts.integer(0, 2) == 1 else {
      standbys = nil
      return
    }
    let rows = try connection.run(
      "SELECT application_name, state, sync_state FROM pg_stat_replication ORDER BY application_name, pid")
    standbys = (0..<rows.count).map { row in
      Standby(
        name: rows.text(row, 0), state: rows.text(row, 1),
        isSynchronous: ["sync", "quorum"].contains(rows.text(row, 2)))
    }
  }
}

extension PostgresInspection {
  /// What a crash or the loss of the server may cost, and what to do about it; empty if nothing.
  /// - Parameter allowsUnsafe: whether a server that can lose what it has committed is used nevertheless.
  public func risks(allowsUnsafe: Bool) -> [String] {
    let allowed = allowsUnsafe ? durabilityFault : nil
    return [allowed.map { "database_durability is \"unsafe\", and \($0)" }, standbyRisk].compactMap(\.self)
  }

  /// What the loss of the server may cost.
  private var standbyRisk: String? {
    guard !isStandby else {
      return "this server is a standby, which cannot be written; connect to the primary, with "
        + "target_session_attrs=read-write in `database`"
    }
    guard let standbys else {
      return "the role \(role) may not see the standbys; as a superuser: GRANT pg_monitor TO \(quotedRole)"
    }
    guard standbys.contains(where: \.receives) else {
      return "no standby receives the changes: if this server is lost, so are the receipts since the last "
        + "backup. Add a standby, and name it in synchronous_standby_names. (A service that replicates the "
        + "disk does not show that here.)"
    }
    guard !standbys.contains(where: \.isSynchronous) else { return nil }
    return "no standby is synchronous: if this server is lost, receipts that were acknowledged just before "
      + "may be, too. Name a standby in synchronous_standby_names"
  }

  /// The role as an identifier in SQL.
  private var quotedRole: String {
    let isPlain = role.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
    }
    return isPlain ? role : "\"\(role.replacing("\"", with: "\"\""))\""
  }
}

extension PostgresInspection.Standby {
  /// A base backup is in the same list.
  fileprivate var receives: Bool { state == "streaming" || state == "catchup" }
}
