// Which payment orders are refused before Swedbank Pay sees them.

import Domain
import Formats
import Partners
import TestSupport
import Testing

extension OrderVector {
  fileprivate static let all = all(
    in: SwedbankSamples.json(PackageResources.swedbank_validation_json),
    changing: SwedbankSamples.json(SwedbankSamples.orderV3))
}

@Suite("Which Swedbank Pay payment orders are accepted")
struct SwedbankValidationTests {
  typealias Samples = SwedbankSamples

  @Test func `The recorded orders are complete`() {
    #expect(OrderVector.all.count > 20)
    #expect(Set(OrderVector.all.map(\.id)).count == OrderVector.all.count)
  }

  @Test(
    "SW10: An order that the example backend refuses is refused with its field", arguments: OrderVector.all)
  func vector(_ vector: OrderVector) throws {
    var harness = try SwedbankHarness()
    harness.script = [.json(201, Samples.createdV3)]
    let answer = try harness.send("POST", "paymentorders", vector.body)
    if vector.isRefused {
      #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
      let source = try #require(vector.source)
      #expect(answer.json?["source"] == .string(source))
      #expect(answer.json?["detail"]?.stringValue?.contains(source) == true)
      #expect(harness.effects.isEmpty)
    } else {
      #expect(answer.status == 201, "\(answer.text)")
      #expect(harness.reports.count == 1)
    }
  }

  /// The sample order with one of its members changed.
  private static func order(_ name: String, _ value: JSONValue?, in part: String? = nil) -> JSONValue {
    let order = Samples.json(Samples.orderV3)["paymentorder"] ?? .null
    guard let part else { return ["paymentorder": order.with(name, value)] }
    return ["paymentorder": order.with(part, (order[part] ?? [:]).with(name, value))]
  }

