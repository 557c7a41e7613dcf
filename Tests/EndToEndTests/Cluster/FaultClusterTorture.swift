// What a relay answers while its PostgreSQL database fails in each way that operators meet, and that it
// recovers.

import Formats
import Glibc
import Platform
import PostgresStore
import TestSupport
import Testing

/// A way in which a database fails.
private struct DatabaseFault {
  let name: String
  /// Whether the fault is known at once: then a request is refused within a second.
  var isKnown = true
  /// Whether it delays requests and refuses none.
  var isHarmless = false
  let begin: (FaultyDatabase) throws -> Void
  let end: (FaultyDatabase) throws -> Void
}

/// A server with a role that is no superuser, whose limits therefore hold.
private final class FaultyDatabase {
  static let role = "relay"
  let server: PostgresServer
  let database: String
  private var blocker: PostgresConnection?

  init() throws {
    server = try PostgresServer()
    database = try server.makeDatabase()
    try run("CREATE ROLE \(Self.role) LOGIN")
    try run("ALTER DATABASE \(database) OWNER TO \(Self.role)")
    try run("GRANT ALL ON SCHEMA public TO \(Self.role)", in: database)
  }

  var url: String {
    "postgres://\(Self.role)@127.0.0.1:\(server.port)/\(database)?sslmode=disable"
  }

  func run(_ sql: String, in name: String = "postgres") throws {
    try server.connect(name).run(sql)
  }

  /// Changes a setting of the server, and returns when it holds for every session.
  func reload(_ setting: String) throws {
    let before = try loadTime()
    try run("ALTER SYSTEM \(setting)")
    try run("SELECT pg_reload_conf()")
    // pg_reload_conf() returns before the server has read its files. The server then signals its sessions,
    // and starts new ones only after that: once a new one has the new time, all have the setting.
    try waitUntil("the server has read its settings") { try loadTime() != before }
  }

  /// When the server had last read its settings as a new session starts.
  private func loadTime() throws -> String {
    try server.connect().run("SELECT pg_conf_load_time()::text").text(0, 0)
  }

  /// Ends the relay's sessions.
  func disconnect() throws {
    try run("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = '\(Self.role)'")
  }

  func signalAll(_ signal: String) throws {
    try server.run(
      """
      server=$(head -n 1 data/postmaster.pid); kill -\(signal) "$server" $(pgrep -P "$server")
      """)
  }

  func block() throws {
    let connection = try server.connect(database)
    try connection.runTogether([
      PostgresCommand("BEGIN"), PostgresCommand("LOCK TABLE app_locks IN ACCESS EXCLUSIVE MODE"),
    ])
    blocker = connection
  }

  func unblock() { blocker = nil }
}

