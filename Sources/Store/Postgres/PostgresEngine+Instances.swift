// What operators see of the programs that use a database. Thread-safe.

public import Domain
internal import Formats
public import Store

extension PostgresEngine {
  /// A program that was not seen for this long has ended, or cannot reach the database.
  private static let seenWithin: Duration = .seconds(10)

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
