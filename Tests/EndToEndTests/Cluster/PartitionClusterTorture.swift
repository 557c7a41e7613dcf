// A relay is cut off from the database while it delivers, or loses the answers to its commits.

import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct PartitionClusterTorture {
  private let server: PostgresServer
  private let database: String
  private let proxy: CuttingProxy
  private let cluster: Cluster

  init() throws {
    server = try PostgresServer()
    database = try server.makeDatabase()
    let proxy = try CuttingProxy(to: server.port)
    self.proxy = proxy
    let direct = server.url(database)
    let name = database
    cluster = try Cluster(2, apps: 4) { number in
      number == 0
        ? "postgres://receiptd@127.0.0.1:\(proxy.port)/\(name)?sslmode=disable" : direct
    }
  }

  private func end(_ senders: ClusterSenders) {
    senders.stop()
    cluster.end()
    proxy.end()
  }

  @Test("A relay that is cut off while it delivers: its lanes stop, and another continues (R1, R2)")
  func partition() throws {
    let seed = Torture.seed(20_261_128)
    let rounds = Torture.size(short: 1, long: 12)
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { end(senders) }
    for _ in 0..<rounds {
      try senders.takeMore(60)
      proxy.use(.silent)
      // The other delivers every app.
      let before = Dictionary(uniqueKeysWithValues: cluster.apps.map { ($0, delivered($0, by: 1)) })
      senders.use(ports: [cluster.ports[1]])
      try waitUntil("the other delivers all apps (seed \(seed))") {
        cluster.apps.allSatisfy { delivered($0, by: 1) > before[$0, default: 0] }
      }
      proxy.use(.none)
      senders.use(ports: cluster.ports)
      let relay = cluster.relays[0]
      try relay.waitUntilReady()
    }
    let taken = senders.stop()
    let connection = try server.connect(database)
    Torture.report("several relays: partition", "partitions survived", rounds)
    try cluster.judge("several relays: partition", taken, interruptions: rounds, seed: seed, connection)
  }

  @Test func `A relay that is suspended for longer than its leases continues without harm (R1, R2)`() throws {
    let seed = Torture.seed(20_261_131)
    let rounds = Torture.size(short: 1, long: 10)
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { end(senders) }
    for _ in 0..<rounds {
      try senders.takeMore(60)
      // A sender would wait for the answer of a relay that is suspended.
      senders.use(ports: [cluster.ports[1]])
      try senders.takeMore(20)
      try cluster.relays[0].suspend()
      let before = Dictionary(uniqueKeysWithValues: cluster.apps.map { ($0, delivered($0, by: 1)) })
      try waitUntil("the other delivers all apps (seed \(seed))") {
        cluster.apps.allSatisfy { delivered($0, by: 1) > before[$0, default: 0] }
      }
      cluster.relays[0].signal(SIGCONT)
      senders.use(ports: cluster.ports)
      let relay = cluster.relays[0]
      try relay.waitUntilReady()
    }
    let taken = senders.stop()
    let connection = try server.connect(database)
    Torture.report("several relays: suspended relay", "suspensions survived", rounds)
    // A request that was being written when the relay was suspended is written to its end afterwards.
    try cluster.judge(
      "several relays: suspended relay", taken, interruptions: rounds,
      overlapsMax: rounds * cluster.inFlightMax, seed: seed, connection)
  }

  private func delivered(_ app: String, by relay: Int) -> Int {
    destination.ledger.count { $0.head.target.hasSuffix("/\(app)/relay-\(relay)") }
  }

  private var destination: Destination { cluster.destination }

  @Test func `Each answer to a COMMIT is lost: every 2xx is stored, every event once (R1, R2)`() throws {
    let seed = Torture.seed(20_261_129)
    let cuts = Torture.size(short: 3, long: 200)
    let senders = try cluster.startUnderLoad(seed: seed)
    defer { end(senders) }
    while proxy.cutCount < cuts {
      let count = proxy.cutCount
      proxy.use(.cutsAnswerToCommit)
      try waitUntil("an answer is cut (seed \(seed))") { proxy.cutCount > count }
      proxy.use(.none)
      try senders.takeMore(3)
    }
    let taken = senders.stop()
    let connection = try server.connect(database)
    Torture.report("several relays: lost answer to COMMIT", "answers lost", proxy.cutCount)
    try cluster.judge(
      "several relays: lost answer to COMMIT", taken, interruptions: proxy.cutCount, seed: seed, connection)
  }
}
