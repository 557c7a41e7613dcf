// The primary is killed and its synchronous standby promoted, under load.

import Durations
import Glibc
import Platform
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct FailoverClusterTorture {
  private static let suite = "several relays: failover"
  private static let failovers = Torture.size(short: 1, long: 20)

  @Test("A primary killed with -9 and its standby promoted: nothing that was answered is lost (R1)")
  func failOver() throws {
    let seed = Torture.seed(20_261_127)
    var random = SeededGenerator(seed: seed)
    let pair = try PostgresPair()
    defer { pair.end() }
    let cluster = try Cluster(2, apps: 4) { _ in pair.url }
    defer { cluster.end() }
    try cluster.start()
    let senders = try ClusterSenders(4, ports: cluster.ports, apps: cluster.apps)
    defer { senders.stop() }
    var gaps: [Int64] = []
    for number in 0..<Self.failovers {
      if number > 0 { try pair.makeStandby() }
      let goal = senders.taken + Int.random(in: 20...120, using: &random)
      try waitUntil("more is taken (seed \(seed))") { senders.taken >= goal }
      _ = senders.takeLongestGap()
      try pair.failOver()
      let after = senders.taken
      try waitUntil("it goes on (seed \(seed))") { senders.taken > after + 4 }
      gaps.append(senders.takeLongestGap().milliseconds)
    }
    let taken = senders.stop()
    let connection = try pair.connect()
    try cluster.settle(connection)
    let doublesMax = Self.failovers * Cluster.concurrency * cluster.apps.count
    let lost = try cluster.judge(taken, doublesMax: doublesMax, seed: seed, connection)
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
    Torture.report(Self.suite, "failovers survived", Self.failovers)
    cluster.report(Self.suite, taken, lost: lost)
    Torture.report(Self.suite, "median time without a 2xx, ms", gaps.percentile(0.5))
    Torture.report(Self.suite, "p99 time without a 2xx, ms", gaps.percentile(0.99))
  }
}
