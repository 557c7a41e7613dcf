// Afterpay's settings, its lookups, and what it is without webhooks.

import Domain
import Formats
import Partners
import Testing

@Suite("Afterpay as a processor")
struct AfterpayProcessorTests {
  @Test func `It has no webhooks: every request to such an address is refused`() throws {
    #expect(!AfterpayProcessor.hasWebhooks)
    let shop = try AfterpayShop()
    let request = WebhookRequest(body: Array("{}".utf8), address: "192.0.2.1") { _ in [afterpaySecret] }
    #expect(shop.processor.authenticate(request, now: shop.now) == .refused(.sender))
    let reading = shop.processor.read(afterpayPayment("APPROVED", "CAPTURED").serialized(), now: shop.now)
    #expect(reading == EventReading(id: nil, type: "", content: .nothing(.unparsed)))
  }

  @Test func `Without its secret, it makes no call`() throws {
    let processor = AfterpayProcessor(try afterpaySettings(), secret: nil)
    #expect(processor.backend == nil)
    #expect(processor.captures == nil)
    #expect(processor.queries == nil)
  }

  @Test func `Not every payment has a price; a payment is followed up when it cannot be captured any more`() {
    let rules = AfterpayProcessor.rules(isAsked: true)
    #expect(rules.isAsked)
    #expect(!rules.namesPrices)
    #expect(rules.followsUpAfter.map { $0 > .minutes(180) } == true)
    #expect(AfterpayProcessor.rules(isAsked: false).followsUpAfter == nil)
  }

  @Test func `Its defaults are Afterpay's own`() throws {
    let settings = AfterpaySettings(
      merchantID: "1", region: try #require(AfterpayRegion("US")), currency: try #require(Currency("USD")),
      confirmURL: "https://a.example", cancelURL: "https://b.example")
    #expect(settings.apiBase == "https://global-api.afterpay.com")
    #expect(settings.captureWithin == .minutes(180))
    #expect(settings.timeout == .seconds(20))
    #expect(settings.captureTimeout == .seconds(70))
    #expect(!settings.amountsAreClients)
  }

  @Test(
    arguments: [
      ("US", "en_US"), ("AU", "en_AU"), ("NZ", "en_NZ"), ("GB", "en_GB"), ("UK", "en_GB"), ("CA", "en_CA"),
      ("fr-CA", "fr_CA"), ("en-US", "en_US"), ("FR", "fr_FR"), ("it-IT", "it_IT"), ("ES", "es_ES"),
      ("us", nil), ("SE", nil), ("fr-US", nil), ("", nil), ("-US", nil), ("en-US-x", nil), ("US-en", nil),
    ] as [(String, String?)])
  func `A region is a country of Afterpay's, perhaps with a language`(text: String, identifier: String?) {
    #expect(AfterpayRegion(text)?.identifier == identifier)
  }

