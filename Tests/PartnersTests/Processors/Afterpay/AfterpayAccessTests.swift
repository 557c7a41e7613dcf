// Who may capture what, and when (checks CA16–CA20).

import Domain
import Formats
import Partners
import Testing

private let post = "POST /v2/payments/capture"

@Suite("Afterpay: who may capture what")
struct AfterpayAccessTests {
  @Test("CA16: Another user's token and an unknown one are answered 404, and Afterpay is not called")
  func foreign() throws {
    let shop = try AfterpayShop.started()
    let calls = shop.calls.count
    for answer in [
      try shop.capture(user: "u2"), try shop.capture("002.unknown"), try shop.state(user: "u2"),
      try shop.state("002.unknown"),
    ] {
      #expect(answer.status == 404)
      #expect(answer.slug == "unknown-payment")
    }
    #expect(shop.calls.count == calls)
    #expect(shop.grants.isEmpty)
  }

  @Test("CA17: A payment that was started more than 180 min ago is expired, and Afterpay is not called")
  func expired() throws {
    let shop = try AfterpayShop.started()
    let start = shop.now
    let calls = shop.calls.count
    shop.now = start + .minutes(180)
    #expect(try shop.state()["state"] == "started")
    shop.now = shop.now + .milliseconds(1)
    #expect(try shop.state()["state"] == "expired")
    let answer = try shop.capture()
    #expect(answer.status == 410)
    #expect(answer.slug == "checkout-expired")
    #expect(shop.calls.count == calls)
    shop.now = start + .minutes(180)
    shop.reply(post, afterpayApproved)
    #expect(try shop.capture().status == 200)
  }

  @Test func `CA17: An order for a capture that is under way is not too late`() throws {
    let shop = try AfterpayShop.started()
    shop.reply(post, .noAnswer(isTimeout: true))
    shop.reply("GET /v2/payments/token:\(afterpayToken)", .page(503, ""))
    shop.now = shop.now + .minutes(179)
    #expect(try shop.capture().status == 504)
    shop.now = shop.now + .minutes(5)
    shop.reply(
      "GET /v2/payments/token:\(afterpayToken)", .afterpay(200, afterpayPayment("APPROVED", "CAPTURED")))
    #expect(try shop.capture().status == 200)
    #expect(shop.grants.count == 1)
  }

