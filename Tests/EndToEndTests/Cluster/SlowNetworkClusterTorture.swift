// Relays whose network to the database is slow. How many events a release build stores then is measured by
// `benchmarks/relays`; this is what must hold.

import Platform
import PostgresStore
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct SlowNetworkClusterTorture {
  private static let senders = 16
  private static let goal = Torture.size(short: 60, long: 3_000)

  @Test("Each round trip takes longer: nothing is lost, and nobody waits long (R1, R2)", arguments: [2, 20])
  func slow(milliseconds: Int64) throws {
    let server = try PostgresServer()
    let database = try server.makeDatabase()
    let proxy = try CuttingProxy(to: server.port, delay: .milliseconds(milliseconds))
    defer { proxy.end() }
    let url = "postgres://receiptd@127.0.0.1:\(proxy.port)/\(database)?sslmode=disable"
    let cluster = try Cluster(2, apps: 4) { _ in url }
    defer { cluster.end() }
    let senders = try cluster.startUnderLoad(senders: Self.senders)
    let start = MonotonicInstant.now()
    defer { senders.stop() }
    try waitUntil("events are taken") { senders.taken >= Self.goal }
    let seconds = MonotonicInstant.now().seconds(since: start)
    let taken = senders.stop()
    let suite = "several relays: \(milliseconds) ms to the database"
    let p99 = senders.answerTimes.percentile(0.99)
    try cluster.judge(suite, taken, interruptions: 0, server.connect(database))
    for relay in cluster.relays { #expect(try relay.stop() == 0) }
    Torture.report(
      suite, "checkouts/s (debug build, \(Self.senders) senders)", Int(Double(taken.count) / seconds))
    Torture.report(suite, "answer to an event, p99, ms", p99)
    #expect(p99 < 2_000)
  }
}