  @Test("No setting can break a header, and the website is the confirmation's if it is not configured")
  func userAgent() throws {
    func agent(_ change: (inout AfterpaySettings) -> Void) throws -> String? {
      try AfterpayShop(change).backend.headers.first { $0.name == "User-Agent" }?.value
    }
    #expect(
      try agent { ($0.product, $0.website) = ("receiptd/1.2", "https://www.shop.example") }
        == "receiptd/1.2 (Receipt Relay; Linux; Merchant/600032000) https://www.shop.example")
    #expect(
      try agent { $0.confirmURL = "shop://confirm" }
        == "receiptd (Receipt Relay; Linux; Merchant/600032000)")
    let odd = try #require(try agent { ($0.merchantID, $0.website) = ("6\r\nX: y)", "https://é.example\n") })
    #expect(odd == "receiptd (Receipt Relay; Linux; Merchant/6X:y) https://.example")
  }

  @Test func `A lookup's answer says what became of the payment`() throws {
    let shop = try AfterpayShop()
    let queries = try #require(shop.processor.queries)
    let key = PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(afterpayToken))
    func observed(_ object: JSONValue) -> Observations? {
      queries.report(from: object.serialized(), about: key, now: shop.now)?.observations
    }
    #expect(observed(afterpayPayment("APPROVED", "CAPTURED")) == .paid)
    #expect(observed(afterpayPayment("APPROVED", "AUTH_APPROVED")) == .paid)
    #expect(observed(afterpayPayment("APPROVED", "VOIDED")) == .closed)
    #expect(observed(afterpayPayment("DECLINED", "CAPTURE_DECLINED")) == .closed)
    #expect(observed(afterpayPayment("APPROVED", "CAPTURED", token: "other")) == nil)
    #expect(observed(afterpayPayment("PENDING", "CAPTURED")) == nil)
    #expect(observed(["errorCode": "not_found"]) == nil)
    let captured = queries.report(
      from: afterpayPayment("APPROVED", "CAPTURED").serialized(), about: key, now: shop.now)
    #expect(captured?.payment == PaymentFacts(amount: "59.99", currency: "USD", isCaptured: true))
    let authorised = queries.report(
      from: afterpayPayment("APPROVED", "AUTH_APPROVED").serialized(), about: key, now: shop.now)
    #expect(authorised?.payment?.isCaptured == false)
  }

  @Test("Afterpay's own not_found ends a payment, once no call to capture it can still take effect")
  func notFound() throws {
    let shop = try AfterpayShop()
    let queries = try #require(shop.processor.queries)
    let key = PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(afterpayToken))
    let ours = PaymentFacts(details: #"{"account":"600032000 at https://afterpay.example"}"#)
    func observed(
      _ body: JSONValue, after age: Duration, facts: PaymentFacts? = ours
    ) -> Observations? {
      queries.report(
        fromNotFound: body.serialized(), about: key, facts: facts, startedAt: shop.now, now: shop.now + age)?
        .observations
    }
    #expect(observed(["errorCode": "not_found"], after: .hours(29)) == .closed)
    // It may be captured for 180 min, and the capture repeated for 24 h.
    #expect(observed(["errorCode": "not_found"], after: .hours(27)) == nil)
    #expect(observed(["errorCode": "not_found"], after: .zero) == nil)
    #expect(observed(["errorCode": "error"], after: .days(8)) == nil)
    #expect(observed(["message": "not found"], after: .days(8)) == nil)
    let page = Array("<html>not_found</html>".utf8)
    #expect(
      queries.report(
        fromNotFound: page, about: key, facts: ours, startedAt: shop.now, now: shop.now + .days(8)) == nil)
    // Another account does not know the payment, which proves nothing.
    let other = PaymentFacts(details: #"{"account":"1 at https://afterpay.example"}"#)
    #expect(observed(["errorCode": "not_found"], after: .days(8), facts: other) == nil)
    #expect(observed(["errorCode": "not_found"], after: .days(8), facts: nil) == nil)
  }

  @Test func `A payment is reversed when all of it was refunded`() throws {
    let shop = try AfterpayShop()
    let queries = try #require(shop.processor.queries)
    let key = PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(afterpayToken))
    func isReversed(_ amounts: [String], currency: String = "USD") throws -> Bool {
      let refunds = amounts.map { amount -> JSONValue in
        ["refundId": "r", "amount": ["amount": .string(amount), "currency": .string(currency)]]
      }
      let object: JSONValue = [
        "token": .string(afterpayToken), "status": "APPROVED", "paymentState": "CAPTURED",
        "originalAmount": ["amount": "59.99", "currency": "USD"], "refunds": .array(refunds),
      ]
      let report = try #require(queries.report(from: object.serialized(), about: key, now: shop.now))
      #expect(report.observations.contains(.paid))
      return report.observations.contains(.reversed)
    }
    #expect(try isReversed(["59.99"]))
    #expect(try isReversed(["30.00", "29.99"]))
    #expect(try !isReversed([]))
    #expect(try !isReversed(["30.00", "29.98"]))
    #expect(try !isReversed(["59.99"], currency: "EUR"))
    #expect(try !isReversed(["much"]))
    #expect(try !isReversed(["92233720368547758.07", "92233720368547758.07"]))
  }

  @Test func `Another type of purchase is not looked up`() throws {
    let queries = try #require(try AfterpayShop().processor.queries)
    let key = PurchaseKey(processor: "afterpay", type: "order", id: "1")
    #expect(queries.lookups(of: key, sessionID: nil, lacking: nil).isEmpty)
  }
}

@Suite("The relay's problems in merchant backends")
struct RelayProblemTests {
  @Test func `The request's id is added once, to the relay's own problems only`() throws {
    let answer = BackendAnswer.captureOutcomeUnknown
    #expect(answer.lacksRequestID)
    let completed = answer.completed(requestID: #"r"1"#)
    #expect(try JSONValue(parsing: completed.body)["request_id"] == #"r"1"#)
    #expect(completed.completed(requestID: "r2") == completed)
    let other = BackendAnswer(status: 400, contentType: "application/problem+json", body: Array("{ }".utf8))
    #expect(other.completed(requestID: "r1") == other)
    let broken = BackendAnswer(status: 400, body: [], lacksRequestID: true)
    #expect(broken.completed(requestID: "r1").body == [])
  }

  @Test func `A stored outcome becomes the same answer for each request`() {
    let captured = BackendAnswer(CaptureOutcome(kind: .captured, status: 200, body: Array("{}".utf8)))
    #expect(captured.contentType == "application/json")
    #expect(captured.completed(requestID: "r1").body == Array("{}".utf8))
    let declined = BackendAnswer(CaptureOutcome(kind: .declined, status: 402, body: Array(#"{"a":1}"#.utf8)))
    #expect(declined.contentType == "application/problem+json")
    #expect(declined.completed(requestID: "r1").body == Array(#"{"a":1,"request_id":"r1"}"#.utf8))
    let abandoned = BackendAnswer(CaptureOutcome(kind: .abandoned, status: 504, body: []))
    let text = String(decoding: abandoned.completed(requestID: "r1").body, as: UTF8.self)
    #expect(abandoned.status == BackendAnswer.captureOutcomeUnknown.status)
    #expect(text.contains("capture-outcome-unknown"))
    #expect(text.contains("does not ask any more"))
  }
}
