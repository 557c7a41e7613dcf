// The simulated Afterpay's decisions, without a server.

import Formats
import HTTPServer
import Sandbox
import Testing

@Suite("The simulated Afterpay's rules") struct SandboxAfterpayAccountTests {
  private static let now: Int64 = 1_800_000_000_000

  static func checkout(
    amount: JSONValue = "50.00", currency: JSONValue = "USD", email: JSONValue = "user@example.com",
    isCashAppPay: Bool = false, mode: String? = nil,
    confirmURL: JSONValue = "https://shop.example/confirm?a=1"
  ) -> JSONValue {
    let body: JSONValue = [
      "amount": ["amount": amount, "currency": currency], "consumer": ["email": email],
      "merchant": ["redirectConfirmUrl": confirmURL, "redirectCancelUrl": "shop://cancel"],
      "isCashAppPay": .bool(isCashAppPay), "merchantReference": "order-1",
    ]
    return mode.map { body.adding("mode", .string($0)) } ?? body
  }

  static let credentials = "Basic \(Base64.encode(Array("merchant:s3cret:x".utf8)))"

  private final class Rig {
    var account = SandboxAfterpayAccount(
      base: "http://127.0.0.1:1",
      settings: SandboxAfterpaySettings(merchantID: "merchant", secret: "s3cret:x"))

    func perform(_ action: SandboxAfterpayAction, on token: String) -> Bool {
      account.perform(action, on: token, now: now)
    }

    func send(
      _ method: String, _ target: String, _ body: JSONValue? = nil, changing: [String: String?] = [:],
      now: Int64 = now
    ) throws -> (status: Int, body: JSONValue) {
      var headers = [
        "Authorization": credentials, "User-Agent": "relay/1", "Accept": "application/json",
        "Content-Type": "application/json",
      ]
      for (name, value) in changing { headers[name] = value }
      let request = SandboxRequest(
        method, target, headers: headers.map { (name: $0.key, value: $0.value) },
        body: body?.serialized() ?? [])
      let response = account.answer(to: request, now: now).response
      return (response.status, try JSONValue(parsing: response.body))
    }

    /// - Returns: the token of a new checkout.
    func create(_ body: JSONValue = checkout()) throws -> String {
      let answer = try send("POST", "/v2/checkouts", body)
      try #require(answer.status == 201, "\(answer.body)")
      return try #require(answer.body["token"]?.stringValue)
    }

    func capture(_ token: String, now: Int64 = now) throws -> (status: Int, body: JSONValue) {
      try send("POST", "/v2/payments/capture", ["token": .string(token)], now: now)
    }
  }

