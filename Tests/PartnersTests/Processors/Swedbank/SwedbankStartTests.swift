// The start of a payment: what Swedbank Pay gets, what is stored, and what the app is answered.

import Domain
import Formats
import Partners
import Testing

@Suite("Starting a Swedbank Pay payment")
struct SwedbankStartTests {
  typealias Samples = SwedbankSamples

  @Test func `SW01: The root has links to this host, which the app may keep for a while`() throws {
    for root in ["/v1/ios/swedbank/", "/v1/ios/users/u%201/swedbank/"] {
      var harness = try SwedbankHarness()
      let answer = try harness.send("GET", "", user: nil, contentType: nil, root: root)
      #expect(answer.status == 200)
      #expect(answer.contentType == "application/json")
      let links: JSONValue = [
        "consumers": .string(root + "consumers"), "paymentorders": .string(root + "paymentorders"),
      ]
      #expect(answer.json == links.normal)
      let caching = try #require(answer.headers["Cache-Control"])
      #expect(caching.contains(/max-age=[1-9]/))
      #expect(!caching.contains("no-store"), "the Android SDK keeps no such answer")
      #expect(harness.effects.isEmpty)
    }
  }

  @Test func `SW04: A session for a consumer is forwarded with the merchant's credentials`() throws {
    var harness = try SwedbankHarness()
    let session: JSONValue = [
      "token": "7e380fbb",
      "operations": [
        Samples.operation("view-consumer-identification", href: "https://ecom.payex.example/px.js?token=5a")
      ],
    ]
    harness.script = [.json(200, session)]
    let answer = try harness.send("POST", "consumers", Samples.consumers, user: nil)
    #expect(answer.status == 200)
    #expect(answer.contentType == "application/json")
    #expect(answer.body == session.serialized(), "the session's own token is for the app's page")
    let call = try #require(harness.calls.first)
    #expect(call.method == "POST")
    #expect(call.target == "/psp/consumers")
    #expect(call.body == Samples.consumers.serialized())
    #expect(call.headers == ["Content-Type": "application/json", "Forwarded": "for=203.0.113.9"])
    #expect(harness.backend.headers.contains { $0 == ("Authorization", "Bearer \(SwedbankHarness.token)") })
  }

  @Test func `An IPv6 payer's address is quoted, and a text that is no address is not forwarded`() throws {
    for (address, field) in [("2001:db8::1", "for=\"[2001:db8::1]\""), ("", nil), ("a\r\nX: y", nil)] {
      var harness = try SwedbankHarness()
      _ = try harness.send("POST", "consumers", Samples.consumers.serialized(), address: address)
      #expect(harness.calls.first?.headers["Forwarded"] == field)
    }
  }

  @Test(
    "SW05: A wrong session request is refused with the field's name, and nothing is sent",
    arguments: [
      ("operation", "other"), ("operation", nil), ("language", nil), ("language", ""),
      ("shippingAddressRestrictedToCountryCodes", "SE"), ("shippingAddressRestrictedToCountryCodes", [1]),
      ("more", 1),
    ] as [(String, JSONValue?)])
  func wrongConsumers(_ name: String, _ value: JSONValue?) throws {
    var harness = try SwedbankHarness()
    let answer = try harness.send("POST", "consumers", Samples.consumers.with(name, value))
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(answer.json?["detail"]?.stringValue?.contains(name) == true)
    #expect(harness.effects.isEmpty)
  }

