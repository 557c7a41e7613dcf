// Purchases in app stores, from the app's post to Purchasely.

import Domain
import Formats
import Glibc
import HTTPServer
import Store
import TestSupport
import Testing

@Suite(.withDaemonLog) struct StoreReceiptTests {
  private static func report(_ relay: Relay, _ user: String, _ body: String) throws -> Reply {
    try relay.outside.api.request(
      "POST", "/v1/shop/users/\(user)/store-purchases", body: Array(body.utf8),
      headers: ["Content-Type": "application/json", "X-API-KEY": Secrets.clientKey])
  }

  private static let platforms = [
    (platform: "APP_STORE", id: "310001721313211", proof: #""original_transaction_id":"310001721313211""#),
    (platform: "PLAY_STORE", id: "play-token.1", proof: #""purchase_token":"play-token.1""#),
    (
      platform: "APPGALLERY", id: "1571994327943.31F2",
      proof: #""purchase_token":"hms-token","subscription_id":"1571994327943.31F2","account_flag":1"#
    ),
  ]

  @Test("Purchasely receives each platform's fields and header, and the context that came with them")
  func platforms() throws {
    try withRelay { relay, destination in
      let context = blob(price: "stripe.monthly")
      for (platform, id, proof) in Self.platforms {
        let posted = try Self.report(
          relay, "jdo-1",
          #"{"platform":"\#(platform)","store_product_id":"gold",\#(proof),"ply_context":"\#(context)"}"#)
        #expect(posted.status == 201, "\(posted.text)")
        let receipt = try relay.reaches(.delivered, id)
        #expect(posted["receipt_id"] == receipt.id.text)
        let entry = try #require(destination.ledger.last)
        #expect(entry.head.headers("X-PLATFORM-TYPE") == [platform])
        #expect(entry.head.headers("X-API-KEY") == [Secrets.apiKey])
        #expect(
          entry.text
            == #"{"user_id":"jdo-1","store_product_id":"gold",\#(proof),"ply_context":"\#(context)"}"#)
        #expect(receipt.importID?.isEmpty == false)
        #expect(!receipt.priceMismatch)
      }
      #expect(destination.ledger.count == 3)
      let listed = try relay.receiptctl("receipts", "list", "--processor", "play_store", "--json").output
      #expect(listed.contains(#""object_id":"play-token.1""#), "\(listed)")
      #expect(!listed.contains("310001721313211"))
      let found = try relay.receiptctl("find", "1571994327943.31F2").output
      #expect(found.contains("rcp_"), "\(found)")
      let id = try #require(try relay.receipt(of: "play-token.1")?.id)
      let shown = try relay.receiptctl("receipts", "show", id.text).output
      #expect(shown.contains("the app reported the purchase for them"), "\(shown)")
      #expect(try relay.metric(#"receiptd_store_purchases_total{app="shop",result="stored"}"#) == 3)
    }
  }

  @Test func `An app that sells in app stores only needs no payment processor`() throws {
    try withRelay(
      prepare: { relay in
        guard case .object(let all) = relay.configuration,
          case .object(let app)? = relay.configuration["apps"]?["shop"]
        else { return }
        let stores = JSONValue.object(app.filter { $0.name != "stripe" })
        relay.configuration = JSONValue.object(all.filter { $0.name != "apps" })
          .merging(["apps": ["shop": stores]])
      }
    ) { relay, destination in
      #expect(try relay.receiptctl("config", "check").code == 0)
      let body = #"{"platform":"PLAY_STORE","store_product_id":"gold","purchase_token":"play-token.2"}"#
      #expect(try Self.report(relay, "jdo-1", body).status == 201)
      try relay.reaches(.delivered, "play-token.2")
      #expect(destination.ledger.count == 1)
    }
  }

  @Test(
    "It is sent again with the same bytes, also after a kill, and a repeated post changes nothing (R1, R3)")
  func survives() throws {
    try withRelay { relay, destination in
      destination.answerAll(.status(503))
      let body = #"{"platform":"APP_STORE","store_product_id":"gold","receipt_data":"e30="}"#
      let first = try Self.report(relay, "jdo-1", body)
      #expect(first.status == 201, "\(first.text)")
      _ = try destination.waitFor(requests: 1)
      try relay.stop(SIGKILL)
      try relay.start()
      destination.answerAll(.taken)
      try waitUntil("the receipt is delivered") { try relay.receipts().first?.receipt?.state == .delivered }
      #expect(Set(destination.ledger.map(\.body)).count == 1)
      #expect(destination.accepted.count == 1)
      #expect(
        destination.accepted.first?.text
          == #"{"user_id":"jdo-1","store_product_id":"gold","receipt_data":"e30="}"#)
      let again = try Self.report(relay, "jdo-1", body)
      #expect(again.status == 200)
      #expect(again["receipt_id"] == first["receipt_id"])
      #expect(again["state"] == "delivered")
      #expect(try Self.report(relay, "jdo-2", body).status == 409)
      #expect(try relay.receipts().count == 1)
    }
  }

  @Test func `An erased user's purchase leaves nothing behind, and is refused from then on`() throws {
    try withRelay { relay, _ in
      let body = #"{"platform":"PLAY_STORE","store_product_id":"gold","purchase_token":"token-of-jane"}"#
      #expect(try Self.report(relay, "user-jane", body).status == 201)
      try relay.reaches(.delivered, "token-of-jane")
      let run = try relay.receiptctl("users", "forget", "user-jane", "--yes")
      #expect(run.code == 0, "\(run.output)")
      let listed = try relay.receiptctl("receipts", "list", "--json").output
      #expect(!listed.contains("token-of-jane"))
      #expect(!listed.contains("user-jane"))
      let reply = try Self.report(relay, "user-jane", body)
      #expect(reply.status == 410)
      #expect(reply["type"] == "urn:receiptd:problem:store-purchase-gone")
    }
  }
}
