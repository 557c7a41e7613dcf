// The server's amounts: an order with any other one is not sent.

import Domain
import Formats
import Testing

@testable import Partners

@Suite("The prices of Swedbank Pay's orders")
struct SwedbankPriceTests {
  typealias Samples = SwedbankSamples

  private static func price(_ amount: Int64, vat: Int64, _ currency: String = "SEK") throws -> SwedbankPrice {
    SwedbankPrice(amount: Money(minorUnits: amount, try #require(Currency(currency))), vat: vat)
  }

  /// A harness whose app has the price of the sample's only line, and others.
  private static func harness(_ more: [PriceID: SwedbankPrice] = [:]) throws -> SwedbankHarness {
    var settings = SwedbankHarness.settings()
    settings.prices = try [
      "item987": price(1000, vat: 200), "gold": price(5999, vat: 1200),
      "fake": price(1000, vat: 200, "NOK"),
    ].merging(more) { $1 }
    return try SwedbankHarness(settings)
  }

  /// The sample order, changed.
  private static func order(
    _ changes: [String: JSONValue] = [:], items: JSONValue? = nil, hasItems: Bool = true
  ) throws -> JSONValue {
    var order = try #require(Samples.json(Samples.orderV3)["paymentorder"])
    for (name, value) in changes { order = order.with(name, value) }
    if let items { order = order.with("orderItems", items) }
    if !hasItems { order = order.with("orderItems", nil) }
    return ["paymentorder": order]
  }

  /// The sample's only line, changed.
  private static func line(_ changes: [String: JSONValue] = [:]) throws -> JSONValue {
    var line = try #require(Samples.json(Samples.orderV3)["paymentorder"]?["orderItems"]?.elements.first)
    for (name, value) in changes { line = line.with(name, value) }
    return line
  }

  @Test func `SW29: An order with a price's amount is sent, and its lines stay byte for byte`() throws {
    var harness = try Self.harness()
    harness.script = [.json(201, Samples.createdV3)]
    let body = try Self.order()
    #expect(try harness.send("POST", "paymentorders", body).status == 201)
    let sent = Samples.json(try #require(harness.calls.first).body)["paymentorder"]
    #expect(sent?["orderItems"] == body["paymentorder"]?["orderItems"]?.normal)
    #expect(harness.reports.map(\.prices) == [["item987"]])
  }

  /// The members that an altered app changes, and the one that is named.
  static let altered: [(changes: [String: JSONValue], line: [String: JSONValue], source: String)] = [
    (["amount": 1], [:], "amount"), (["amount": 999], [:], "amount"), (["vatAmount": 0], [:], "vatAmount"),
    (["currency": "NOK"], [:], "currency"), (["amount": "1"], [:], "amount"),
    (["amount": -1000], [:], "amount"),
    ([:], ["reference": "free"], "orderItems[0].reference"),
    (["amount": 1], ["amount": 1], "orderItems[0].amount"),
    (["amount": 1], ["amount": 1, "unitPrice": 1], "orderItems[0].unitPrice"),
    ([:], ["vatAmount": 0], "orderItems[0].vatAmount"),
    ([:], ["reference": "gold"], "orderItems[0].unitPrice"),
    ([:], ["type": "DISCOUNT"], "orderItems[0].type"), ([:], ["type": "SHIPPING_FEE"], "orderItems[0].type"),
    ([:], ["quantity": 0], "orderItems[0].quantity"), ([:], ["quantity": -1], "orderItems[0].quantity"),
    ([:], ["quantity": 2], "orderItems[0].amount"),
    ([:], ["quantity": 9_007_199_254_740_991], "orderItems[0].amount"),
  ]

  @Test("SW29: Any other amount is 422 before anything is sent", arguments: altered)
  func refused(changes: [String: JSONValue], line: [String: JSONValue], source: String) throws {
    var harness = try Self.harness()
    let body = try Self.order(changes, items: [try Self.line(line)])
    let answer = try harness.send("POST", "paymentorders", body)
    #expect(isSwedbankProblem(answer, 422, "mobilesdk/badrequest"))
    #expect(answer.json?["source"] == .string("paymentorder.\(source)"), "\(answer.text)")
    #expect(harness.effects.isEmpty)
    #expect(harness.owners.isEmpty)
  }

  @Test func `SW30: The lines of an order are summed: several prices, several pieces`() throws {
    let gold: [String: JSONValue] = [
      "reference": "gold", "quantity": 2, "unitPrice": 5999, "amount": 11998, "vatAmount": 2400,
    ]
    let items: JSONValue = [try Self.line(), try Self.line(gold)]
    for (amount, status) in [(12998, 201), (12997, 422), (1000, 422)] as [(JSONValue, Int)] {
      var harness = try Self.harness()
      harness.script = [.json(201, Samples.createdV3)]
      let body = try Self.order(["amount": amount, "vatAmount": 2600], items: items)
      #expect(try harness.send("POST", "paymentorders", body).status == status)
      #expect(harness.calls.count == (status == 201 ? 1 : 0))
    }
  }

  @Test func `SW30: An order without lines gets the line of the only price that has its amount`() throws {
    for (hasItems, items) in [(false, nil), (true, [])] as [(Bool, JSONValue?)] {
      var harness = try Self.harness()
      harness.script = [.json(201, Samples.createdV3)]
      let body = try Self.order(["amount": 5999, "vatAmount": 1200], items: items, hasItems: hasItems)
      #expect(try harness.send("POST", "paymentorders", body).status == 201)
      let sent = Samples.json(try #require(harness.calls.first).body)["paymentorder"]
      let line: JSONValue = [
        "reference": "gold", "name": "Order 12345678", "type": "PRODUCT", "class": "Product", "quantity": 1,
        "quantityUnit": "pcs", "unitPrice": 5999, "vatPercent": 2500, "amount": 5999, "vatAmount": 1200,
      ]
      #expect(sent?["orderItems"] == JSONValue.array([line]).normal)
      #expect(harness.reports.map(\.prices) == [["gold"]])
    }
  }

  @Test("SW30: Without lines, an amount of several prices or of none is refused, and says what is missing")
  func ambiguous() throws {
    var harness = try Self.harness(["silver": try Self.price(5999, vat: 1200)])
    for (amount, vat, source) in [
      (5999, 1200, "orderItems"), (5999, 0, "vatAmount"), (1, 0, "amount"),
    ] as [(JSONValue, JSONValue, String)] {
      let body = try Self.order(["amount": amount, "vatAmount": vat], hasItems: false)
      let answer = try harness.send("POST", "paymentorders", body)
      #expect(isSwedbankProblem(answer, 422, "mobilesdk/badrequest"))
      #expect(answer.json?["source"] == .string("paymentorder.\(source)"))
    }
    #expect(harness.effects.isEmpty)
  }

  @Test func `A verification of a card has no price; without prices the app names the amounts`() throws {
    var harness = try Self.harness()
    harness.script = [.json(201, Samples.createdV3)]
    let verification = try Self.order(["operation": "Verify", "amount": 0, "vatAmount": 0], hasItems: false)
    #expect(try harness.send("POST", "paymentorders", verification).status == 201)
    var open = try SwedbankHarness()
    open.script = [.json(201, Samples.createdV3)]
    #expect(try open.send("POST", "paymentorders", try Self.order(["amount": 1])).status == 201)
  }

  @Test(
    "The rate of a line's VAT is the usual one that gives the VAT, else the exact one",
    arguments: [
      (5999, 1200, 2500), (1000, 200, 2500), (10600, 600, 600), (11200, 1200, 1200), (100, 0, 0),
      (105, 5, 500),
      (1000, 7, 70),
    ] as [(Int64, Int64, Int64)])
  func rate(amount: Int64, vat: Int64, percent: Int64) throws {
    #expect(try Self.price(amount, vat: vat).vatPercent == percent)
  }

  @Test func `Only the configured prices compare with a context's price`() throws {
    var settings = SwedbankHarness.settings()
    #expect(settings.rules.ownPrices == nil)
    settings.prices = ["gold": try Self.price(5999, vat: 1200)]
    #expect(settings.rules.ownPrices == ["gold"])
  }
}
