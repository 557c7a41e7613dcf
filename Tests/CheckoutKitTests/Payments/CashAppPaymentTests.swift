// Signed orders and validated grants of Cash App Pay.

import CheckoutKit
import Foundation
import HTTPServer
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite struct CashAppPaymentTests {
  private static func client(
    _ transport: any Transport, clock: any CheckoutClock = InstantClock()
  ) -> CashAppPayment {
    CashAppPayment(
      .sandbox, transport: transport, retries: RetryPolicy(attemptsMax: 3, jitter: 0), clock: clock)
  }

  private static func order(_ body: String = PaymentExample.signed(PaymentExample.jwt)) async throws
    -> SignedCashAppOrder
  {
    try await client(ScriptedTransport(.answer(200, body))).sign(PaymentExample.token)
  }

  private static func fault(_ body: String) async throws -> CashAppError {
    try await #require(throws: CashAppError.self) { try await order(body) }
  }

  private static func isInvalidToken(_ error: CashAppError) -> Bool {
    if case .invalidToken = error { true } else { false }
  }

  // MARK: Signing

  @Test func `CA21: a signed order has its exact amount, redirect URL, merchant and brand`() async throws {
    let transport = ScriptedTransport(.answer(200, PaymentExample.signed(PaymentExample.jwt)))
    let order = try await Self.client(transport).sign(PaymentExample.token)
    #expect(order.cents == 5000)
    #expect(order.amount == PaymentAmount(amount: "50.00", currency: "USD"))
    #expect(order.redirectURL == (try url("https://static-us.afterpay.com/javascript/button/index.html")))
    #expect(order.merchantID == "MMI_6nvgu9voweagwt5dn0kdteaio")
    #expect(order.brandID == "BRAND_ID")
    #expect(order.jwt == PaymentExample.jwt)
    let request = try #require(transport.sent.first)
    #expect(
      request.url?.absoluteString == "https://api-plus.us-sandbox.afterpay.com/v2/payments/sign-payment")
    #expect(request.httpMethod == "POST")
    #expect(request.value(forHTTPHeaderField: "Content-Type") == "application/json; charset=utf-8")
    #expect(request.value(forHTTPHeaderField: "Accept") == "application/json")
    #expect(request.value(forHTTPHeaderField: "Authorization") == nil)
    let body = try JSONDecoder().decode([String: String].self, from: try #require(request.httpBody))
    #expect(body == ["token": PaymentExample.token])
  }

  @Test func `CA21: production and sandbox have their own address and client id`() async throws {
    let transport = ScriptedTransport(.answer(200, PaymentExample.signed(PaymentExample.jwt)))
    _ = try await CashAppPayment(.production, transport: transport).sign(PaymentExample.token)
    let address = "https://api-plus.us.afterpay.com/v2/payments/sign-payment"
    #expect(transport.sent.first?.url?.absoluteString == address)
    #expect(CashAppPayment.Environment.production.clientID == "CA-CI_AFTERPAY")
    #expect(CashAppPayment.Environment.sandbox.clientID == "CAS-CI_AFTERPAY")
  }

  @Test(arguments: ["", "a/b", "..", "a\r\nb", "é"])
  func `CA21: a token that cannot be a checkout's is not sent`(_ token: String) async throws {
    let transport = ScriptedTransport()
    await #expect(throws: CashAppError.self) { try await Self.client(transport).sign(token) }
    #expect(transport.sent.isEmpty)
  }

  @Test(
    "CA22: an amount that is not an exact number of cents in dollars is refused",
    arguments: [
      #"{"amount":"1,000","currency":"USD"}"#, #"{"amount":"1.234","currency":"USD"}"#,
      #"{"amount":"","currency":"USD"}"#, #"{"amount":"-1.00","currency":"USD"}"#,
      #"{"amount":"1e3","currency":"USD"}"#, #"{"amount":"NaN","currency":"USD"}"#,
      // A JSON number would have been a floating-point number.
      #"{"amount":50.00,"currency":"USD"}"#, #"{"amount":"50.00","currency":"JPY"}"#,
      #"{"amount":"50.00"}"#, #""50.00""#, "null", "[]",
    ])
  func refusesAmounts(_ amount: String) async throws {
    let body = PaymentExample.signed(payload: PaymentExample.payload(amount: amount))
    #expect(try await Self.fault(body) == .invalidAmount)
  }

  @Test func `CA22: a signed amount keeps its cents`() async throws {
    let amount = #"{"amount":"19.99","currency":"USD"}"#
    let order = try await Self.order(PaymentExample.signed(payload: PaymentExample.payload(amount: amount)))
    #expect(order.cents == 1999)
  }

  @Test(arguments: ["null", "7", #""""#, #""/relative""#, #""javascript:alert(1)""#, #""file:///etc/hosts""#])
  func `A redirect URL that cannot be opened is refused`(_ redirect: String) async throws {
    let body = PaymentExample.signed(payload: PaymentExample.payload(redirect: redirect))
    #expect(try await Self.fault(body) == .invalidRedirectURL)
  }

  /// The documented order, with faults.
  private static let brokenTokens: [String] = {
    let segments = PaymentExample.segments
    let (head, payload, signature) = (segments[0], segments[1], segments[2])
    return [
      "", ".", "..", "...", head, "\(head).\(payload)", "\(head).\(payload).", ".\(payload).\(signature)",
      "\(head)..\(signature)", "\(PaymentExample.jwt).x", "\(PaymentExample.jwt).",
      // Padding, the standard alphabet, blanks, other text, an impossible length, bits of no byte.
      "\(head).\(payload)==.\(signature)", "\(head)=.\(payload).\(signature)",
      "\(head).\(payload).\(signature.replacingOccurrences(of: "_", with: "/"))",
      "\(head). \(payload).\(signature)", "\(head).\(payload).*", "\(head).é.\(signature)",
      "\(head).\(payload).\(signature)AAA", "\(head).\(payload).AB", "\(head).AAAAA.\(signature)",
      "\(head).Af.\(signature)",
    ]
  }()

  @Test(arguments: brokenTokens)
  func `CA23: a token without three segments in strict base64url is refused`(_ jwt: String) async throws {
    #expect(Self.isInvalidToken(try await Self.fault(PaymentExample.signed(jwt))))
  }

  @Test(
    "CA23: a payload that is not a JSON object with a merchant is refused",
    arguments: [
      "[]", "[{}]", #""text""#, "7", "null", "true", "{", "not JSON", "{}", "\u{0}",
      #"{"externalMerchantId":7}"#, PaymentExample.payload(merchant: "null"),
      PaymentExample.payload(merchant: #""""#), String(repeating: "[", count: 100_000),
      String(repeating: #"{"a":"#, count: 100_000),
    ])
  func refusesPayloads(_ payload: String) async throws {
    #expect(Self.isInvalidToken(try await Self.fault(PaymentExample.signed(payload: payload))))
  }

  @Test func `CA23: a payload that is not UTF-8 is refused`() async throws {
    // A lead byte without its continuation, inside of a string.
    let bytes = Data(#"{"externalMerchantId":""#.utf8) + [0xC3] + Data(#""}"#.utf8)
    let payload = bytes.base64EncodedString().trimmingCharacters(in: ["="])
    let jwt = [PaymentExample.segments[0], payload, PaymentExample.segments[2]].joined(separator: ".")
    #expect(Self.isInvalidToken(try await Self.fault(PaymentExample.signed(jwt))))
  }

  @Test(arguments: [
    "", "[]", "{}", "<html>", #"{"jwtToken":7,"externalBrandId":"B"}"#,
    #"{"jwtToken":"\#(PaymentExample.jwt)"}"#,
    #"{"jwtToken":"\#(PaymentExample.jwt)","externalBrandId":""}"#,
  ])
  func `CA23: an answer without token or brand is unexpected`(_ body: String) async throws {
    let expected = RelayError.unexpectedAnswer(status: 200, body: OperatorText(body))
    #expect(try await Self.fault(body) == .failed(expected))
  }

  // MARK: Validating

  @Test("CA24: a grant is validated with the signed order, and the customer's name is returned")
  func validates() async throws {
    let transport = ScriptedTransport(.answer(200, PaymentExample.validated()))
    let grant = try await Self.client(transport)
      .validate(Self.order(), grantID: PaymentExample.grant, customerID: "CST_1")
    #expect(grant.cashtag == "$jane")
    let request = try #require(transport.sent.first)
    let address = "https://api-plus.us-sandbox.afterpay.com/v2/payments/validate-payment"
    #expect(request.url?.absoluteString == address)
    let body = try JSONDecoder().decode([String: String].self, from: try #require(request.httpBody))
    let expected = [
      "jwt": PaymentExample.jwt, "externalCustomerId": "CST_1", "externalGrantId": PaymentExample.grant,
    ]
    #expect(body == expected)
  }

  private static func validationFault(_ steps: ScriptedTransport.Step...) async throws -> CashAppError {
    let order = try await order()
    return try await #require(throws: CashAppError.self) {
      try await client(ScriptedTransport(steps)).validate(order, grantID: "GRG_1", customerID: "CST_1")
    }
  }

  @Test(arguments: ["FAILURE", "success", "", "SUCCESS "])
  func `CA24: a status other than SUCCESS is not valid`(_ status: String) async throws {
    let error = try await Self.validationFault(.answer(200, PaymentExample.validated(status)))
    #expect(error == .notValid(status: OperatorText(status)))
  }

  @Test(arguments: ["", "{}", "[]", #"{"status":1}"#, #"{"status":null}"#])
  func `CA24: a validation without a status is unexpected`(_ body: String) async throws {
    let expected = RelayError.unexpectedAnswer(status: 200, body: OperatorText(body))
    #expect(try await Self.validationFault(.answer(200, body)) == .failed(expected))
  }

  @Test func `CA24: a failure has Afterpay's message`() async throws {
    let body = #"{"errorCode":"invalid_object","errorId":"e1","message":"No grant","httpStatusCode":422}"#
    #expect(try await Self.validationFault(.answer(422, body)) == .http(status: 422, message: "No grant"))
  }

  @Test(arguments: ["", "{}", "[]", "<html>", #"{"message":7}"#, #"{"message":null}"#, #"{"message":""}"#])
  func `CA24: a failure without a text as message has another text`(_ body: String) async throws {
    let error = try await Self.validationFault(.answer(400, body))
    #expect(error == .http(status: 400, message: "It sent no message."))
    #expect(error.logText.forLog == "Afterpay answered 400. It sent no message.")
  }

  // MARK: The network

  @Test func `A step is repeated while the network fails, and ends with the failure`() async throws {
    let clock = InstantClock()
    let transport = ScriptedTransport(
      ScriptedTransport.offline, .answer(503), .answer(200, PaymentExample.signed(PaymentExample.jwt)))
    _ = try await Self.client(transport, clock: clock).sign(PaymentExample.token)
    #expect(clock.pauses == [0.5, 1])
    #expect(Set(transport.sent.map(\.httpBody)).count == 1)
    let dead = Self.client(ScriptedTransport())
    let error = try await #require(throws: CashAppError.self) { try await dead.sign(PaymentExample.token) }
    guard case .failed(.network) = error else { return unexpected(error) }
    #expect(error.advice == .checkConnection)
  }

  @Test func `CA21, CA24: over a socket, an order is signed and its grant is validated`() async throws {
    try await StandIn.run { request in
      switch request.head.path {
      case "/v2/payments/sign-payment":
        Response(json: PaymentExample.signed(PaymentExample.jwt))
      case "/v2/payments/validate-payment":
        Response(json: PaymentExample.validated())
      default: Response(status: 500)
      }
    } _: { standIn, port in
      let client = Self.client(LocalTransport(port), clock: SystemClock())
      let order = try await client.sign(PaymentExample.token)
      #expect(order.cents == 5000)
      let grant = try await client.validate(order, grantID: PaymentExample.grant, customerID: "CST_1")
      #expect(grant.cashtag == "$jane")
      #expect(standIn.requests.withLock(\.count) == 2)
    }
  }

  @Test func `No printed form of an error has Afterpay's text`() {
    let secret = "internal words"
    let errors: [CashAppError] = [
      .http(status: 422, message: OperatorText(secret)), .http(status: 503, message: OperatorText(secret)),
      .failed(.network(code: -1009, description: OperatorText(secret))), .invalidToken(OperatorText(secret)),
      .notValid(status: OperatorText(secret)),
      .failed(.unexpectedAnswer(status: 200, body: OperatorText(secret))),
      .invalidAmount, .invalidRedirectURL,
    ]
    for error in errors {
      var dumped = ""
      dump(error, to: &dumped)
      for printed in [error.localizedDescription, "\(error)", String(reflecting: error), dumped] {
        #expect(!printed.contains(secret))
      }
      #expect(!error.logText.forLog.isEmpty)
    }
    #expect(Set(errors.map(\.localizedDescription)).count == RelayError.Advice.allCases.count)
  }
}
