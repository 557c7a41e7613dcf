// The request for a Checkout Session, and what becomes of Stripe's answers.

import Domain
import Formats
import Testing

@testable import Partners

@Suite("Checkout Sessions") struct StripeCheckoutsTests {
  private static let id: ContextID = "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TD"
  private static let posted = Timestamp(unixMilliseconds: 1_795_000_000_000)

  private static func checkouts(
    _ items: [PriceID: StripeCheckoutSettings.Item] = [
      "price_1": .init(price: "price_1", mode: .subscription),
      "gold": .init(price: "price_9", mode: .payment),
    ], base: String = "https://api.stripe.com"
  ) throws -> any HostedCheckouts {
    let settings = StripeCheckoutSettings(
      items: items, returnURL: "https://back.example.com/v1/shop/return", timeout: .seconds(3))
    let processor = try StripeProcessor(
      StripeSettings(apiBase: base), webhookSecrets: [], apiKey: "rk_test_1", checkout: settings)
    return try #require(processor.checkouts)
  }

  private static func call(
    _ price: PriceID, after age: Duration = .zero, id: ContextID = id, _ checkouts: any HostedCheckouts
  ) throws -> (call: BackendCall, then: @Sendable (BackendReply) -> BackendStep) {
    let order = CheckoutOrder(contextID: id, price: price, postedAt: posted, now: posted + age)
    guard case .call(let call, let then) = checkouts.open(order) else { throw Unexpected() }
    return (call, then)
  }

  private struct Unexpected: Error {}

  private static func answer(_ reply: BackendReply, base: String = "https://api.stripe.com") throws
    -> BackendAnswer
  {
    guard case .answer(let answer) = try call("price_1", checkouts(base: base)).then(reply) else {
      throw Unexpected()
    }
    return answer
  }

  @Test(
    "A session sells one price, and names the context to itself and to what it sells",
    arguments: [
      ("price_1", "price_1", "subscription", "subscription_data"),
      ("gold", "price_9", "payment", "payment_intent_data"),
    ] as [(PriceID, String, String, String)])
  func request(name: PriceID, price: String, mode: String, sold: String) throws {
    let (call, _) = try Self.call(name, Self.checkouts())
    #expect(call.method == "POST")
    #expect(call.url(at: "https://api.stripe.com") == "https://api.stripe.com/v1/checkout/sessions")
    #expect(call.timeout == .seconds(3))
    #expect(call.headers["Content-Type"] == "application/x-www-form-urlencoded")
    let fields = try FormFields.all(in: call.body.span)
    let back = "https://back.example.com/v1/shop/return?context_id=\(Self.id)&result="
    let expected = [
      "mode": mode, "line_items[0][price]": price, "line_items[0][quantity]": "1",
      "client_reference_id": Self.id.text, "metadata[ply_context_id]": Self.id.text,
      "\(sold)[metadata][ply_context_id]": Self.id.text, "success_url": back + "success",
      "cancel_url": back + "cancel",
    ]
    #expect(Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) }) == expected)
  }

