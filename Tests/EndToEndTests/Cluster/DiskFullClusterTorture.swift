// The disk of the database is full, and has space again.

import Formats
import Glibc
import Platform
import PostgresStore
import TestSupport
import Testing

@Suite(
  .withDaemonLog, .enabled(if: PostgresServer.isExpected, "\(PostgresServer.missing)"),
  .enabled(if: geteuid() == 0, "only root can mount a small disk"))
struct DiskFullClusterTorture {
  private static let suite = "several relays: disk of the database full"
  /// Enough to fill the last pages of the tables.
  private static let contextsMax = 5_000
  private static let answerTimeMax: Duration = .seconds(12)

  @Test func `Requests get 503 until there is space again; nothing acknowledged is lost (R1, R8)`() throws {
    let server = try PostgresServer(smallDisk: 64)
    let folder = "\(PostgresServer.smallDisk)/tables"
    try server.run("mkdir \(folder)")
    let admin = try server.connect()
    try admin.run("CREATE TABLESPACE small LOCATION '\(folder)'")
    try admin.run("CREATE DATABASE small TEMPLATE template0 TABLESPACE small")
    let cluster = try Cluster(2, apps: 2) { _ in server.url("small") }
    defer { cluster.end() }
    try cluster.start()
    let relays = cluster.relays
    var taken: [Checkout] = []
    /// The relays in turn, and the apps by pairs of requests, so that each relay has requests of each app.
    var number = 0
    func take(_ name: String) throws -> Int {
      let checkout = Checkout("\(name)-\(number)")
      let relay = relays[number % 2]
      let app = cluster.apps[number / 2 % cluster.apps.count]
      number += 1
      let start = MonotonicInstant.now()
      let posted = try relay.outside.postContext(checkout.user, checkout.context, app: app)
      guard posted.status < 300 else {
        #expect(posted.status == 503, "\(posted.text)")
        #expect(posted.header("Retry-After") != nil, "\(posted.text)")
        #expect(MonotonicInstant.now().duration(since: start) < Self.answerTimeMax)
        return posted.status
      }
      let sent = try relay.outside.send(checkout.completed, app: app)
      if sent.status == 200 { taken.append(checkout) }
      return sent.status
    }
    for _ in 0..<10 { #expect(try take("before") == 200) }
    // It ends with an error, once there is no more space.
    try server.run("head -c 1G /dev/zero >\(PostgresServer.smallDisk)/filler || :")
    while number < Self.contextsMax, try take("full") == 200 {}
    try #require(number < Self.contextsMax, "the disk was never full")
    // A relay notices it at a write that needs a new page. There may be space for some in the last ones.
    try waitUntil("both relays say that the disk is full") {
      for _ in relays { _ = try take("refused") }
      return try relays.allSatisfy { try $0.admin.request("GET", "/readyz").text.contains("disk is full") }
    }
    try server.run("rm \(PostgresServer.smallDisk)/filler")
    let start = MonotonicInstant.now()
    for relay in relays {
      try relay.waitUntilReady()
    }
    let recovery = MonotonicInstant.now().duration(since: start)
    for _ in 0..<10 { #expect(try take("after") == 200) }
    try cluster.judge(Self.suite, taken, interruptions: 1, server.connect("small"))
    Torture.report(Self.suite, "ready again after, ms", recovery.milliseconds)
  }
}