@Suite(.withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"))
struct FaultClusterTorture {
  private static let suite = "several relays: faults of the database"
  /// The time that a batch has in total, and a margin.
  private static let slowMax: Duration = .seconds(12)
  private static let quickMax: Duration = .seconds(1)

  private static var faults: [DatabaseFault] {
    [
      DatabaseFault(
        name: "server stopped", begin: { try $0.server.stop("immediate") }, end: { try $0.server.start() }),
      DatabaseFault(
        name: "server killed with -9", begin: { try $0.server.kill() }, end: { try $0.server.start() }),
      DatabaseFault(
        name: "server frozen", isKnown: false, begin: { try $0.signalAll("STOP") },
        end: { try $0.signalAll("CONT") }),
      DatabaseFault(
        name: "read-only", begin: { try $0.reload("SET default_transaction_read_only = on") },
        end: { try $0.reload("RESET default_transaction_read_only") }),
      DatabaseFault(
        name: "out of connections",
        begin: {
          try $0.run("ALTER ROLE \(FaultyDatabase.role) CONNECTION LIMIT 0")
          try $0.disconnect()
        }, end: { try $0.run("ALTER ROLE \(FaultyDatabase.role) CONNECTION LIMIT -1") }),
      DatabaseFault(
        name: "locks held by another session", isKnown: false, begin: { try $0.block() },
        end: { $0.unblock() }),
      DatabaseFault(
        name: "sessions ended by an operator", isHarmless: true, begin: { try $0.disconnect() }, end: { _ in }
      ),
    ]
  }

  @Test func `Each fault: 503 in time, nothing acknowledged is lost, and recovery (R1, R8)`() throws {
    let database = try FaultyDatabase()
    let cluster = try Cluster(1, apps: 1) { _ in database.url }
    defer { cluster.end() }
    try cluster.start()
    let relay = cluster.relays[0]
    var taken: [Checkout] = []
    for (number, fault) in Self.faults.enumerated() {
      func take(_ name: String) throws {
        let checkout = Checkout("\(name)-\(number)")
        try waitUntil("a context is accepted: \(name), \(fault.name)") {
          try relay.outside.postContext(checkout.user, checkout.context, app: "shop-0").status < 300
        }
        try waitUntil("an event is accepted: \(name), \(fault.name)") {
          try relay.outside.send(checkout.completed, app: "shop-0").status == 200
        }
        taken.append(checkout)
      }
      try take("before")
      try fault.begin(database)
      let slowest = try refusals(relay, fault)
      try fault.end(database)
      let start = MonotonicInstant.now()
      try take("after")
      try relay.waitUntilReady()
      let recovery = MonotonicInstant.now().duration(since: start)
      Torture.report(
        Self.suite, fault.name,
        "refused within \(slowest.milliseconds) ms, recovered within \(recovery.milliseconds) ms")
    }
    try cluster.judge(
      Self.suite, taken, interruptions: Self.faults.count, database.server.connect(database.database))
    #expect(try relay.stop() == 0)
  }

  /// Posts contexts during a fault, also when it is known already.
  /// - Returns: how long the slowest answer took.
  private func refusals(_ relay: Relay, _ fault: DatabaseFault) throws -> Duration {
    var slowest = Duration.zero
    var refused = 0
    for attempt in 0..<3 {
      let start = MonotonicInstant.now()
      let checkout = Checkout("during-\(fault.name.count)-\(attempt)")
      let reply = try relay.outside.postContext(checkout.user, checkout.context, app: "shop-0")
      let time = MonotonicInstant.now().duration(since: start)
      slowest = max(slowest, time)
      // Sessions that were ended are opened again at once.
      guard reply.status >= 300 else { continue }
      refused += 1
      #expect(reply.status == 503, "\(fault.name): \(reply.text)")
      #expect(reply.header("Retry-After") != nil, "\(fault.name): \(reply.text)")
      #expect(time < (fault.isKnown && attempt > 0 ? Self.quickMax : Self.slowMax), "\(fault.name): \(time)")
    }
    #expect(fault.isHarmless || refused == 3, "\(fault.name): \(refused) of 3 were refused")
    return slowest
  }

  @Test func `Without a database a relay starts and waits; a later one is migrated and served`() throws {
    let database = try FaultyDatabase()
    try database.server.stop("fast")
    let cluster = try Cluster(1, apps: 1) { _ in database.url }
    defer { cluster.end() }
    let relay = cluster.relays[0]
    try relay.start(untilReady: false)
    let ready = try relay.admin.request("GET", "/readyz")
    #expect(ready.status == 503)
    #expect(ready.text.contains("the database cannot be reached"), "\(ready.text)")
    let refused = try relay.outside.postContext("u", Checkout("u").context, app: "shop-0")
    #expect(refused.status == 503, "\(refused.text)")
    try database.server.start()
    let checkout = Checkout("first")
    try waitUntil("a context is accepted") {
      try relay.outside.postContext(checkout.user, checkout.context, app: "shop-0").status < 300
    }
    #expect(try relay.outside.send(checkout.completed, app: "shop-0").status == 200)
    _ = try cluster.destination.waitFor(requests: 1)
    #expect(try relay.stop() == 0)
  }

  @Test("A newer schema: a compatible one is used, another is refused, and who runs goes on (R10)")
  func versionSkew() throws {
    let database = try FaultyDatabase()
    let cluster = try Cluster(2, apps: 1) { _ in database.url }
    defer { cluster.end() }
    let (old, new) = (cluster.relays[0], cluster.relays[1])
    try old.start()
    try database.run("UPDATE schema_version SET version = 99", in: database.database)
    try new.start()
    #expect(try new.stop() == 0)
    try database.run("UPDATE schema_version SET usable_from = 99", in: database.database)
    let refused = try new.launch()
    #expect(try refused.end() != 0)
    #expect(new.log.contains("schema version 99"), "\(new.log)")
    // The relay that runs connects again without a check.
    try database.disconnect()
    let checkout = Checkout("skew")
    try waitUntil("a context is accepted") {
      try old.outside.postContext(checkout.user, checkout.context, app: "shop-0").status < 300
    }
    #expect(try old.stop() == 0)
  }
}
