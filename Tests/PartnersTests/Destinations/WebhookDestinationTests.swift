// Tests the webhook destination: its signature, its bytes, and what its answers mean.

import Domain
import Formats
import Partners
import Testing

private let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
private let now = Timestamp(unixMilliseconds: 1_614_265_330_999)

private func destination(_ secrets: [String] = [secret], forwardsContext: Bool = true) throws
  -> WebhookDestination
{
  try WebhookDestination(
    WebhookSettings(
      app: "ios", url: "https://merchant.example/purchases", keys: secrets.compactMap { WebhookKey($0) },
      forwardsContext: forwardsContext, userAgent: "receiptd/1"))
}

private func header(_ name: String, _ secrets: [String] = [secret], id: ReceiptID, body: String) throws
  -> String?
{
  let receipt = OutgoingReceipt(id: id, processor: "stripe", body: Array(body.utf8), sentAt: now)
  return try destination(secrets).headers(for: receipt).first { $0.name == name }?.value
}

private func secret(of size: Int) -> String { "whsec_" + Base64.encode(Array(repeating: 1, count: size)) }

private let keys: [(text: String, isValid: Bool)] = [
  (secret(of: 24), true), (secret(of: 64), true), (secret(of: 23), false), (secret(of: 65), false),
  (String(secret(of: 24).dropFirst(6)), false), ("whsec_", false), ("", false),
  (String(secret(of: 25).dropLast()), false), ("whsec_not base64, not base64, not base64", false),
  ("WHSEC_" + secret(of: 24).dropFirst(6), false),
]

@Suite("The webhook destination")
struct WebhookDestinationTests {
  @Test func `A message is signed as the specification's example is`() throws {
    let id: ReceiptID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    let body = #"{"test": 2432232314}"#
    #expect(try header("webhook-id", id: id, body: body) == "msg_p5jXN8AQM9LWM0D4loKWxJek")
    #expect(try header("webhook-timestamp", id: id, body: body) == "1614265330", "whole seconds")
    #expect(
      try header("webhook-signature", id: id, body: body)
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test func `While a secret is being replaced, each secret signs`() throws {
    let other = "whsec_" + Base64.encode(Array(1...32))
    let both = try #require(try header("webhook-signature", [secret, other], id: "rcp_1", body: "{}"))
    let each = try [secret, other].map { try header("webhook-signature", [$0], id: "rcp_1", body: "{}") }
    #expect(both == each.compactMap(\.self).joined(separator: " "))
    #expect(each[0] != each[1])
  }

  @Test("A key has the prefix, strict base64 and a size that the specification allows", arguments: keys)
  func key(text: String, isValid: Bool) {
    #expect((WebhookKey(text) != nil) == isValid)
  }

  @Test func `An announcement names the purchase and the claim, and its id is the claim's`() throws {
    let later = Timestamp(unixMilliseconds: 1_614_870_130_999)
    let claim = Claim(id: "claim_1", origin: .webhook, offeredAt: now, expiresAt: later)
    let token = try #require(ClaimToken("clm_0123456789ABCDEFGHJKMNPQRS"))
    let key = PurchaseKey(processor: "stripe", type: "subscription", id: "sub_1")
    let purchase = Purchase(
      key: key, sessionID: "cs_1", customerID: "cus_1", prices: ["price_1"], happenedAt: now, createdAt: now)
    let announcement = ClaimAnnouncement(claim: claim, token: token, receiptID: "rcp_1", purchase: purchase)
    let message = try #require(
      try destination().announcement(of: announcement, url: "https://pay.example/c", sentAt: now))
    #expect(
      String(decoding: message.body, as: UTF8.self)
        == #"{"type":"purchase.unclaimed","timestamp":"2021-02-25T15:02:10.999Z","data":{"app":"ios","#
        + #""receipt_id":"rcp_1","processor":"stripe","object_type":"subscription","object_id":"sub_1","#
        + #""session_id":"cs_1","customer_id":"cus_1","price_id":"price_1","#
        + #""claim_url":"https://pay.example/c","token":"clm_0123456789ABCDEFGHJKMNPQRS","#
        + #""expires_at":"2021-03-04T15:02:10.999Z"}}"#)
    #expect(message.headers.first { $0.name == "webhook-id" }?.value == "claim_1")
    #expect(message.headers.first { $0.name == "webhook-signature" }?.value.hasPrefix("v1,") == true)
  }

  @Test func `The body names what is known, and leaves out what is not`() throws {
    let key = PurchaseKey(processor: "swedbank", type: "payment_order", id: "/psp/paymentorders/1")
    let bare = ReceiptContent(userID: "u1", key: key, priceID: nil, context: nil)
    #expect(
      String(decoding: try destination().body(for: bare), as: UTF8.self)
        == #"{"type":"purchase.completed","data":{"app":"ios","user_id":"u1","processor":"swedbank","#
        + #""object_type":"payment_order","object_id":"/psp/paymentorders/1"}}"#)
    var whole = bare
    whole.priceID = "gold"
    whole.context = "e30="
    whole.contextID = "ctx_1"
    whole.payment = PaymentFacts(amount: "59.99", currency: "USD", isCaptured: false)
    whole.boughtAt = now
    #expect(
      String(decoding: try destination().body(for: whole), as: UTF8.self)
        == #"{"type":"purchase.completed","timestamp":"2021-02-25T15:02:10.999Z","data":{"app":"ios","#
        + #""user_id":"u1","processor":"swedbank","object_type":"payment_order","#
        + #""object_id":"/psp/paymentorders/1","price_id":"gold","amount":"59.99","currency":"USD","#
        + #""captured":false,"ply_context":"e30=","context_id":"ctx_1"}}"#)
    let withheld = try destination(forwardsContext: false).body(for: whole)
    #expect(!String(decoding: withheld, as: UTF8.self).contains("context"))
  }

  @Test func `A reversal has its own type and id, and the same data`() throws {
    let key = PurchaseKey(processor: "swedbank", type: "payment_order", id: "/psp/paymentorders/1")
    let content = ReceiptContent(userID: "u1", key: key, priceID: nil, context: nil)
    let completed = try JSONValue(parsing: try destination().body(for: content))
    let reversed = try JSONValue(parsing: try #require(try destination().reversal(of: content)))
    #expect(reversed["type"]?.stringValue == "purchase.reversed")
    #expect(reversed["data"] == completed["data"])
    let outgoing = OutgoingReceipt(
      id: "rcp_1", processor: "swedbank", isReversal: true, body: [], sentAt: now)
    let headers = try destination().headers(for: outgoing)
    #expect(headers.first { $0.name == "webhook-id" }?.value == "rcp_1-reversed")
    #expect(try destination().importID(of: outgoing) == "rcp_1-reversed")
  }

  @Test(arguments: ["", "<html>", #"{"errors":[1]}"#])
  func `Every 2xx accepts the message, whatever the answer's body`(body: String) throws {
    let answer = DeliveryAnswer(status: 200, contentType: "text/html", body: Array(body.utf8))
    #expect(try destination().verdict(on: answer, now: now) == .delivered(importID: nil))
  }
}