  @Test("Parameters of the configuration are sent in Stripe's notation, to sessions that have them")
  func parameters() throws {
    var settings = StripeCheckoutSettings(
      items: [
        "sub": .init(price: "price_1", mode: .subscription), "one": .init(price: "price_9", mode: .payment),
      ], returnURL: "https://back.example.com/v1/shop/return")
    settings.trialDays = 7
    settings.allowsPromotionCodes = true
    settings.origin = .mobileApp
    settings.parameters = try StripeCheckoutParameters([
      "locale": "auto", "discounts": [["coupon": "c1"]], "subscription_data": ["description": "Ä & b"],
      "payment_intent_data": ["capture_method": "automatic"], "automatic_tax": ["enabled": true],
      "custom_fields": [["text": ["minimum_length": 3]]],
    ])
    let processor = try StripeProcessor(
      StripeSettings(), webhookSecrets: [], apiKey: "rk_test_1", checkout: settings)
    let checkouts = try #require(processor.checkouts)
    func added(_ price: PriceID) throws -> [String: String] {
      let body = try Self.call(price, checkouts).call.body
      let fields = try FormFields.all(in: body.span)
      let own = [
        "mode", "line_items[0][price]", "line_items[0][quantity]", "client_reference_id", "success_url",
        "cancel_url", "metadata[ply_context_id]",
      ]
      return Dictionary(
        uniqueKeysWithValues: fields.filter { field in
          !own.contains(field.name) && !field.name.hasSuffix("[metadata][ply_context_id]")
        }.map { ($0.name, $0.value) })
    }
    let both = [
      "allow_promotion_codes": "true", "origin_context": "mobile_app", "locale": "auto",
      "discounts[0][coupon]": "c1", "automatic_tax[enabled]": "true",
      "custom_fields[0][text][minimum_length]": "3",
    ]
    let ofSubscription = [
      "subscription_data[trial_period_days]": "7", "subscription_data[description]": "Ä & b",
    ]
    #expect(try added("sub") == both.merging(ofSubscription) { $1 })
    #expect(try added("one") == both.merging(["payment_intent_data[capture_method]": "automatic"]) { $1 })
  }

  @Test func `A session has the metadata by which a sale of the app is recognized`() throws {
    var settings = StripeSettings()
    settings.sells = StripeSelection(metadata: ["app": "ios", "shop": "de"])
    let checkout = StripeCheckoutSettings(
      items: ["sub": .init(price: "price_1", mode: .subscription)], returnURL: "https://a.example/return")
    let processor = try StripeProcessor(settings, webhookSecrets: [], apiKey: "rk_1", checkout: checkout)
    let checkouts = try #require(processor.checkouts)
    let body = try Self.call("sub", checkouts).call.body
    let fields = try FormFields.all(in: body.span)
    for (key, value) in ["app": "ios", "shop": "de"] {
      for name in ["metadata[\(key)]", "subscription_data[metadata][\(key)]"] {
        #expect(fields.first { $0.name == name }?.value == value, "\(name)")
      }
    }
  }

