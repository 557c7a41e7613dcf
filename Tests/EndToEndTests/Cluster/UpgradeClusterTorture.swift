// A rolling upgrade: relays are replaced one after the other, and one of them brings a newer schema.

import Formats
import PostgresStore
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct UpgradeClusterTorture {
  private static let suite = "several relays: rolling upgrade"
  private static let rounds = Torture.size(short: 1, long: 10)

  /// What the migration of a newer program may do while older ones run: it adds, and they may ignore it.
  private static func upgrade(to version: Int) -> [PostgresCommand] {
    [
      "BEGIN", "LOCK TABLE schema_version IN ACCESS EXCLUSIVE MODE",
      "ALTER TABLE purchases ADD COLUMN added_\(version) bigint NOT NULL DEFAULT 7",
      "ALTER TABLE events ADD COLUMN added_\(version) text",
      "CREATE TABLE added_\(version) (id bigint PRIMARY KEY)",
      "UPDATE schema_version SET version = \(version)", "COMMIT",
    ].map { PostgresCommand($0) }
  }

  @Test("Old and new programs side by side: nothing is lost, and no request waits for the upgrade (R1, R10)")
  func rolling() throws {
    let server = try PostgresServer()
    let database = try server.makeDatabase()
    let cluster = try Cluster(2, apps: 4) { _ in server.url(database) }
    defer { cluster.end() }
    let senders = try cluster.startUnderLoad()
    defer { senders.stop() }
    let connection = try server.connect(database)
    var gaps: [Int64] = []
    for round in 0..<Self.rounds {
      try senders.takeMore(30)
      _ = senders.takeLongestGap()
      for (number, relay) in cluster.relays.enumerated() {
        // As a load balancer does, before the relay stops.
        senders.use(ports: [cluster.ports[1 - number]])
        #expect(try relay.stop() == 0)
        if number == 0 { try connection.runTogether(Self.upgrade(to: 100 + round)) }
        try relay.start()
        senders.use(ports: cluster.ports)
        try senders.takeMore(30)
      }
      gaps.append(senders.takeLongestGap().milliseconds)
    }
    let taken = senders.stop()
    Torture.report(Self.suite, "upgrades", Self.rounds)
    try cluster.judge(Self.suite, taken, interruptions: 2 * Self.rounds, connection)
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
    // Checkout waits ten seconds for an answer.
    #expect(gaps.allSatisfy { $0 < 10_000 }, "\(gaps)")
    Torture.report(Self.suite, "longest time without a 2xx, ms", gaps.max() ?? 0)
  }
}
