// Misbehaving destinations, each for one app of one daemon, all at once, while another app's receipts are
// delivered (R3, R4, R8, R11).

import Formats
import Glibc
import HTTPServer
import SQLiteStore
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog, .enabled(if: SelfSigned.isPossible, "the openssl command makes the certificate"))
struct HostileDestinationTorture {
  private static let suite = "hostile destination"
  private static let goodDelayMax: Duration = .seconds(10)
  private static let peakKibibytesMax = Sanitizer.memory(256 * 1024)

  /// A row with its app and its destination.
  private struct Case {
    let row: HostileDestination
    let app: String
    var server: HostileServer?
    var listener: DeafListener?
    var destination: Destination?
    var bound: Int32?

    func stop() {
      server?.stop()
      destination?.stop()
      if let bound { close(bound) }
    }
  }

  @Test(
    "Every hostile destination gets its verdict, nothing is lost, and no other app waits (R3, R4, R8, R11)")
  func hostileDestinations() throws {
    let trap = try ScriptedServer { $0.waitForClose() }
    let good = try Destination()
    defer {
      trap.stop()
      good.stop()
    }
    let directory = try TestFolder()
    var apps: [JSONValue.Member] = []
    let cases = try HostileDestinations.all(trap: trap.port).enumerated().map { index, row in
      let (made, url) = try Self.make(row, app: "case-\(index)", directory)
      let settings: JSONValue = [
        "purchasely": ["url": .string(url)], "delivery": row.delivery(concurrency: 8),
        "join": ["wait_for_context": "0s"],
      ]
      apps.append(.init(name: made.app, value: Relay.app(good, settings)))
      return made
    }
    defer { for item in cases { item.stop() } }
    let rate: JSONValue = ["delivery": ["rate": 10_000, "concurrency": 64]]
    try withRelay(to: good, app: rate, top: ["apps": .object(apps)]) { relay in
      let process = try #require(relay.process)
      let gauge = try Gauge(descriptorsOf: process.id)
      let client = try GoodClient(relay.outside, name: "good", pause: .milliseconds(25))
      try Self.buy(cases, relay.outside)
      let connection = try Connection(path: relay.databasePath, mode: .readOnly, busyTimeout: .seconds(10))
      for item in cases { try Self.judge(item, connection) }
      try client.waitFor(20)
      let served = client.stop()
      #expect(served.failures.isEmpty, "\(served.failures.prefix(5))")
      let delays = try Self.delays(relay, served, connection)
      let (descriptors, peak) = (gauge.stop(), try #require(process.peakKibibytes))
      #expect(peak < Self.peakKibibytesMax, "\(peak) KiB")
      #expect(trap.accepted == 0, "a redirect was followed")
      try Self.checkKey(cases, good)
      #expect(try relay.stop() == 0)
      #expect(try relay.read { try $0.integrityFaults() }.isEmpty)
      Torture.report(Self.suite, "cases", cases.count)
      Torture.report(Self.suite, "receipts", cases.map(\.row.receipts).reduce(0, +))
      Torture.report(Self.suite, "good receipts delivered meanwhile", served.checkouts.count)
      Torture.report(Self.suite, "p99 from ready to delivered of a good receipt, ms", delays.percentile(0.99))
      Torture.report(Self.suite, "highest memory, MiB", peak / 1024)
      Torture.report(Self.suite, "most descriptors", descriptors)
    }
  }

  // MARK: The places

  private static func make(
    _ row: HostileDestination, app: String, _ directory: TestFolder
  ) throws -> (Case, url: String) {
    var made = Case(row: row, app: app)
    func plain(_ port: UInt16) -> String { "http://127.0.0.1:\(port)/receipts" }
    switch row.place {
    case .scripted(let script):
      let server = try HostileServer(hostileConnections: row.receipts, script)
      made.server = server
      return (made, plain(server.port))
    case .scriptedTLS(let script):
      let server = try HostileServer(hostileConnections: .max, script)
      made.server = server
      return (made, "https://127.0.0.1:\(server.port)/receipts")
    case .refused:
      let (descriptor, port) = try openSocket()
      made.bound = descriptor
      return (made, plain(port))
    case .fullBacklog, .neverAccepted:
      var isFull = false
      if case .fullBacklog = row.place { isFull = true }
      let listener = try DeafListener(isFull: isFull)
      made.listener = listener
      return (made, plain(listener.port))
    case .unresolved: return (made, "https://receipts.invalid/")
    case .selfSigned:
      let destination = try Destination(tls: try SelfSigned(in: directory).identity)
      made.destination = destination
      return (made, destination.url)
    }
  }

  // MARK: The purchases

  /// One after another, round by round: this measures the destinations' trouble, not a flood of events.
  private static func buy(_ cases: [Case], _ outside: Outside) throws {
    for number in 0..<(cases.map(\.row.receipts).max() ?? 0) {
      for item in cases where number < item.row.receipts {
        let reply = try outside.send(Checkout("\(item.app)-\(number)").completed, app: item.app)
        #expect(reply.status == 200, "\(item.app): \(reply.text)")
      }
    }
  }

  // MARK: The verdicts

  private static func judge(_ item: Case, _ connection: Connection) throws {
    let name = item.row.name
    do {
      try waitUntil("\(name): every receipt came to \(item.row.outcome)") {
        try count(item, connection) == Int64(item.row.receipts)
      }
    } catch let error as NeverHappened {
      Issue.record("\(error.what); there is \(try describe(item, connection))")
      return
    }
    let attempt = item.row.attempt
    var seen = 0
    for (status, error, isAmbiguous) in try hostileAttempts(item, connection) {
      // On a stalled machine a good answer may time out, too.
      if item.row.isSlow, attempt.status != nil, status == nil, error == "timeout" { continue }
      seen += 1
      let isRight =
        status == attempt.status && attempt.errors.contains(error)
        && (attempt.isAmbiguous == nil || attempt.isAmbiguous == isAmbiguous)
      #expect(
        isRight, "\(name): \(status.map(String.init) ?? "no status"), \(error ?? "no error"), \(isAmbiguous)")
    }
    #expect(item.row.isSlow ? seen > 0 : seen == item.row.receipts, "\(name): \(seen) hostile attempts")
  }

