// Captures that the relay gave up after a week without an answer, and the operator who asks Afterpay about
// them.

import Domain
import Formats
import Platform
import SQLiteStore
import Sandbox
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct AbandonedCaptureTests {
  private static let place = AppProcessor("shop", "afterpay")

  private static func work(_ relay: Relay) throws -> UnfinishedWork {
    let now = Timestamp(unixMilliseconds: SystemClock().wallMilliseconds)
    return try relay.read { try $0.unfinished(place, now: now) }
  }

  /// Makes the payment older, and stores that its capture was given up.
  private static func abandon(_ token: String, _ relay: Relay) throws {
    try #require(try relay.stop() == 0)
    let connection = try Connection(path: relay.databasePath, mode: .readWrite, busyTimeout: .seconds(300))
    let start = SystemClock().wallMilliseconds - Duration.days(8).milliseconds
    try connection.prepare("UPDATE purchases SET first_seen_at = ?1 WHERE object_id = ?2").run([
      .integer(start), .text(token),
    ])
    try connection.prepare(
      """
      INSERT INTO captures (app, processor, purchase_row, ordered_at, failures, retry_at, last_trouble,
        outcome, status, body, ended_at)
      SELECT app, processor, row_id, ?1, 174, ?1, 'timeout', 'abandoned', 504, x'', ?1
      FROM purchases WHERE object_id = ?2
      """
    ).run([.integer(start), .text(token)])
    try relay.start()
    try #require(try work(relay).abandonedCaptures == 1)
  }

  /// Captures the payment, as a call of the relay would whose answer was lost.
  private static func charge(_ token: String, _ shop: AfterpayRelay) throws {
    let credentials = Base64.encode(Array("\(AfterpayRelay.merchantID):\(AfterpayRelay.secret)".utf8))
    let body: JSONValue = ["token": .string(token)]
    let reply = try Endpoint(port: shop.afterpay.port).request(
      "POST", "/v2/payments/capture", body: body.serialized(),
      headers: [
        "Authorization": "Basic \(credentials)", "User-Agent": "test", "Content-Type": "application/json",
      ])
    try #require(reply.status < 300, "\(reply.text)")
  }

  @Test("A capture that was given up, and charged nothing, is over when Afterpay knows no such payment")
  func notCharged() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      try Self.abandon(token, shop.relay)
      #expect(try shop.relay.receiptctl("payments", "list").output.contains("capture given up"))
      #expect(try shop.relay.receiptctl("payments", "fetch", token).code == 0)
      try waitUntil("the payment is closed") { try Self.work(shop.relay).isEmpty }
      let shown = try shop.relay.receiptctl("receipts", "show", token).output
      #expect(shown.contains("the payment ended without money"))
      #expect(
        try shop.relay.receiptctl("payments", "list").output
          == "No payment has an unknown outcome.\n")
      #expect(shop.charges(of: token) == 0)
    }
  }

  @Test("A capture that was given up, and charged the customer, makes a receipt when it is fetched")
  func charged() throws {
    try AfterpayRelay.run { shop in
      let token = try shop.startApproved()
      try Self.charge(token, shop)
      try Self.abandon(token, shop.relay)
      #expect(try shop.relay.receiptctl("payments", "fetch", token).code == 0)
      try shop.relay.reaches(.delivered, token)
      #expect(try Self.work(shop.relay).isEmpty)
      #expect(shop.messages("purchase.completed").count == 1)
    }
  }
}
