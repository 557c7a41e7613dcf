// The primary is killed and its synchronous standby promoted, under load.

import Formats
import Glibc
import Platform
import PostgresStore
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
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { senders.stop() }
    var gaps: [Int64] = []
    for number in 0..<Self.failovers {
      if number > 0 { try pair.makeStandby() }
      try senders.takeMore(Int.random(in: 20...120, using: &random))
      _ = senders.takeLongestGap()
      try pair.failOver()
      try senders.takeMore(5)
      gaps.append(senders.takeLongestGap().milliseconds)
    }
    let taken = senders.stop()
    Torture.report(Self.suite, "failovers survived", Self.failovers)
    try cluster.judge(Self.suite, taken, interruptions: Self.failovers, seed: seed, pair.connect())
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
    Torture.report(Self.suite, "median time without a 2xx, ms", gaps.percentile(0.5))
    Torture.report(Self.suite, "p99 time without a 2xx, ms", gaps.percentile(0.99))
  }

  /// Two relays have 14 connections each at most. If each attempt left a session, there would be some 45.
  private static let sessionsMax: Int64 = 30

  @Test("A standby that freezes: requests are refused, no sessions pile up, and nothing is lost (R1, R8)")
  func frozenStandby() throws {
    let seed = Torture.seed(20_261_130)
    let rounds = Torture.size(short: 1, long: 5)
    let pair = try PostgresPair()
    defer { pair.end() }
    let cluster = try Cluster(2, apps: 4) { _ in pair.url }
    defer { cluster.end() }
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { senders.stop() }
    let observer = try pair.connect()
    var most: Int64 = 0
    for _ in 0..<rounds {
      try senders.takeMore(40)
      try pair.freezeStandby()
      for (number, relay) in cluster.relays.enumerated() {
        try waitUntil("relay \(number) refuses (seed \(seed))") {
          let checkout = Checkout("frozen-\(number)")
          let reply = try relay.outside.postContext(checkout.user, checkout.context, app: "shop-0")
          return reply.status == 503
        }
        let sessions = try observer.run(
          "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'receiptd'")
        most = max(most, sessions.integer(0, 0))
      }
      try pair.thawStandby()
      try senders.takeMore(5)
    }
    let taken = senders.stop()
    let suite = "several relays: frozen standby"
    Torture.report(suite, "times frozen", rounds)
    Torture.report(suite, "most sessions of relays", most)
    try cluster.judge(suite, taken, interruptions: rounds, seed: seed, observer)
    #expect(most < Self.sessionsMax)
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
  }
}