  @Test func `A merchant needs credentials and a User-Agent`() throws {
    let rig = Rig()
    let other = "Basic \(Base64.encode(Array("merchant:other".utf8)))"
    for value in [nil, other, "Basic x", "Bearer abc"] {
      let answer = try rig.send("GET", "/v2/configuration", changing: ["Authorization": value])
      #expect(answer.status == 401, "\(value ?? "none")")
      #expect(answer.body["errorCode"] == "unauthorized")
      #expect(answer.body["httpStatusCode"] == 401)
    }
    #expect(try rig.send("GET", "/v2/configuration", changing: ["User-Agent": nil]).status == 403)
    #expect(try rig.send("GET", "/v2/configuration", changing: ["Accept": "text/html"]).status == 406)
    let body = Self.checkout()
    #expect(
      try rig.send("POST", "/v2/checkouts", body, changing: ["Content-Type": "text/plain"]).status == 415)
    #expect(try rig.send("GET", "/v2/checkouts").status == 405)
    #expect(try rig.send("GET", "/v2/other").status == 404)
    #expect(try rig.send("POST", "/v2/checkouts", [1]).body["errorCode"] == "invalid_json")
    let configuration = try rig.send("GET", "/v2/configuration").body
    #expect(configuration.text("minimumAmount", "amount") == "1.00")
    #expect(configuration.text("maximumAmount", "amount") == "2000.00")
  }

  @Test(arguments: [
    (checkout(amount: 50), "invalid_object"), (checkout(amount: "1,000"), "invalid_amount"),
    (checkout(amount: "1.234"), "invalid_object"), (checkout(amount: "FREE"), "invalid_object"),
    (checkout(amount: "-1"), "invalid_object"), (checkout(amount: "1e3"), "invalid_object"),
    (checkout(amount: ""), "invalid_object"), (checkout(amount: "5."), "invalid_object"),
    (checkout(amount: "99999999999999999999"), "invalid_object"),
    (checkout(currency: "usd"), "invalid_object"), (checkout(currency: "EUR"), "unsupported_currency"),
    (checkout(amount: "0.99"), "unsupported_payment_type"),
    (checkout(amount: "2000.01"), "unsupported_payment_type"), (checkout(email: ""), "invalid_object"),
    (checkout(confirmURL: .null), "invalid_object"),
    (checkout(isCashAppPay: true, mode: "express"), "invalid_object"),
  ])
  func `A wrong checkout is refused with its code`(_ body: JSONValue, _ code: String) throws {
    let rig = Rig()
    let answer = try rig.send("POST", "/v2/checkouts", body)
    #expect(answer.status == 422)
    #expect(answer.body["errorCode"] == .string(code))
    #expect(answer.body["errorId"]?.stringValue?.isEmpty == false)
    #expect(rig.account.list.isEmpty)
  }

  @Test(arguments: [("0.29", 29), ("1.13", 113), ("19.99", 1999), ("8.1", 810), ("7", 700)])
  func `Amounts are exact`(_ text: String, _ cents: Int64) throws {
    let rig = Rig()
    rig.account.settings.centsMin = 1
    let token = try rig.create(Self.checkout(amount: .string(text)))
    #expect(rig.account.checkout(token)?.amount == SandboxAfterpayAmount(cents: cents, currency: "USD"))
  }

  @Test func `A capture needs a confirmation, and charges once`() throws {
    let rig = Rig()
    let token = try rig.create()
    let early = try rig.capture(token)
    #expect(early.status == 412)
    #expect(early.body["errorCode"] == "invalid_order_transaction_status")
    #expect(try rig.send("GET", "/v2/payments/token:\(token)").status == 404)
    #expect(rig.perform(.confirm, on: token))
    let first = try rig.capture(token)
    #expect(first.status == 201)
    #expect(first.body["status"] == "APPROVED")
    #expect(first.body["paymentState"] == "CAPTURED")
    #expect(first.body.text("originalAmount", "amount") == "50.00")
    #expect(first.body.text("openToCaptureAmount", "amount") == "0.00")
    #expect(first.body["merchantReference"] == "order-1")
    let second = try rig.capture(token, now: Self.now + 86_400_000)
    #expect(second.status == 201)
    #expect(second.body == first.body)
    let lookup = try rig.send("GET", "/v2/payments/token%3A\(token)")
    #expect(lookup.status == 200)
    #expect(lookup.body == first.body)
    let id = try #require(first.body["id"]?.stringValue)
    #expect(try rig.send("GET", "/v2/payments/\(id)").body == first.body)
    let checkout = try #require(rig.account.checkout(token))
    #expect(checkout.charges == 1)
    #expect(checkout.captureRequests == 3)
    #expect(rig.account.ledger["charges"] == 1)
    #expect(rig.account.ledger["captureRequests"] == 3)
  }

  @Test func `Captures without a known, open token`() throws {
    let rig = Rig()
    #expect(try rig.send("POST", "/v2/payments/capture", [:]).status == 422)
    #expect(try rig.capture("").status == 422)
    let unknown = try rig.capture("005.x")
    #expect(unknown.status == 402)
    #expect(unknown.body["errorCode"] == "invalid_token")
    let token = try rig.create()
    #expect(rig.perform(.cancel, on: token))
    #expect(!rig.perform(.confirm, on: token))
    #expect(try rig.capture(token).status == 412)
    let grant: JSONValue = ["token": .string(token), "grantId": "GRG_1"]
    #expect(try rig.send("POST", "/v2/payments/capture", grant).status == 422, "not a documented member")
  }

  @Test func `A capture is possible for 180 minutes`() throws {
    let rig = Rig()
    let (one, two) = (try rig.create(), try rig.create())
    for token in [one, two] { #expect(rig.perform(.confirm, on: token)) }
    let end = Self.now + Duration.minutes(180).milliseconds
    #expect(try rig.capture(one, now: end).status == 201)
    #expect(try rig.capture(two, now: end + 1).status == 402)
    #expect(try rig.capture(one, now: end + 1).status == 201, "it was charged in time")
  }

  @Test func `A captured payment can be refunded, once`() throws {
    let rig = Rig()
    let token = try rig.create()
    #expect(rig.perform(.confirm, on: token))
    #expect(!rig.perform(.refund, on: token))
    #expect(try rig.capture(token).body.at("refunds", "0") == nil)
    #expect(rig.perform(.refund, on: token))
    #expect(!rig.perform(.refund, on: token))
    let payment = try rig.send("GET", "/v2/payments/token:\(token)").body
    #expect(payment["status"] == "APPROVED")
    #expect(payment.at("refunds", "0", "amount", "amount") == "50.00")
    #expect(payment.at("refunds", "1") == nil)
  }

  @Test func `Declines by e-mail address, by amount and by setting, as 402 or 201`() throws {
    let rig = Rig()
    func decline(_ body: JSONValue) throws -> (status: Int, body: JSONValue) {
      let token = try rig.create(body)
      #expect(rig.perform(.confirm, on: token))
      let answer = try rig.capture(token)
      #expect(try rig.capture(token).body == answer.body)
      #expect(rig.account.checkout(token)?.charges == 0)
      #expect(try rig.send("GET", "/v2/payments/token:\(token)").status == 200)
      return answer
    }
    let byAddress = try decline(Self.checkout(email: "Jane+Decline@example.com"))
    #expect(byAddress.status == 402)
    #expect(byAddress.body["status"] == "DECLINED")
    #expect(byAddress.body["paymentState"] == "CAPTURE_DECLINED")
    rig.account.settings.declineStatus = 201
    #expect(try decline(Self.checkout(amount: "10.51")).status == 201)
    rig.account.settings.decision = .decline
    #expect(try decline(Self.checkout()).body["status"] == "DECLINED")
  }

  @Test func `A Cash App payment is signed, validated, and then captured`() throws {
    let rig = Rig()
    let token = try rig.create(Self.checkout(isCashAppPay: true))
    let app: [String: String?] = ["Authorization": nil]
    let signed = try rig.send("POST", "/v2/payments/sign-payment", ["token": .string(token)], changing: app)
    #expect(signed.status == 200)
    #expect(signed.body["externalBrandId"] == "BRAND_ID")
    let ticket = try #require(signed.body["jwtToken"]?.stringValue)
    let parts = ticket.split(separator: ".")
    #expect(parts.count == 3)
    let bytes = Base64.decode(parts[1].utf8.span, .url)
    let payload = try JSONValue(parsing: try #require(bytes))
    #expect(payload["token"] == .string(token))
    #expect(payload.text("amount", "amount") == "50.00")
    #expect(payload.text("amount", "symbol") == "$")
    func validate(_ ticket: String, _ grant: String) -> JSONValue {
      ["jwt": .string(ticket), "externalCustomerId": "CST_1", "externalGrantId": .string(grant)]
    }
    let path = "/v2/payments/validate-payment"
    let wrong = try rig.send("POST", path, validate("a.b.c", "GRG_1"), changing: app)
    #expect(wrong.status == 422)
    #expect(wrong.body["message"]?.stringValue?.isEmpty == false)
    #expect(try rig.capture(token).status == 412)
    let validated = try rig.send("POST", path, validate(ticket, "GRG_1"), changing: app)
    #expect(validated.body["status"] == "SUCCESS")
    #expect(try rig.send("POST", path, validate(ticket, "GRG_1"), changing: app).status == 200)
    #expect(try rig.send("POST", path, validate(ticket, "GRG_2"), changing: app).status == 412)
    #expect(try rig.capture(token).status == 201)
    #expect(rig.account.checkout(token)?.grantID == "GRG_1")
    let plain = try rig.create()
    #expect(try rig.send("POST", "/v2/payments/sign-payment", ["token": .string(plain)]).status == 422)
  }
}
