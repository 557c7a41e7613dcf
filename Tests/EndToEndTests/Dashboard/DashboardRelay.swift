// A relay with a history: the receipts of a busy year, some of them failed, an app whose destination is down,
// and users with hostile names.

import Domain
import Formats
import HTTPServer
import Platform
import SQLiteStore
import Store
import TestSupport
import Testing

extension Relay {
  /// User ids that try to break out of a page, or to widen it.
  static let hostileUsers = [
    "<script>document.title='broken'</script>", "\"><img src=x onerror=\"document.title='broken'\">",
    "'--></bdi><h1>not a heading", "\u{202E}gnp.exe", "مستخدم-٧",
    String(repeating: "w", count: 200),
  ]

  /// Posts a form of the dashboard.
  func postForm(
    _ path: String, _ fields: [String: String], headers: [String: String] = [:]
  ) throws -> Reply {
    let type = ["Content-Type": "application/x-www-form-urlencoded"]
    return try admin.request("POST", path, body: formBody(fields), headers: type.merging(headers) { $1 })
  }

  /// Posts the form of a page, with its token.
  func submit(_ path: String, _ fields: [String: String]) throws -> Reply {
    let page = try admin.request("GET", path)
    let token = try #require(page.field("token"), "\(path): \(page.text)")
    return try postForm(path, fields.merging(["token": token]) { $1 })
  }

  /// Fills the database of a relay that has run once and is stopped.
  func giveItAPast(receipts: Int, failed: Int) throws {
    let now = SystemClock().wallMilliseconds
    let start = now - Int64(receipts) * LargeDatabase.step.milliseconds - 60_000
    try LargeDatabase.fill(
      path: databasePath, .init(receipts: receipts, failed: failed, isWhole: true), app: "shop", start: start)
    let connection = try Connection(path: databasePath, mode: .readWrite, busyTimeout: .seconds(10))
    // Busy afternoons, quiet nights, and one bad evening.
    try connection.prepare(
      """
      INSERT OR REPLACE INTO delivery_counts (minute, app, delivered, failed)
      WITH RECURSIVE minutes (ago) AS (SELECT 1 UNION ALL SELECT ago + 1 FROM minutes WHERE ago < 10000)
      SELECT ?1 - ago, 'shop', 20 - abs((?1 - ago) / 60 % 24 - 15) + ago % 7,
        iif(ago BETWEEN 260 AND 400, 6, 0) + iif(ago % 97 = 0, 1, 0) FROM minutes
      """
    ).run([.integer(now / 60_000)])
    // Answers of 60 ms to 5 s, some of them failed, and deliveries within minutes.
    try connection.prepare(
      """
      INSERT OR REPLACE INTO latencies (app, destination, minutes, slot, kind, bucket, count)
      WITH RECURSIVE hours (ago) AS (SELECT 0 UNION ALL SELECT ago + 1 FROM hours WHERE ago < 168),
        kinds (kind, bucket, count) AS (VALUES (0, 41, 400), (0, 46, 600), (0, 58, 90), (0, 70, 9),
          (1, 85, 4), (2, 80, 500), (2, 90, 500), (2, 110, 20))
      SELECT 'shop', 'purchasely', 60, (?1 - ago) * 60, kind, bucket + ago * 7 % 5, count + ago % 9
      FROM hours, kinds
      """
    ).run([.integer(now / 3_600_000)])
  }

  /// Users with hostile names buy in an app whose destination is down.
  func sellToHostileUsers() throws {
    for (number, user) in Self.hostileUsers.enumerated() {
      let checkout = Checkout("hostile-\(number)")
      try ingest(
        checkout.completed.merging(["data": ["object": ["client_reference_id": .string(user)]]]), app: "web")
    }
    try waitUntil("the app's deliveries are stopped") { try breaker(of: "web").state == .open }
  }

  /// A relay with two apps: one is healthy, the other's destination is down.
  static func withPast(
    receipts: Int, failed: Int, admin: JSONValue = ["address": "127.0.0.1", "port": 0],
    _ body: (Relay, Destination) throws -> Void
  ) throws {
    let destination = try Destination()
    defer { destination.stop() }
    destination.answerAll { $0.head.query == "web" ? .status(503) : .status(200) }
    let down: JSONValue = [
      "purchasely": ["url": .string(destination.url + "?web")], "join": ["wait_for_context": "0s"],
      "delivery": ["retry": ["schedule": ["10m"]], "breaker": ["failures": 1, "open_for": "10m"]],
    ]
    let relay = try Relay(destination, top: ["admin": admin, "apps": ["web": Relay.app(destination, down)]])
    try Relay.$logPath.withValue(relay.logPath) {
      try relay.start()
      try relay.stop()
      try relay.giveItAPast(receipts: receipts, failed: failed)
      try relay.start()
      try relay.sellToHostileUsers()
      try body(relay, destination)
    }
  }
}

extension Reply {
  /// The value of a hidden field of the page's form.
  func field(_ name: String) -> String? {
    let mark = "name=\"\(name)\" value=\""
    guard let start = text.firstRange(of: mark)?.upperBound else { return nil }
    return String(text[start...].prefix { $0 != "\"" })
  }
}

/// A form's body.
func formBody(_ fields: [String: String]) -> [UInt8] {
  let pairs = fields.map { "\(PercentEncoding.encode($0.key))=\(PercentEncoding.encode($0.value))" }
  return Array(pairs.joined(separator: "&").utf8)
}
