// Tests of purchases in app stores over HTTP: who may report them, and the answers.

import Domain
import Formats
import HTTPServer
import Partners
import Store
import TestSupport
import Testing

@testable import Config
@testable import Daemon
@testable import Service

@Suite("The route of purchases in app stores") struct StorePurchaseRouteTests {
  /// An app with a client key whose receipts go to a scripted destination, and one without Purchasely.
  private final class Bed {
    let destination: ScriptedDestination
    let bench: Bench
    let server: Server

    init(limits: Configuration.Limits = .init()) throws {
      destination = try ScriptedDestination()
      let app = Bench.app(url: destination.url, client: .keys([Secret("the-key")]))
      var bare = Bench.app("bare")
      bare.purchasely = nil
      bare.webhook = .init(
        url: "http://127.0.0.1:9/hook",
        secrets: [Secret("whsec_" + Base64.encode(Array(repeating: 1, count: 32)))])
      bench = try Bench([app, bare])
      server = try bench.serve(limits: limits)
    }

    deinit { server.stop(grace: .zero) }

    static let key = "X-API-KEY: the-key\r\n"

    func report(
      _ body: String, by user: String = "u1", app: String = "shop", _ fields: String = key
    ) throws -> (status: Int, answer: JSONValue) {
      let client = try RawClient(port: server.port)
      try client.post("/v1/\(app)/users/\(user)/store-purchases", body, fields)
      let reply = try client.reply()
      return (reply.status, try JSONValue(parsing: reply.body))
    }

    func count(_ result: String, app: String = "shop") -> UInt64 {
      bench.metrics.storePurchases.snapshot().first {
        $0.key.first == app && $0.key.second == result
      }?.value ?? 0
    }

    func purchases() throws -> [PurchaseRecord] { try bench.reader.receipts(ReceiptFilter(), limit: 100) }
  }

  private static func with(limits: Configuration.Limits = .init(), _ body: (Bed) throws -> Void) throws {
    let bed = try Bed(limits: limits)
    try body(bed)
  }

  private static func problem(_ slug: String) -> JSONValue { .string("urn:receiptd:problem:\(slug)") }

  private static let play =
    #"{"platform":"PLAY_STORE","store_product_id":"gold:monthly","purchase_token":"token-1"}"#

  @Test("A report gets 201 and goes to Purchasely; again it gets 200, and for another user 409")
  func reports() throws {
    try Self.with { bed in
      let first = try bed.report(Self.play)
      #expect(first.status == 201, "\(first.answer.text)")
      #expect(first.answer["platform"] == "PLAY_STORE")
      #expect(first.answer["user_id"] == "u1")
      #expect(first.answer["store_product_id"] == "gold:monthly")
      #expect(first.answer["replay"] == .bool(false))
      let received = try #require(try bed.destination.waitForRequests(1).first)
      #expect(received.head.header("X-PLATFORM-TYPE") == "PLAY_STORE")
      #expect(
        String(decoding: received.body, as: UTF8.self)
          == #"{"user_id":"u1","store_product_id":"gold:monthly","purchase_token":"token-1"}"#)
      try bed.bench.waitFor { _ in try bed.purchases().first?.receipt?.state == .delivered ? true : nil }
      let again = try bed.report(Self.play)
      #expect(again.status == 200)
      #expect(again.answer["replay"] == .bool(true))
      #expect(again.answer["state"] == "delivered")
      #expect(again.answer["receipt_id"] == first.answer["receipt_id"])
      #expect(again.answer["received_at"] == first.answer["received_at"])
      let other = try bed.report(Self.play, by: "u2")
      #expect(other.status == 409)
      #expect(other.answer["type"] == Self.problem("purchase-of-another-user"))
      #expect(try bed.purchases().count == 1)
      #expect(bed.destination.received.count == 1)
      #expect(["stored", "repeated", "other_user"].map { bed.count($0) } == [1, 1, 1])
    }
  }