  @Test func `Parameters of Stripe's libraries can be set, except the relay's own`() {
    for name in StripeCheckoutParameters.known {
      #expect(throws: Never.self) {
        try StripeCheckoutParameters(.object([.init(name: name, value: "x")]))
      }
    }
    for name in StripeCheckoutParameters.own {
      #expect(throws: StripeCheckoutParameters.Fault.own(name)) {
        try StripeCheckoutParameters(.object([.init(name: name, value: "x")]))
      }
    }
    #expect(throws: StripeCheckoutParameters.Fault.unknown("locales")) {
      try StripeCheckoutParameters(["locales": "de"])
    }
  }

  @Test("The key of a repeat is the same while the session is open, and another one for another order")
  func idempotency() throws {
    let checkouts = try Self.checkouts()
    func key(_ price: PriceID = "price_1", after age: Duration = .zero, id: ContextID = Self.id) throws
      -> String
    {
      let key = try #require(
        try Self.call(price, after: age, id: id, checkouts).call.headers["Idempotency-Key"])
      #expect(key.utf8.count <= 255)
      return key
    }
    let first = try key()
    #expect(first.contains(Self.id.text))
    for age in [.milliseconds(1), .hours(22), .zero - .hours(2)] as [Duration] {
      #expect(try key(after: age) == first)
    }
    // The session ends after 24 hours.
    #expect(try key(after: .hours(23)) != first)
    #expect(try key(after: .hours(30)) == key(after: .hours(24)))
    #expect(try key("gold") != first)
    #expect(try key(id: "ctx_01KAGFN8X2M5R7QZ3C6V9WJ4TE") != first)
    // Stripe refuses a key with other parameters: they change with the configuration.
    let changed = try Self.checkouts(["price_1": .init(price: "price_1", mode: .payment)])
    #expect(try Self.call("price_1", changed).call.headers["Idempotency-Key"] != first)
  }

  /// The fields of a request about whom pays.
  private static func payer(_ call: BackendCall) throws -> [String: String] {
    let fields = try FormFields.all(in: call.body.span).filter { $0.name.hasPrefix("customer") }
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
  }

  /// The payers that are named one after the other while Stripe refuses each.
  private static func payers(
    _ checkouts: any HostedCheckouts, customer: CustomerID?, email: String?, refusal: BackendReply
  ) throws -> (payers: [[String: String]], keys: [String?], answer: BackendAnswer) {
    let order = CheckoutOrder(
      contextID: id, price: "gold", postedAt: posted, now: posted, customerID: customer, email: email)
    var (payers, keys): ([[String: String]], [String?]) = ([], [])
    var step = checkouts.open(order)
    for _ in 1...5 {
      switch step {
      case .call(let call, let then):
        payers.append(try payer(call))
        keys.append(call.headers["Idempotency-Key"])
        step = then(refusal)
      case .answer(let answer): return (payers, keys, answer)
      default: throw Unexpected()
      }
    }
    throw Unexpected()
  }

  @Test func `A known customer is named, else a verified address; what Stripe refuses is left out`() throws {
    let deleted = Self.reply(
      400,
      #"{"error":{"type":"invalid_request_error","code":"resource_missing","param":"customer"}}"#)
    func named(_ customer: CustomerID?, _ email: String?) throws -> [[String: String]] {
      try Self.payers(Self.checkouts(), customer: customer, email: email, refusal: deleted).payers
    }
    let (customer, email) = (["customer": "cus_1"], ["customer_email": "jane+a@example.com"])
    #expect(try named("cus_1", "jane+a@example.com") == [customer, email, [:]])
    #expect(try named("cus_1", nil) == [customer, [:]])
    #expect(try named(nil, "jane+a@example.com") == [email, [:]])
    #expect(try named(nil, nil) == [[:]])
    #expect(try named("acct_1", nil) == [[:]], "only a customer's id names a customer")
    let all = try Self.payers(
      Self.checkouts(), customer: "cus_1", email: "jane+a@example.com", refusal: deleted)
    #expect(Set(all.keys).count == 3, "Stripe refuses a key with other parameters")
    #expect(all.answer.status == 422)
    #expect(!String(decoding: all.answer.body, as: UTF8.self).contains("jane"))
  }

  @Test(arguments: [
    (400, "line_items[0][price]"), (400, "mode"), (401, "customer"), (429, "customer"), (500, "customer"),
  ])
  func `A refusal that is not about the payer is answered at once`(status: Int, parameter: String) throws {
    let refusal = Self.reply(status, #"{"error":{"type":"x","param":"\#(parameter)"}}"#)
    let all = try Self.payers(Self.checkouts(), customer: "cus_1", email: nil, refusal: refusal)
    #expect(all.payers == [["customer": "cus_1"]])
  }

  @Test func `A refusal without a parameter may be about the customer, such as another currency`() throws {
    let refusal = Self.reply(400, #"{"error":{"type":"invalid_request_error"}}"#)
    let all = try Self.payers(Self.checkouts(), customer: "cus_1", email: nil, refusal: refusal)
    #expect(all.payers == [["customer": "cus_1"], [:]])
  }

  @Test func `A customer who is known is not created, and only such a customer is updated`() throws {
    var settings = StripeCheckoutSettings(items: ["gold": .init(price: "price_9", mode: .payment)])
    settings.parameters = try StripeCheckoutParameters([
      "customer_creation": "always", "customer_update": ["name": "auto"],
    ])
    let processor = try StripeProcessor(
      StripeSettings(), webhookSecrets: [], apiKey: "rk_test_1", checkout: settings)
    let all = try Self.payers(
      try #require(processor.checkouts), customer: "cus_1", email: nil, refusal: Self.reply(400, "{}"))
    #expect(
      all.payers == [
        ["customer": "cus_1", "customer_update[name]": "auto"], ["customer_creation": "always"],
      ])
  }

  @Test func `Only configured prices are offered, and an app without a key has no checkouts`() throws {
    let checkouts = try Self.checkouts()
    #expect(checkouts.offers("price_1"))
    #expect(checkouts.offers("gold"))
    #expect(!checkouts.offers("price_9"))
    let order = CheckoutOrder(contextID: Self.id, price: "price_9", postedAt: Self.posted, now: Self.posted)
    guard case .answer(let answer) = checkouts.open(order) else { throw Unexpected() }
    #expect(answer.status == 422)
    let settings = StripeCheckoutSettings(items: ["a": .init(price: "price_1", mode: .payment)])
    #expect(try StripeProcessor(StripeSettings(), webhookSecrets: [], checkout: settings).checkouts == nil)
    #expect(try StripeProcessor(StripeSettings(), webhookSecrets: [], apiKey: "rk_1").checkouts == nil)
  }

  private static func reply(_ status: Int, _ body: String) -> BackendReply {
    .answer(status: status, contentType: "application/json", body: Array(body.utf8))
  }

  @Test func `The answer to a session is a redirect to its page`() throws {
    let url = "https://checkout.stripe.com/c/pay/cs_test_a1#fid%2Fx"
    let answer = try Self.answer(Self.reply(200, #"{"object":"checkout.session","url":"\#(url)"}"#))
    #expect(answer.status == 303)
    #expect(answer.headers["Location"] == url)
    #expect(answer.trouble == nil)
    let local = Self.reply(200, #"{"object":"checkout.session","url":"http://127.0.0.1/c"}"#)
    #expect(try Self.answer(local, base: "http://127.0.0.1:1").status == 303)
    #expect(try Self.answer(local).status == 502)
  }

  @Test(
    "Any other answer is a problem that says what to do, without a page and without Stripe's texts",
    arguments: [
      (.unreachable, 502, "processor-unreachable", .unreachable), (.busy, 503, "busy", nil),
      (.noAnswer(isTimeout: true), 504, "processor-timeout", .timeout),
      (.noAnswer(isTimeout: false), 502, "processor-unreachable", .unreachable),
      (reply(401, error), 502, "processor-credentials", .credentials),
      (reply(403, error), 502, "processor-credentials", .credentials),
      (reply(400, error), 422, "checkout-refused", nil), (reply(404, error), 422, "checkout-refused", nil),
      (reply(409, error), 503, "busy", nil), (reply(429, error), 503, "busy", nil),
      (reply(500, error), 502, "processor-failed", .failed),
      (reply(301, ""), 502, "processor-unreadable", .unreadable),
      (reply(200, "<html>"), 502, "processor-unreadable", .unreadable),
      (reply(200, #"{"object":"checkout.session","url":null}"#), 502, "processor-unreadable", .unreadable),
      (reply(200, #"{"object":"price","url":"https://a"}"#), 502, "processor-unreadable", .unreadable),
      (
        reply(200, #"{"object":"checkout.session","url":"javascript:alert(1)"}"#), 502,
        "processor-unreadable",
        .unreadable
      ),
      (
        reply(200, #"{"object":"checkout.session","url":"https://a\r\nX: y"}"#), 502, "processor-unreadable",
        .unreadable
      ),
    ] as [(BackendReply, Int, String, BackendTrouble?)])
  func problems(reply: BackendReply, status: Int, slug: String, trouble: BackendTrouble?) throws {
    let answer = try Self.answer(reply)
    #expect(answer.status == status)
    #expect(answer.trouble == trouble)
    #expect(answer.headers["Location"] == nil)
    #expect((answer.headers["Retry-After"] != nil) == (status >= 500 && trouble != .credentials))
    let problem = try JSONValue(parsing: answer.completed(requestID: "r1").body)
    #expect(problem["type"] == .string("urn:receiptd:problem:\(slug)"))
    #expect(problem["request_id"] == "r1")
    let detail = try #require(problem["detail"]?.stringValue)
    #expect(detail.contains("The context is stored"))
    #expect(!detail.contains("No such price"))
    if status == 422 {
      #expect(answer.errorID == "resource_missing invalid_request_error line_items[0][price]")
    }
  }

  private static let error = """
    {"error":{"type":"invalid_request_error","code":"resource_missing","param":"line_items[0][price]",
    "message":"No such price: 'price_1'"}}
    """
}
