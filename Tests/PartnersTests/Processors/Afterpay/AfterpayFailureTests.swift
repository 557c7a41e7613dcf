// Afterpay's configuration and limits, and what apps get when Afterpay refuses or fails (checks CA01 and
// CA06–CA09).

import Domain
import Formats
import Partners
import Testing

private let limits: BackendReply = .afterpay(
  200,
  [
    "minimumAmount": ["amount": "10.00", "currency": "USD"],
    "maximumAmount": ["amount": "2000.00", "currency": "USD"],
  ])

@Suite("Afterpay: the configuration and failures")
struct AfterpayFailureTests {
  @Test("CA01: The configuration has Afterpay's limits and the region's locale, and is fetched once")
  func configuration() throws {
    let shop = try AfterpayShop()
    shop.reply("GET /v2/configuration", limits)
    let answer = try shop.request("configuration", user: nil)
    #expect(answer.status == 200)
    #expect(answer.type == "application/json")
    let documented = afterpayExamples?["exampleServer"]?["GET /configuration"]?["response"]
    for name in ["minimumAmount", "maximumAmount", "locale"] {
      let value = try #require(documented?[name])
      #expect(textMembers(answer.json[name]) == textMembers(value), "\(name)")
    }
    #expect(shop.called == ["GET /v2/configuration"])
    #expect(try shop.request("configuration", user: "u2").json == answer.json)
    #expect(shop.called.count == 1, "the second answer is cached")
  }

  @Test("CA01: Every call has the merchant's credentials and identifies the program, to the configured host")
  func headers() throws {
    let shop = try AfterpayShop()
    let lists = [shop.backend.headers, shop.captures.headers, try #require(shop.processor.queries).headers]
    for headers in lists {
      let values = Dictionary(headers.map { ($0.name, $0.value) }) { first, _ in first }
      #expect(values["Authorization"] == "Basic NjAwMDMyMDAwOnNrLWFmdGVycGF5LXZlcnktc2VjcmV0")
      #expect(
        values["User-Agent"] == "receiptd (Receipt Relay; Linux; Merchant/600032000) https://shop.example")
      #expect(values["Accept"] == "application/json")
    }
    #expect(shop.backend.base == "https://afterpay.example")
    #expect(shop.captures.base == shop.backend.base)
    #expect(shop.processor.queries?.base == shop.backend.base)
  }

  @Test("CA01: A configuration without a minimum is complete; one without a maximum cannot be used")
  func partialLimits() throws {
    let shop = try AfterpayShop()
    shop.reply(
      "GET /v2/configuration", .afterpay(200, ["maximumAmount": ["amount": "9.00", "currency": "USD"]]))
    let answer = try shop.request("configuration")
    #expect(answer.json["minimumAmount"] == nil)
    #expect(textMembers(answer.json["maximumAmount"]) == ["amount=9.00", "currency=USD"])
    for odd: JSONValue in [[:], ["maximumAmount": 7], ["maximumAmount": ["amount": 9, "currency": "USD"]]] {
      let other = try AfterpayShop()
      other.reply("GET /v2/configuration", .afterpay(200, odd))
      let answer = try other.request("configuration")
      #expect(answer.status == 502)
      #expect(answer.slug == "processor-unreadable")
    }
  }