  @Test func `A bad combination is a 422 whose reason is the field, and nothing is stored`() throws {
    try Self.with { bed in
      let cases = [
        ("purchase_token", #"{"platform":"PLAY_STORE","store_product_id":"p"}"#),
        (
          "receipt_data",
          #"{"platform":"PLAY_STORE","store_product_id":"p","purchase_token":"t","receipt_data":"e30="}"#
        ),
        (
          "receipt_data",
          #"{"platform":"APP_STORE","store_product_id":"p","original_transaction_id":"1","#
            + #""receipt_data":"e30="}"#
        ),
        ("original_transaction_id", #"{"platform":"APP_STORE","store_product_id":"p"}"#),
        (
          "account_flag",
          #"{"platform":"APPGALLERY","store_product_id":"p","purchase_token":"t","subscription_id":"s"}"#
        ),
        (
          "account_flag",
          #"{"platform":"APPGALLERY","store_product_id":"p","purchase_token":"t","subscription_id":"s","#
            + #""account_flag":2}"#
        ),
        ("platform", #"{"platform":"STRIPE","store_product_id":"p"}"#), ("platform", "{}"),
        ("store_product_id", #"{"platform":"PLAY_STORE","purchase_token":"t"}"#),
      ]
      for (field, body) in cases {
        let reply = try bed.report(body)
        #expect(reply.status == 422, "\(body): \(reply.answer.text)")
        #expect(reply.answer["type"] == Self.problem("invalid-store-purchase"))
        #expect(reply.answer["reason"] == .string(field))
        #expect(reply.answer["detail"]?.stringValue?.contains("`\(field)`") == true)
      }
      #expect(try bed.purchases().isEmpty)
      #expect(bed.count("refused") == UInt64(cases.count))
    }
  }

  @Test func `The user, the context, the key and the media type have the rules of posted contexts`() throws {
    try Self.with { bed in
      #expect(try bed.report(Self.play, "").status == 401)
      let placeholder = try bed.report(Self.play, by: "undefined")
      #expect(placeholder.status == 422)
      #expect(placeholder.answer["type"] == Self.problem("placeholder-user"))
      let differs = try bed.report(String(Self.play.dropLast()) + #","user_id":"u2"}"#)
      #expect(differs.status == 400)
      #expect(differs.answer["type"] == Self.problem("users-differ"))
      let header = try bed.report(Self.play, Bed.key + "X-User-Id: u2\r\n")
      #expect(header.answer["type"] == Self.problem("users-differ"))
      let context = try bed.report(String(Self.play.dropLast()) + #","ply_context":"%%%"}"#)
      #expect(context.status == 400)
      #expect(context.answer["type"] == Self.problem("invalid-ply-context"))
      let text = try bed.report("[]")
      #expect(text.status == 400)
      #expect(text.answer["type"] == Self.problem("invalid-json"))
      let client = try RawClient(port: bed.server.port)
      try client.send(
        "POST /v1/shop/users/u1/store-purchases HTTP/1.1\r\nHost: test\r\n\(Bed.key)"
          + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1\r\n\r\nx")
      #expect(try client.reply().status == 415)
      #expect(try bed.purchases().isEmpty)
    }
  }

  @Test("An app whose destinations do not ask the stores takes no report: its webhook signs nothing of them")
  func noDestination() throws {
    try Self.with { bed in
      let reply = try bed.report(Self.play, app: "bare", "")
      #expect(reply.status == 422)
      #expect(reply.answer["type"] == Self.problem("no-store-destination"))
      #expect(try bed.purchases().isEmpty)
    }
  }

  @Test func `A report of an erased user is a 410`() throws {
    try Self.with { bed in
      #expect(try bed.report(Self.play).status == 201)
      try bed.bench.waitFor { _ in try bed.purchases().first?.receipt?.state == .delivered ? true : nil }
      let row = try #require(try bed.purchases().first?.rowID)
      try bed.bench.store(ForgetPurchases(rows: [row], cancelsOpen: true))
      let reply = try bed.report(Self.play)
      #expect(reply.status == 410)
      #expect(reply.answer["type"] == Self.problem("store-purchase-gone"))
      #expect(bed.count("gone") == 1)
    }
  }

  @Test func `The longest receipt data is taken, and a longer body is a 413 (R8)`() throws {
    try Self.with { bed in
      func body(_ count: Int) -> String {
        let data = String(repeating: "A", count: count)
        return #"{"platform":"APP_STORE","store_product_id":"p","receipt_data":"\#(data)"}"#
      }
      #expect(try bed.report(body(StorePurchase.receiptDataBytesMax)).status == 201)
      let received = try #require(try bed.destination.waitForRequests(1).first)
      #expect(received.head.header("X-PLATFORM-TYPE") == "APP_STORE")
      #expect(received.body.count > StorePurchase.receiptDataBytesMax)
      #expect(try bed.report(body(StorePurchase.receiptDataBytesMax + 4)).status == 422)
      let client = try RawClient(port: bed.server.port)
      try client.send(
        "POST /v1/shop/users/u1/store-purchases HTTP/1.1\r\nHost: test\r\n\(Bed.key)"
          + "Content-Type: application/json\r\n"
          + "Content-Length: \(StorePurchaseIntake.bodyBytesMax + 1)\r\n\r\n")
      #expect(try client.reply().status == 413)
      #expect(try bed.purchases().count == 1)
    }
  }

  @Test func `The limit of a user's contexts counts reports, too`() throws {
    try Self.with(limits: .init(contextsPerUser: RateLimit(1, per: .hour))) { bed in
      #expect(try bed.report(Self.play).status == 201)
      let reply = try bed.report(Self.play)
      #expect(reply.status == 429)
      #expect(reply.answer["type"] == Self.problem("too-many-store-purchases"))
      #expect(bed.count("limited") == 1)
    }
  }
}
