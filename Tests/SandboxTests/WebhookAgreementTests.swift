// The relay's webhooks, as its destination makes them, at the simulated receiver. Neither knows the other's
// code.

import Domain
import Formats
import Partners
import Sandbox
import Testing

@Suite("Webhooks from sender to receiver") struct WebhookAgreementTests {
  private static let secrets = (1...2).map {
    "whsec_" + Base64.encode(Array(repeating: UInt8($0), count: 24))
  }
  private static let now = Timestamp(unixMilliseconds: 1_800_000_000_999)

  private static func destination(_ secrets: [String]) throws -> WebhookDestination {
    try WebhookDestination(
      WebhookSettings(
        app: "ios", url: "https://merchant.example/purchases", keys: secrets.compactMap { WebhookKey($0) },
        userAgent: "receiptd/1"))
  }

  private static let purchase = ReceiptContent(
    userID: "jane",
    key: PurchaseKey(processor: "swedbank", type: "payment_order", id: "/psp/paymentorders/1"),
    priceID: "gold", context: "e30=", contextID: "ctx_1",
    payment: PaymentFacts(amount: "59.99", currency: "SEK", isCaptured: true), boughtAt: now)

  private static func verdict(
    _ destination: WebhookDestination, _ body: [UInt8], isReversal: Bool = false, secrets: [String]
  ) throws -> (verdict: WebhookVerdict, id: String?) {
    let fields = destination.headers(
      for: OutgoingReceipt(
        id: "rcp_1", processor: "swedbank", isReversal: isReversal, body: body, sentAt: now))
    func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    let headers = WebhookVerifier.Headers(
      id: field("webhook-id"), timestamp: field("webhook-timestamp"), signature: field("webhook-signature"))
    let verifier = try WebhookVerifier(secrets: secrets)
    return (verifier.verify(headers, body: body, now: now.unixMilliseconds), headers.id)
  }

  @Test func `A completed purchase is genuine, and says who bought what`() throws {
    let destination = try Self.destination([Self.secrets[0]])
    let body = destination.body(for: Self.purchase)
    #expect(try Self.verdict(destination, body, secrets: [Self.secrets[0]]).verdict == .verified(secret: 0))
    let message = try WebhookMessage(parsing: body)
    #expect(message.type == "purchase.completed")
    #expect(message.app == "ios")
    #expect(message.user == "jane")
    #expect(message.processor == "swedbank")
    #expect(message.objectType == "payment_order")
    #expect(message.objectID == "/psp/paymentorders/1")
    #expect(message.priceID == "gold")
    #expect(message.amount == "59.99")
    #expect(message.currency == "SEK")
    #expect(message.context == "e30=")
    #expect(message.contextID == "ctx_1")
  }

  @Test func `A reversal has its own id and type`() throws {
    let destination = try Self.destination([Self.secrets[0]])
    let body = try #require(destination.reversal(of: Self.purchase))
    let seen = try Self.verdict(destination, body, isReversal: true, secrets: [Self.secrets[0]])
    #expect(seen.verdict == .verified(secret: 0))
    #expect(seen.id == "rcp_1-reversed")
    #expect(try WebhookMessage(parsing: body).type == "purchase.reversed")
  }

  @Test("While the secret changes, receivers with either one accept the message, and no other does")
  func rotation() throws {
    let destination = try Self.destination(Self.secrets)
    let body = destination.body(for: Self.purchase)
    for secret in Self.secrets {
      #expect(try Self.verdict(destination, body, secrets: [secret]).verdict == .verified(secret: 0))
    }
    let other = "whsec_" + Base64.encode(Array(repeating: 9, count: 24))
    #expect(try Self.verdict(destination, body, secrets: [other]).verdict == .mismatch)
  }
}