  @Test(
    arguments: [
      order("operation", "UnscheduledPurchase"), order("description", nil), order("description", .null),
      order("amount", .number(1e300)), order("amount", 9_007_199_254_740_992), order("amount", "1,00"),
      order("amount", "+1"), order("amount", ""), order("vatAmount", true), order("currency", 752),
      order("generateRecurrenceToken", 1), order("restrictedToInstruments", "Swish"),
      order("restrictedToInstruments", ["Swish", ""]), order("payer", []), order("orderItems", [:]),
      order("orderItems", [["reference": "P1"]]), order("disablePaymentMenu", "maybe"),
      order("hostUrls", "https://example.com/", in: "urls"), order("hostUrls", [1], in: "urls"),
      order("completeUrl", "", in: "urls"), order("callbackUrl", 1, in: "urls"),
      order("payeeId", nil, in: "payeeInfo"), order("payeeReference", 1, in: "payeeInfo"),
      order("orderReference", .string(String(repeating: "x", count: 51)), in: "payeeInfo"),
      order("payerReference", "", in: "payer"), order("email", 1, in: "payer"),
      order("preOrderDate", 19_801_231, in: "riskIndicator"),
      order("pickUpAddress", "Saltnes", in: "riskIndicator"), ["paymentorder": []], [:], [], "x", .null,
    ] as [JSONValue])
  func `A known member of another type is refused`(_ body: JSONValue) throws {
    var harness = try SwedbankHarness()
    let answer = try harness.send("POST", "paymentorders", body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test(
    arguments: [
      order("amount", "1000"), order("amount", -1), order("amount", 9_007_199_254_740_991),
      order("generatePaymentToken", "true"), order("productName", "checkout3"),
      order("orderItems", []), order("hostUrls", [], in: "urls"),
      order("payeeReference", .string(String(repeating: "é", count: 30)), in: "payeeInfo"),
    ] as [JSONValue])
  func `What the example backend converts is accepted and not changed`(_ body: JSONValue) throws {
    var harness = try SwedbankHarness()
    _ = try harness.send("POST", "paymentorders", body)
    let sent = Samples.json(try #require(harness.calls.first).body)["paymentorder"]
    for name in ["amount", "generatePaymentToken", "productName", "orderItems"] {
      #expect(sent?[name] == body["paymentorder"]?[name])
    }
  }

  @Test(
    "A name that is there twice, or in another case, could hide a value from the relay, so it is refused",
    arguments: [
      ("\"payeeInfo\"", "\"PayeeInfo\":{},\"payeeInfo\""), ("\"urls\"", "\"urls\":{},\"urls\""),
      ("\"completeUrl\"", "\"CallbackUrl\":\"https://x.test\",\"completeUrl\""),
      ("\"completeUrl\"", "\"callback\\u0055RL\":\"https://x.test\",\"completeUrl\""),
      ("\"payeeId\"", "\"PAYEEID\":\"x\",\"payeeId\""), ("\"payeeId\"", "\"PayeeName\":\"x\",\"payeeId\""),
      ("\"amount\"", "\"Amount\":1,\"amount\""),
      ("\"amount\"", "\"Payer\":{\"payerReference\":\"a\"},\"amount\""),
      ("\"amount\"", "\"payer\":{\"PayerReference\":\"a\"},\"amount\""),
      ("\"paymentorder\"", "\"PaymentOrder\":{},\"paymentorder\""),
      ("\"operation\"", "\"operation\":\"Recur\",\"operation\""),
    ])
  func spelling(_ name: String, _ replacement: String) throws {
    let text = String(decoding: Samples.orderV3, as: UTF8.self)
    let start = try #require(text.firstRange(of: name))
    var harness = try SwedbankHarness()
    let body = Array(text.replacingCharacters(in: start, with: replacement).utf8)
    #expect((try? JSONValue(parsing: body)) != nil)
    let answer = try harness.send("POST", "paymentorders", body)
    #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    #expect(harness.effects.isEmpty)
  }

  @Test func `Another media type, no JSON and no body are problems that the SDKs can parse (SW25)`() throws {
    for path in ["consumers", "paymentorders"] {
      for (type, body) in [
        ("text/plain", "{}"), (nil, "{}"), ("application/x-www-form-urlencoded", "a=b"),
        ("application/jsonx", "{}"),
      ] as [(String?, String)] {
        var harness = try SwedbankHarness()
        let answer = try harness.send("POST", path, Array(body.utf8), contentType: type)
        #expect(isSwedbankProblem(answer, 415, "mobilesdk/badrequest"))
        #expect(harness.effects.isEmpty)
      }
      for body in ["", "{", "{\"a\":}", "\u{0}", String(repeating: "[", count: 100_000)] {
        var harness = try SwedbankHarness()
        let answer = try harness.send(
          "POST", path, Array(body.utf8), contentType: "Application/JSON ; charset=x")
        #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
        #expect(harness.effects.isEmpty)
      }
    }
  }

  @Test(arguments: ["paymentToken", "recurrenceToken", "unscheduledToken", "PaymentToken"])
  func `A payment with a token needs its permission`(_ name: String) throws {
    let body = Self.order(name, "5a17c24e")
    var harness = try SwedbankHarness()
    let refused = try harness.send("POST", "paymentorders", body)
    #expect(isSwedbankProblem(refused, 401, "mobilesdk/unauthorized"))
    #expect(harness.effects.isEmpty)
    harness = try SwedbankHarness(SwedbankHarness.settings(allow: .init(usePaymentToken: true)))
    harness.script = [.json(201, Samples.createdV3)]
    #expect(try harness.send("POST", "paymentorders", body).status == 201)
  }

  @Test func `A payment needs its user, and a context that is named must be the user's`() throws {
    var harness = try SwedbankHarness()
    let nobody = try harness.send("POST", "paymentorders", Samples.orderV3, user: nil)
    #expect(isSwedbankProblem(nobody, 400, "mobilesdk/badrequest"))
    harness.contexts["ctx_2"] = "u2"
    for context in ["ctx_1", "ctx_2"] as [ContextID] {
      let answer = try harness.send("POST", "paymentorders", Samples.orderV3, contextID: context)
      #expect(isSwedbankProblem(answer, 422, "mobilesdk/badrequest"))
    }
    #expect(harness.effects.isEmpty)
  }

  @Test func `A payer belongs to the user who was the first to name it`() throws {
    var harness = try SwedbankHarness()
    let body = Self.order("payerReference", "payer-1", in: "payer")
    harness.script = [.json(201, Samples.createdV3)]
    _ = try harness.send("POST", "paymentorders", body, user: "u1")
    #expect(harness.reports.map(\.customerID) == ["payer-1"])
    let other = try harness.send("POST", "paymentorders", body, user: "u2")
    #expect(isSwedbankProblem(other, 404, "notfound"))
    #expect(harness.calls.count == 1)
    harness.script = [.json(201, Samples.createdV3)]
    #expect(try harness.send("POST", "paymentorders", body, user: "u1").status == 201)
    for wrong in [String(repeating: "x", count: 256), "a\u{0}b"] {
      let answer = try harness.send(
        "POST", "paymentorders", Self.order("payerReference", .string(wrong), in: "payer"))
      #expect(isSwedbankProblem(answer, 400, "mobilesdk/badrequest"))
    }
  }

  @Test func `Products are prices, and fees are not; each counts once`() throws {
    let item = Samples.json(Samples.orderV3)["paymentorder"]?["orderItems"]?.elements.first ?? .null
    let items = [
      ("P1", "PRODUCT"), ("F", "PAYMENT_FEE"), ("P2", "SERVICE"), ("P1", "PRODUCT"), ("", "OTHER"),
    ]
    var harness = try SwedbankHarness()
    harness.script = [.json(201, Samples.createdV3)]
    _ = try harness.send(
      "POST", "paymentorders",
      Self.order(
        "orderItems",
        .array(items.map { item.with("reference", .string($0.0)).with("type", .string($0.1)) })))
    #expect(harness.reports.map(\.prices) == [["P1", "P2"]])
  }

  @Test(
    "An amount is stored in major units with the decimals of its currency (ISO 4217)",
    arguments: [
      (1000, "SEK", "10.00"), (5, "SEK", "0.05"), (0, "EUR", "0.00"), (-150, "NOK", "-1.50"),
      (500, "JPY", "500"), (500, "ISK", "500"), (1234, "KWD", "1.234"), (7, "KWD", "0.007"),
      (12_345, "CLF", "1.2345"), (9_007_199_254_740_991, "SEK", "90071992547409.91"), (100, "sek", nil),
      (100, "KRONOR", nil),
    ] as [(Int64, String, String?)])
  func amounts(_ amount: Int64, _ currency: String, _ text: String?) throws {
    var order = Self.order("amount", .integer(amount))
    order = ["paymentorder": (order["paymentorder"] ?? .null).with("currency", .string(currency))]
    var harness = try SwedbankHarness()
    harness.script = [.json(201, Samples.createdV3)]
    _ = try harness.send("POST", "paymentorders", order)
    let facts = try #require(harness.reports.first?.payment)
    #expect(facts.amount == text)
    #expect(facts.currency == (text == nil ? nil : currency))
  }

  @Test("An answer without a usable id is not passed on, because nobody could follow the payment")
  func noID() throws {
    for id in ["", "/psp/../x", "https://evil.test/psp/paymentorders/1", "//evil.test/x", "x", "/a b"] {
      var harness = try SwedbankHarness()
      harness.script = [.json(201, Samples.created(id: id))]
      let answer = try harness.send("POST", "paymentorders", Samples.orderV3)
      #expect(isSwedbankProblem(answer, 502, "mobilesdk/badgateway"))
      #expect(answer.trouble == .unreadable)
      #expect(harness.reports.isEmpty)
    }
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}