  @Test func `CA06: An amount outside of the cached limits is refused as Afterpay would`() throws {
    let shop = try AfterpayShop { $0.amountsAreClients = true }
    shop.reply("GET /v2/configuration", limits)
    _ = try shop.request("configuration")
    for amount in ["9.99", "2000.01"] {
      let answer = try shop.request("checkout", #"{"email":"a@b.example","amount":"\#(amount)"}"#)
      #expect(answer.status == 422)
      #expect(answer.slug == "payment-refused")
      #expect(answer["errorCode"] == "unsupported_payment_type")
    }
    #expect(shop.called == ["GET /v2/configuration"])
    for amount in ["10.00", "2000.00"] {
      #expect(try shop.start(#"{"email":"a@b.example","amount":"\#(amount)"}"#).status == 200)
    }
  }

  @Test("CA06: Without cached limits, Afterpay's own refusal is forwarded and no other call is made")
  func forwardedLimits() throws {
    let shop = try AfterpayShop { $0.amountsAreClients = true }
    shop.reply("POST /v2/checkouts", .afterpayError(422, "unsupported_payment_type"))
    let answer = try shop.request("checkout", #"{"email":"a@b.example","amount":"5000.00"}"#)
    #expect(answer.status == 422)
    #expect(answer["errorCode"] == "unsupported_payment_type")
    #expect(shop.called == ["POST /v2/checkouts"])
  }

  @Test func `CA07: Afterpay's refusal keeps its status, code and message, and its id is logged`() throws {
    let shop = try AfterpayShop()
    shop.reply("POST /v2/checkouts", .afterpayError(422, "invalid_object", "amount is invalid"))
    let answer = try shop.request("checkout", #"{"email":"a@b.example","price":"gold-yearly"}"#)
    #expect(answer.status == 422)
    #expect(answer.slug == "payment-refused")
    #expect(answer["errorCode"] == "invalid_object")
    #expect(answer["message"] == "amount is invalid")
    #expect(answer.answer.errorID == "err-7")
    #expect(answer.answer.trouble == nil)
    #expect(shop.stored.isEmpty)
  }

  @Test func `CA08: Refused credentials are a fault of this service, and its answer has no secret`() throws {
    for path in ["configuration", "checkout"] {
      for status in [401, 403] {
        let shop = try AfterpayShop()
        shop.reply("GET /v2/configuration", .afterpayError(status, "unauthorized"))
        shop.reply("POST /v2/checkouts", .afterpayError(status, "unauthorized"))
        let answer = try shop.request(path, #"{"email":"a@b.example","price":"gold-yearly"}"#)
        #expect(answer.status == 502)
        #expect(answer.slug == "processor-credentials")
        #expect(answer.answer.trouble == .credentials)
        #expect(!answer.json.text.contains(afterpaySecret))
        #expect(!answer.json.text.contains("NjAwMDMyMDAwOnNr"))
      }
    }
  }

  @Test func `CA09: Each failure of Afterpay has its answer, and no address is in it`() throws {
    let failures: [(BackendReply, Int, String, BackendTrouble?)] = [
      (.unreachable, 502, "processor-unreachable", .unreachable),
      (.noAnswer(isTimeout: true), 504, "processor-timeout", .timeout),
      (.noAnswer(isTimeout: false), 502, "processor-unreachable", .unreachable),
      (.busy, 503, "busy", nil), (.page(500, ""), 502, "processor-failed", .failed),
      (.page(503, "<html>"), 502, "processor-failed", .failed),
      (.afterpayError(429, "too_many"), 502, "processor-failed", .failed),
      (.page(200, "<html>"), 502, "processor-unreadable", .unreadable),
      (.page(200, ""), 502, "processor-unreadable", .unreadable),
      (.afterpay(200, ["token": 1]), 502, "processor-unreadable", .unreadable),
      (.afterpay(204, [:]), 502, "processor-unreadable", .unreadable),
      (.page(302, "https://evil.example"), 502, "processor-unreadable", .unreadable),
      (.page(404, "not here"), 502, "processor-unreadable", .unreadable),
      (.afterpayError(400, "invalid_json"), 502, "processor-unreadable", .unreadable),
    ]
    for (reply, status, slug, trouble) in failures {
      for path in ["configuration", "checkout"] {
        let shop = try AfterpayShop()
        shop.reply("GET /v2/configuration", reply)
        shop.reply("POST /v2/checkouts", reply)
        let answer = try shop.request(path, #"{"email":"a@b.example","price":"gold-yearly"}"#)
        #expect(answer.status == status, "\(reply)")
        #expect(answer.slug == slug, "\(reply)")
        #expect(answer.answer.trouble == trouble, "\(reply)")
        #expect(!answer.json.text.contains("afterpay.example"))
        #expect(shop.calls.count == 1)
        #expect(shop.stored.isEmpty)
      }
    }
  }

  @Test func `CA09: A checkout whose answer has no token or no page is not given to the app`() throws {
    for odd: JSONValue in [
      [:], ["token": "a/b", "redirectCheckoutUrl": "https://x.example"], ["token": "ok"],
      ["token": "ok", "redirectCheckoutUrl": "javascript:alert(1)"],
      ["token": "..", "redirectCheckoutUrl": "https://x.example"],
      ["token": "", "redirectCheckoutUrl": "https://x.example"],
    ] {
      let shop = try AfterpayShop()
      shop.reply("POST /v2/checkouts", .afterpay(201, odd))
      let answer = try shop.request("checkout", #"{"email":"a@b.example","price":"gold-yearly"}"#)
      #expect(answer.slug == "processor-unreadable")
      #expect(shop.stored.isEmpty)
    }
  }
}
