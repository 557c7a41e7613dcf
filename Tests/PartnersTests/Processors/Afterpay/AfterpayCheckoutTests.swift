// How apps start payments with Afterpay (checks CA02–CA05).

import Domain
import Formats
import Testing

@testable import Partners

/// The published examples of Afterpay's API.
let afterpayExamples = try? JSONValue(parsing: PackageResources.afterpay_json)

private func clientAmounts(_ settings: inout AfterpaySettings) { settings.amountsAreClients = true }

@Suite("Afterpay: checkouts")
struct AfterpayCheckoutTests {
  @Test("CA02: A checkout names the amount, the customer and both URLs, and the app gets token and URL")
  func checkout() throws {
    let shop = try AfterpayShop(clientAmounts)
    let answer = try shop.start(#"{"email":"a@b.example","amount":"50.00","isCashAppPay":true}"#)
    #expect(answer.status == 200)
    #expect(answer["token"] == afterpayToken)
    #expect(answer["url"] == "https://portal.example/?token=\(afterpayToken)")
    #expect(shop.called == ["POST /v2/checkouts"])
    let body = try shop.lastBody()
    #expect(textMembers(body["amount"]) == ["amount=50.00", "currency=USD"])
    #expect(body["isCashAppPay"] == true)
    #expect(textMembers(body["consumer"]) == ["email=a@b.example"])
    #expect(body["merchant"]?["redirectConfirmUrl"] == "https://shop.example/confirm")
    #expect(body["merchant"]?["redirectCancelUrl"] == "shop://cancel")
    #expect(body["merchant"]?["popupOriginUrl"] == "https://static.afterpay.com")
    #expect(body["mode"] == nil)
    #expect(shop.calls.last?.headers == ["Content-Type": "application/json"])
    #expect(shop.calls.last?.timeout == .seconds(20))
  }

  @Test("CA02: The payment is stored with its user, context, price and amount before the app gets the token")
  func stored() throws {
    let shop = try AfterpayShop()
    shop.contexts = ["ctx_1": "u1"]
    _ = try shop.start()
    let report = try #require(shop.stored.last)
    #expect(report.key == PurchaseKey(processor: "afterpay", type: "payment", id: ObjectID(afterpayToken)))
    #expect(report.observations == .started)
    #expect(report.startedBy == "u1")
    #expect(report.prices == ["gold-yearly"])
    #expect(report.payment?.amount == "59.99")
    #expect(report.payment?.currency == "USD")
    let details = AfterpayDetails(try #require(report.payment))
    #expect(details.isCashAppPay)
    #expect(!details.isExpress)
    #expect(report.payment?.isCaptured == nil)
    #expect(report.payment?.reference == "ref1")
    #expect(report.startedIn == nil)
    let body = #"{"email":"a@b.example","price":"gold-yearly"}"#
    _ = try shop.request("checkout", body, context: "ctx_1")
    #expect(shop.stored.last?.startedIn == "ctx_1")
    #expect(try textMembers(shop.lastBody()["amount"]) == ["amount=59.99", "currency=USD"])
  }

  @Test func `CA02: A context that is not this user's is refused, and no payment is started`() throws {
    let shop = try AfterpayShop()
    shop.contexts = ["ctx_1": "u2"]
    let body = #"{"email":"a@b.example","price":"gold-yearly"}"#
    let answer = try shop.request("checkout", body, context: "ctx_1")
    #expect(answer.status == 422)
    #expect(answer.slug == "unknown-context")
    #expect(shop.calls.isEmpty)
  }

  @Test func `CA03: Without isCashAppPay, Afterpay gets false; the checkout's mode is passed on`() throws {
    for (body, mode) in [
      (#"{"email":"a@b.example","price":"gold-yearly"}"#, nil),
      (#"{"email":"a@b.example","price":"gold-yearly","isCashAppPay":null,"mode":null}"#, nil),
      (#"{"email":"a@b.example","price":"gold-yearly","mode":"express"}"#, "express"),
      (#"{"email":"a@b.example","price":"gold-yearly","isCashAppPay":false,"mode":"standard"}"#, "standard"),
    ] {
      let shop = try AfterpayShop()
      _ = try shop.start(body)
      let sent = try shop.lastBody()
      #expect(sent["isCashAppPay"] == false)
      #expect(sent["mode"]?.stringValue == mode)
      let details = AfterpayDetails(try #require(shop.stored.last?.payment))
      #expect(!details.isCashAppPay)
      #expect(details.isExpress == (mode == "express"))
    }
  }

  @Test func `CA04: Cash App Pay has no express checkout, and none outside of the USA`() throws {
    let shop = try AfterpayShop()
    let body = #"{"email":"a@b.example","price":"gold-yearly","mode":"express","isCashAppPay":true}"#
    let answer = try shop.request("checkout", body)
    #expect(answer.status == 400)
    #expect(answer.slug == "invalid-mode")
    let canada = try AfterpayShop { if let region = AfterpayRegion("CA") { $0.region = region } }
    let elsewhere = try canada.request(
      "checkout", #"{"email":"a@b.example","price":"gold-yearly","isCashAppPay":true}"#)
    #expect(elsewhere.status == 400)
    #expect(elsewhere.slug == "invalid-is-cash-app-pay")
    #expect((shop.calls + canada.calls).isEmpty)
  }

  @Test(
    "CA05: A malformed checkout is refused at once, and Afterpay is not called",
    arguments: [
      (#"{"amount":"50.00"}"#, "invalid-email"), (#"{"email":"a@b.example"}"#, "invalid-price"),
      (#"{"email":7,"amount":"50.00"}"#, "invalid-email"),
      (#"{"email":"","amount":"50.00"}"#, "invalid-email"),
      (#"{"email":"nobody","amount":"50.00"}"#, "invalid-email"),
      (#"{"email":"a@b\r\nX: y","amount":"50.00"}"#, "invalid-email"),
      (#"{"email":"a@b.example","amount":50}"#, "invalid-amount"),
      (#"{"email":"a@b.example","amount":50.00}"#, "invalid-amount"),
      (#"{"email":"a@b.example","amount":"0.00"}"#, "invalid-amount"),
      (#"{"email":"a@b.example","amount":"50.00","price":"gold-yearly"}"#, "invalid-amount"),
      (#"{"email":"a@b.example","amount":"50.00","mode":"fast"}"#, "invalid-mode"),
      (#"{"email":"a@b.example","amount":"50.00","mode":1}"#, "invalid-mode"),
      (#"{"email":"a@b.example","amount":"50.00","isCashAppPay":"yes"}"#, "invalid-is-cash-app-pay"),
      (#"{"email":"a@b.example","amount":"50.00","currency":"EUR"}"#, "invalid-member"),
      (#"{"email":"a@b.example","amount":"50.00""#, "invalid-json"), ("[]", "invalid-json"),
      ("", "invalid-json"), ("null", "invalid-json"),
    ])
  func malformed(body: String, slug: String) throws {
    let shop = try AfterpayShop(clientAmounts)
    let answer = try shop.request("checkout", body)
    #expect(answer.status == 400)
    #expect(answer.slug == slug)
    #expect(shop.calls.isEmpty)
    #expect(shop.stored.isEmpty)
  }

  @Test func `CA05: No other form of an amount is accepted`() throws {
    let rejected = try #require(elements(afterpayExamples?["centsTrap"]?["alsoReject"]))
    #expect(rejected.count > 5)
    for text in rejected.compactMap(\.stringValue) + ["50", "50.0", " 50.00", "5e1", "-0.01", "007.00"] {
      let shop = try AfterpayShop(clientAmounts)
      let body: JSONValue = ["email": "a@b.example", "amount": .string(text)]
      let answer = try shop.request("checkout", body.text)
      #expect(answer.status == 400, "\(text)")
      #expect(answer.slug == "invalid-amount", "\(text)")
      #expect(shop.calls.isEmpty)
    }
  }

  @Test func `CA05: Amounts are sent to the cent`() throws {
    let examples = try #require(elements(afterpayExamples?["centsTrap"]?["examples"]))
    #expect(examples.count > 20)
    let shop = try AfterpayShop(clientAmounts)
    for example in examples {
      let text = try #require(elements(example)?.first?.stringValue)
      _ = try shop.start(
        JSONValue.object([
          .init(name: "email", value: "a@b.example"),
          .init(name: "amount", value: .string(text)),
        ]).text)
      #expect(try shop.lastBody()["amount"]?["amount"]?.stringValue == text)
      let cents = try Money(text, #require(Currency("USD"))).map { JSONValue.integer($0.minorUnits) }
      #expect(cents == elements(example)?.last)
    }
  }

  @Test(
    "CA05: The app names no amount unless the configuration allows it, and no price that is not configured")
  func serversAmounts() throws {
    let shop = try AfterpayShop()
    let amount = try shop.request("checkout", #"{"email":"a@b.example","amount":"0.01"}"#)
    #expect(amount.status == 400)
    #expect(amount.slug == "invalid-amount")
    let price = try shop.request("checkout", #"{"email":"a@b.example","price":"free"}"#)
    #expect(price.status == 422)
    #expect(price.slug == "unknown-price")
    #expect(shop.calls.isEmpty)
  }

  @Test func `CA05: Only JSON is accepted`() throws {
    let body = #"{"email":"a@b.example","price":"gold-yearly"}"#
    for type in ["application/json", "application/json; charset=utf-8", "Application/JSON", nil] {
      let shop = try AfterpayShop.started()
      #expect(try shop.request("checkout", body, contentType: type).status == 200)
    }
    for type in ["text/plain", "application/x-www-form-urlencoded", "", "json", "application/jsonx"] {
      let shop = try AfterpayShop()
      let answer = try shop.request("checkout", body, contentType: type)
      #expect(answer.status == 415, "\(type)")
      #expect(answer.slug == "unsupported-media-type")
      #expect(shop.calls.isEmpty)
    }
  }
}

/// The members of an object of texts, in the order of their names.
func textMembers(_ value: JSONValue?) -> [String] {
  guard case .object(let members) = value else { return [] }
  return members.map { "\($0.name)=\($0.value.stringValue ?? $0.value.text)" }.sorted()
}

private func elements(_ value: JSONValue?) -> [JSONValue]? {
  guard case .array(let elements) = value else { return nil }
  return elements
}