  @Test("SW06: Swedbank Pay gets the merchant's id, a reference of ours and our callback; the rest unchanged")
  func start() throws {
    var harness = try SwedbankHarness()
    harness.script = [.json(201, Samples.createdV3)]
    let answer = try harness.send("POST", "paymentorders", Samples.orderV2)
    #expect(answer.status == 201)
    #expect(answer.contentType == "application/json")
    #expect(answer.body == Samples.createdV3.serialized())
    let call = try #require(harness.calls.first)
    #expect(call.method == "POST")
    #expect(call.target == "/psp/paymentorders")
    let sent = try #require(Samples.json(call.body)["paymentorder"])
    #expect(sent["payeeInfo"]?["payeeId"] == "payee-of-the-harness")
    let reference = try #require(sent["payeeInfo"]?["payeeReference"]?.stringValue)
    #expect(reference.wholeMatch(of: /[A-Za-z0-9]{1,30}/) != nil)
    let callback = try #require(sent["urls"]?["callbackUrl"]?.stringValue)
    #expect(
      callback.wholeMatch(of: /https:\/\/pay\.example\.com\/v1\/ios\/webhooks\/swedbank\/[\w-]{43}/) != nil)
    // Everything else is what the client wrote.
    let original = try #require(Samples.json(Samples.orderV2)["paymentorder"])
    let expected = original.with(
      "payeeInfo", ["payeeId": "payee-of-the-harness", "payeeReference": .string(reference)]
    ).with("urls", original["urls"]?.with("callbackUrl", .string(callback)))
    #expect(sent == expected.normal)
  }

  @Test func `A name of the payee replaces the client's only if one is configured`() throws {
    for (configured, sent) in [("Shop", "Shop"), (nil, "Merchant1")] as [(String?, String)] {
      var harness = try SwedbankHarness(SwedbankHarness.settings(payeeName: configured))
      _ = try harness.send("POST", "paymentorders", Samples.fullOrderV2)
      let body = Samples.json(try #require(harness.calls.first).body)
      #expect(body["paymentorder"]?["payeeInfo"]?["payeeName"] == .string(sent))
    }
  }

  @Test func `The payment is stored for its user before the app is answered`() throws {
    var harness = try SwedbankHarness()
    harness.contexts["ctx_1"] = "u1"
    harness.script = [.json(201, Samples.createdV3)]
    _ = try harness.send("POST", "paymentorders", SwedbankSamples.json(Samples.orderV3), contextID: "ctx_1")
    let report = PurchaseReport(
      key: SwedbankHarness.key(SwedbankHarness.order), observations: .started, prices: ["item987"],
      startedBy: "u1", startedIn: "ctx_1",
      payment: PaymentFacts(amount: "10.00", currency: "SEK", reference: SwedbankHarness.reference(1)),
      happenedAt: SwedbankHarness.startedAt)
    #expect(harness.reports == [report])
    #expect(harness.effects.last == .stored(report))
  }

  @Test("A payer becomes the user's before Swedbank Pay is called; another user's order is not sent")
  func payer() throws {
    var harness = try SwedbankHarness()
    let order = try #require(Samples.json(Samples.orderV3)["paymentorder"])
    let body: JSONValue = ["paymentorder": order.with("payer", ["payerReference": "payer-1"])]
    // There is no connection.
    #expect(try harness.send("POST", "paymentorders", body).status == 502)
    #expect(harness.owners == ["payer-1": "u1"])
    #expect(harness.calls.count == 1)
    let other = try harness.send("POST", "paymentorders", body, user: "u2")
    #expect(isSwedbankProblem(other, 404, "notfound"))
    #expect(harness.calls.count == 1)
    #expect(harness.reports.isEmpty)
  }

  @Test func `An order with a wrong context acquires no payer`() throws {
    var harness = try SwedbankHarness()
    let order = try #require(Samples.json(Samples.orderV3)["paymentorder"])
    let body: JSONValue = ["paymentorder": order.with("payer", ["payerReference": "payer-1"])]
    #expect(try harness.send("POST", "paymentorders", body, contextID: "ctx_1").status == 422)
    #expect(harness.owners.isEmpty)
  }

  @Test func `SW07: Two payments have different references, and both are stored`() throws {
    var harness = try SwedbankHarness()
    let second = "/psp/paymentorders/b0410cd0-61df-4548-a3ad-08da8caf7918"
    harness.script = [.json(201, Samples.createdV3), .json(201, Samples.created(id: second))]
    _ = try harness.send("POST", "paymentorders", Samples.orderV3)
    _ = try harness.send("POST", "paymentorders", Samples.orderV3)
    let references = harness.calls.map {
      Samples.json($0.body)["paymentorder"]?["payeeInfo"]?["payeeReference"]?.stringValue
    }
    #expect(Set(references).count == 2)
    #expect(harness.reports.map(\.key) == [SwedbankHarness.order, second].map(SwedbankHarness.key))
  }

  @Test("SW08: An order of version 2 gets a link to this host for its instrument, and the valid instruments")
  func linkOfVersion2() throws {
    for root in [SwedbankHarness.root, "/v1/ios/users/u1/swedbank/"] {
      var harness = try SwedbankHarness()
      harness.script = [.json(201, Samples.createdV2)]
      let answer = try harness.send("POST", "paymentorders", Samples.orderV2, root: root)
      let link = "\(root)paymentorders/09ccd29a-7c4f-4752-9396-12100cbfecce/setInstrument"
      let own: JSONValue = [
        "setInstrument": .string(link),
        "validInstruments": ["CreditCard", "Invoice-PayExFinancingSe", "Swish"],
      ]
      #expect(answer.json == Samples.createdV2.adding("mobileSDK", own).normal)
      // The bytes of Swedbank Pay's answer stay, up to its closing brace.
      #expect(answer.body.starts(with: Samples.createdV2.serialized().dropLast()))
    }
  }

  @Test("SW09: An order of version 3 is answered byte for byte, whatever its spelling and form")
  func bytesOfVersion3() throws {
    for name in ["paymentOrder", "paymentorder"] {
      let body =
        "{ \"\(name)\" :\t{\"id\":\"\(SwedbankHarness.order)\",\"big\":1234567890123456789012},\n"
        + "\"operations\":[{\"rel\":\"set-instrument\"},{\"rel\":\"abort\"}],\"s\":\"\\u00e9\\/\"}"
      var harness = try SwedbankHarness()
      harness.script = [.text(201, "application/json", body)]
      let answer = try harness.send("POST", "paymentorders", Samples.orderV3)
      #expect(answer.text == body)
      #expect(harness.reports.map(\.key) == [SwedbankHarness.key(SwedbankHarness.order)])
    }
  }

  @Test func `SW11: Members that this backend does not know reach Swedbank Pay unchanged`() throws {
    let order = Samples.json(Samples.orderV3)["paymentorder"] ?? .null
    let payer: JSONValue = ["nationalIdentifier": ["socialSecurityNumber": "1", "countryCode": "SE"]]
    let changed: JSONValue = [
      "paymentorder": order.with("payer", payer).with("metadata", ["a": .number(1.5)])
    ]
    for body in [Samples.fullOrderV2, Samples.checkinOrderV3, changed.serialized()] {
      var harness = try SwedbankHarness()
      harness.script = [.json(201, Samples.createdV3)]
      #expect(try harness.send("POST", "paymentorders", body).status == 201)
      let sent = Samples.json(try #require(harness.calls.first).body)["paymentorder"]
      let original = Samples.json(body)["paymentorder"]
      for name in ["payer", "metadata", "riskIndicator", "orderItems", "Checkin"] {
        #expect(sent?[name] == original?[name], "\(name)")
      }
    }
  }

  @Test func `Numbers and strings that the relay does not set are not written again`() throws {
    let text = String(decoding: Samples.orderV3, as: UTF8.self)
      .replacing("\"vatAmount\": 200,\n    \"desc", with: "\"vatAmount\": 2.0e2,\n    \"x\": 1E400, \"desc")
      .replacing("Order 12345678", with: "\\u004Frder \\/ \\ud83e\\uddfe")
    var harness = try SwedbankHarness()
    _ = try harness.send("POST", "paymentorders", Array(text.utf8))
    let sent = String(decoding: try #require(harness.calls.first).body, as: UTF8.self)
    #expect(sent.contains("\"vatAmount\": 2.0e2,\n    \"x\": 1E400, \"desc"))
    #expect(sent.contains("\\u004Frder \\/ \\ud83e\\uddfe"))
  }
}