  /// How many receipts reached the row's result.
  private static func count(_ item: Case, _ connection: Connection) throws -> Int64 {
    let condition: String
    switch item.row.outcome {
    case .delivered, .recovers: condition = "p.state = 'delivered'"
    case .failed(let reason): condition = "p.state = 'failed' AND p.reason = '\(reason)'"
    case .rests(let seconds):
      // When the whole app pauses (429, a wrong configuration), the breaker has the time.
      condition = """
        p.state = 'pending' AND (
          SELECT max(coalesce(max(b.rest_until), 0), coalesce(max(b.probe_at), 0), p.next_attempt_at)
          FROM breakers b WHERE b.app = p.app
        ) - (SELECT max(a.at + a.duration_ms) FROM attempts a WHERE a.purchase_row = p.row_id)
        BETWEEN \(seconds.lowerBound * 1000) AND \(seconds.upperBound * 1000)
        """
    }
    let sql = "SELECT count(*) FROM purchases p WHERE p.app = '\(item.app)' AND \(condition)"
    return try connection.integer(sql) ?? 0
  }

  private static func hostileAttempts(
    _ item: Case, _ connection: Connection
  ) throws -> [(Int64?, String?, Bool)] {
    try connection.prepare(
      """
      SELECT a.status, a.error, a.ambiguous FROM attempts a JOIN purchases p ON p.row_id = a.purchase_row
      WHERE p.app = '\(item.app)' AND a.status IS NOT 202
      """
    ).all { row throws(SQLiteError) in (row.optionalInteger(0), try row.optionalText(1), row.integer(2) != 0)
    }
  }

  private static func describe(_ item: Case, _ connection: Connection) throws -> String {
    let sql = """
      SELECT coalesce(group_concat(p.state || ' ' || coalesce(p.reason, '-') || ' next '
        || coalesce(p.next_attempt_at - p.ready_at, '-')), 'nothing')
      FROM purchases p WHERE p.app = '\(item.app)'
      """
    return "\(try connection.text(sql) ?? ""); attempts: \(try hostileAttempts(item, connection))"
  }

  // MARK: The others

  /// The time of each good receipt from ready to delivered.
  private static func delays(
    _ relay: Relay, _ served: GoodClient.Served, _ connection: Connection
  ) throws -> [Int64] {
    let sql = "SELECT count(*) FROM purchases WHERE app = 'shop' AND state = 'delivered'"
    try waitUntil("every good receipt is delivered") {
      try connection.integer(sql) == Int64(served.checkouts.count)
    }
    let delays = try connection.prepare("SELECT delivered_at - ready_at FROM purchases WHERE app = 'shop'")
      .all { row throws(SQLiteError) in row.integer(0) }
    #expect(.milliseconds(delays.max() ?? 0) < goodDelayMax, "\(delays.max() ?? 0) ms")
    return delays
  }

  /// No request, which contains the key, reached a server whose certificate does not verify.
  private static func checkKey(_ cases: [Case], _ good: Destination) throws {
    for item in cases { #expect(item.destination?.ledger.isEmpty ?? true, "\(item.row.name)") }
    #expect(good.ledger.allSatisfy { $0.head.header("X-API-KEY") == Secrets.apiKey })
  }
}
