// Callbacks while the relay cannot store anything.

import Formats
import Sandbox
import Testing

@Suite(.withDaemonLog) struct SwedbankDiskTests {
  @Test(
    "CB11: A callback that cannot be stored gets 503, and its repetition delivers the purchase (R1)",
    .enabled(if: Tool.hasNamespaces, "needs name spaces for users and mounts"))
  func fullDisk() throws {
    // The stand-in sends no callback itself, so only those of this test can cause a fetch.
    try SwedbankShop.run(copies: 0, prepare: { try SmallDisk($0).mount() }) { shop in
      let disk = SmallDisk(shop.relay)
      let orders = try (0..<2).map { _ in try shop.sdk().start(.v3).id }
      shop.swedbank.perform(.pay, on: orders[0])
      disk.fill()
      // Space that the log already occupies accepts a few more.
      let refused = try waitFor("a callback is refused") { () -> Reply? in
        let reply = try Self.report(orders[1], to: shop)
        return reply.status == 200 ? nil : reply
      }
      #expect(refused.status == 503, "\(refused.text)")
      let paid = try Self.report(orders[0], to: shop)
      #expect(paid.status == 503, "\(paid.text)")
      #expect(!shop.sent.contains { $0.hasPrefix("GET \(orders[0])") })
      disk.clear()
      try waitUntil("the repetition is accepted") { try Self.report(orders[0], to: shop).status == 200 }
      try waitUntil("the purchase is delivered") { !shop.messages("purchase.completed").isEmpty }
      let delivered = shop.messages("purchase.completed").map { $0.json["data"]?["object_id"] }
      #expect(delivered == [.string(orders[0])])
    }
  }

  /// Sends a callback as Swedbank Pay does.
  private static func report(_ order: String, to shop: SwedbankShop) throws -> Reply {
    let stored = try #require(shop.swedbank.orders.first { $0.id == order })
    let callback = try #require(stored.callbackURL)
    let path = String(callback.drop { $0 != "/" }.dropFirst(2).drop { $0 != "/" })
    let body: JSONValue = ["paymentOrder": ["id": .string(order), "number": 1]]
    return try shop.relay.outside.api.request(
      "POST", path, body: body.serialized(), headers: ["Content-Type": "application/json"])
  }
}
