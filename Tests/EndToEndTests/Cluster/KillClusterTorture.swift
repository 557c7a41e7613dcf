// kill -9 of relays at random, again and again, under load: three relays on one database.

import Formats
import Glibc
import Platform
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct KillClusterTorture {
  private static let suite = "several relays: kill -9"
  private static let kills = Torture.size(short: 3, long: 240)
  private static let takenBetweenMax = 60

  @Test func `Relays killed at random lose nothing, and no app has two deliverers (R1, R2, R3)`() throws {
    let seed = Torture.seed(20_261_126)
    var random = SeededGenerator(seed: seed)
    let server = try PostgresServer()
    let database = try server.makeDatabase()
    let cluster = try Cluster(3, apps: 6) { _ in server.url(database) }
    defer { cluster.end() }
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { senders.stop() }
    var recoveries: [Int64] = []
    for _ in 0..<Self.kills {
      try senders.takeMore(Int.random(in: 1...Self.takenBetweenMax, using: &random))
      let relay = cluster.relays[Int.random(in: 0..<3, using: &random)]
      #expect(try relay.stop(SIGKILL) == 128 + SIGKILL)
      let start = MonotonicInstant.now()
      try relay.start()
      recoveries.append(MonotonicInstant.now().duration(since: start).milliseconds)
      senders.use(ports: cluster.ports)
    }
    let taken = senders.stop()
    Torture.report(Self.suite, "kills survived", Self.kills)
    try cluster.judge(Self.suite, taken, interruptions: Self.kills, seed: seed, server.connect(database))
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
    Torture.report(Self.suite, "changes of an app's deliverer", cluster.ledger.changes)
    Torture.report(Self.suite, "median start, ms", recoveries.percentile(0.5))
  }
}