  @Test(arguments: [#""grantId":"""#, #""grantId":7"#, #""grantId":["x"]"#, #""grantId":"a\nb""#, #""x":1"#])
  func `CA18: A grant is a text that is not empty`(member: String) throws {
    let shop = try AfterpayShop.started()
    let calls = shop.calls.count
    let answer = try shop.request("capture", #"{"token":"\#(afterpayToken)",\#(member)}"#)
    #expect(answer.status == 400)
    #expect(answer.slug == (member.contains("grantId") ? "invalid-grant-id" : "invalid-member"))
    #expect(shop.calls.count == calls)
  }

  @Test func `CA18: A payment of Cash App Pay is not captured without a grant`() throws {
    let shop = try AfterpayShop.started()
    for body in [#"{"token":"\#(afterpayToken)"}"#, #"{"token":"\#(afterpayToken)","grantId":null}"#] {
      let answer = try shop.request("capture", body)
      #expect(answer.status == 400)
      #expect(answer.slug == "invalid-grant-id")
    }
    #expect(shop.called == ["POST /v2/checkouts"])
  }

  @Test(arguments: [
    "a/b", "..", "002..x", "../x", "a\r\nX: y", "a b", "", "a%2Fb", "a?b", "a#b", "a\\b", "a:b", "ä",
    "a\0b", String(repeating: "a", count: 256),
  ])
  func `CA19: A token that could change a path or a header is refused`(token: String) throws {
    let shop = try AfterpayShop.started()
    let calls = shop.calls.count
    let body: JSONValue = ["token": .string(token), "grantId": "GRG_1"]
    for answer in [try shop.request("capture", body.text), try shop.state(token)] {
      #expect(answer.status == 400)
      #expect(answer.slug == "invalid-token")
    }
    #expect(shop.calls.count == calls)
  }

  @Test(arguments: ["{}", #"{"token":7}"#, "[]", "7", ""])
  func `CA19: A token of another type, or none, is refused`(body: String) throws {
    let shop = try AfterpayShop()
    #expect(try shop.request("capture", body).status == 400)
    #expect(shop.calls.isEmpty)
  }

  @Test func `CA19: In the path of a lookup, a token is percent-encoded`() throws {
    let shop = try AfterpayShop()
    let dollars = try #require(Currency("USD"))
    for (token, target) in [
      (afterpayToken, "/v2/payments/token:\(afterpayToken)"), ("a+b=", "/v2/payments/token:a%2Bb%3D"),
      ("../x\r\n", "/v2/payments/token:..%2Fx%0D%0A"),
    ] {
      let key = PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(token))
      let facts = PaymentFacts(amount: "1.00", currency: dollars.code)
      let capturable = CapturablePayment(key: key, facts: facts, startedAt: shop.now, orderedAt: shop.now)
      #expect(shop.captures.lookupCall(capturable).target == target)
      let queries = try #require(shop.processor.queries)
      #expect(queries.lookups(of: key, sessionID: nil, lacking: nil).map(\.target) == [target])
    }
  }

  @Test("CA20: A captured payment is a purchase of Afterpay's, of the user, with its price and context")
  func purchase() throws {
    let shop = try AfterpayShop()
    shop.contexts = ["ctx_1": "u1"]
    _ = try shop.start()
    let body = #"{"email":"a@b.example","price":"gold-yearly"}"#
    _ = try shop.request("checkout", body, context: "ctx_1")
    shop.reply(post, afterpayApproved)
    #expect(try shop.capture().status == 200)
    let purchase = try #require(shop.purchase())
    #expect(purchase.key.processor == "afterpay")
    #expect(purchase.key.type == "payment")
    #expect(purchase.key.id == ObjectID(afterpayToken))
    #expect(purchase.userID == "u1")
    #expect(purchase.prices == ["gold-yearly"])
    #expect(purchase.isBought)
    #expect(purchase.payment?.amount == "59.99")
    #expect(shop.stored.compactMap(\.startedIn) == ["ctx_1"])
  }

  @Test func `Without a user, no payment is started, captured or read`() throws {
    let shop = try AfterpayShop()
    for endpoint in AfterpayProcessor.backendEndpoints {
      #expect(endpoint.requiresUser == (endpoint.path != "configuration"))
      guard endpoint.requiresUser else { continue }
      let answer = try shop.request(endpoint.path, "{}", user: nil, parameters: ["token": afterpayToken])
      #expect(answer.status == 400)
      #expect(answer.slug == "missing-user")
    }
  }

  @Test(
    "A payment that went back to the customer is reversed; one that ended elsewhere is closed or captured")
  func endedElsewhere() throws {
    for (observed, state, status) in [
      ([.paid, .reversed], "reversed", 200), (.paid, "captured", 200), (.closed, "closed", 409),
    ] as [(Observations, String, Int)] {
      let shop = try AfterpayShop.started()
      shop.learn(observed)
      #expect(try shop.state()["state"] == state)
      shop.now = shop.now + .days(1)
      #expect(try shop.capture().status == status)
      #expect(shop.called == ["POST /v2/checkouts"])
    }
  }

  @Test func `A request for another processor's path is answered 404`() throws {
    let shop = try AfterpayShop()
    let request = BackendRequest(
      BackendEndpoint("GET", "else", label: "x"), rootPath: "/", reference: "r", receivedAt: shop.now)
    guard case .answer(let answer) = shop.backend.respond(to: request) else {
      Issue.record("another step")
      return
    }
    #expect(answer.status == 404)
  }
}
