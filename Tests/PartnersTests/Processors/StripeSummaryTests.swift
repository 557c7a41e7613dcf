// What Stripe's events say about what was bought.

import Domain
import Testing

@testable import Partners

@Suite("What Stripe's events say about a purchase") struct StripeSummaryTests {
  private static func session(_ fields: String) -> PurchaseSummary? {
    StripeSummary.read(
      Array(
        """
        {"id": "evt_1", "created": 1764240000, "data": {"object":
          {"id": "cs_1", "object": "checkout.session", "status": "complete"\(fields)}}}
        """.utf8))
  }

  @Test(
    "The amount is in major units, with the decimals of Stripe's API",
    arguments: [
      (4999, "eur", "49.99"), (5, "usd", "0.05"), (500, "jpy", "500"), (12345, "kwd", "12.345"),
      (5000, "mga", "5000.00"), (150_000, "huf", "1500.00"), (1500, "isk", "15"),
    ])
  func amounts(amount: Int, currency: String, text: String) {
    let money = Self.session(", \"amount_total\": \(amount), \"currency\": \"\(currency)\"")?.money
    #expect(money?.description == "\(text) \(currency.uppercased())")
  }

  @Test(arguments: [
    "", ", \"amount_total\": 100", ", \"currency\": \"eur\"",
    ", \"amount_total\": 0, \"currency\": \"eur\"",
    ", \"amount_total\": -1, \"currency\": \"eur\"", ", \"amount_total\": \"100\", \"currency\": \"eur\"",
    ", \"amount_total\": 150, \"currency\": \"isk\"", ", \"amount_total\": 100, \"currency\": \"ugx\"",
    ", \"amount_total\": 100, \"currency\": \"<b>\"", ", \"amount_total\": 1.5, \"currency\": \"eur\"",
  ])
  func `No amount is better than a wrong one`(fields: String) {
    let summary = Self.session(fields)
    #expect(summary?.money == nil)
    #expect(summary?.at == Timestamp(unixSeconds: 1_764_240_000))
  }

  @Test func `The amount is the one that the customer saw, if Stripe converted it`() {
    let merchant = ", \"amount_total\": 1000, \"currency\": \"usd\""
    let shown = ", \"presentment_details\": {\"presentment_amount\": 1500, \"presentment_currency\": \"jpy\"}"
    #expect(Self.session(merchant + shown)?.money?.description == "1500 JPY")
    #expect(Self.session(merchant + ", \"presentment_details\": null")?.money?.description == "10.00 USD")
    #expect(
      Self.session(merchant + ", \"presentment_details\": {}")?.money == nil, "not the one that was seen")
  }

  @Test func `The item is the one line of the first invoice, or of a session that has its line items`() {
    func invoice(_ reason: String, _ lines: String) -> PurchaseSummary? {
      StripeSummary.read(
        Array(
          """
          {"created": 1, "data": {"object": {"object": "invoice", "billing_reason": "\(reason)",
            "lines": {"data": [\(lines)]}}}}
          """.utf8))
    }
    let line = "{\"description\": \"1 × Premium (at €49.99 / year)\"}"
    #expect(invoice("subscription_create", line) == PurchaseSummary(item: "1 × Premium (at €49.99 / year)"))
    #expect(invoice("subscription_create", "\(line), \(line)")?.item == nil, "not all of it would be named")
    #expect(invoice("subscription_create", "{}")?.item == nil)
    #expect(invoice("subscription_cycle", line) == nil, "a renewal is not of the checkout")
    #expect(Self.session(", \"line_items\": {\"data\": [{\"description\": \"Game\"}]}")?.item == "Game")
  }

  @Test(arguments: [
    ", \"amount_total\": 0, \"currency\": \"eur\"", ", \"payment_status\": \"no_payment_required\"",
    ", \"payment_status\": \"no_payment_required\", \"amount_total\": 4999, \"currency\": \"eur\"",
    ", \"payment_status\": \"paid\", \"amount_total\": 0",
  ])
  func `A checkout that needs no payment is free, and charged 0`(fields: String) {
    let summary = Self.session(fields)
    #expect(summary?.isFree == true)
    #expect(summary?.money == nil)
    #expect(summary?.amount == 0)
  }

  @Test func `What was charged is not 0 if it is unknown, or if anything was charged`() {
    #expect(Self.session("")?.amount == nil)
    #expect(Self.session(", \"amount_total\": 100, \"currency\": \"ugx\"")?.amount == nil)
    let paid = Self.session(", \"payment_status\": \"paid\", \"amount_total\": 4999, \"currency\": \"eur\"")
    #expect(paid?.isFree == false)
    #expect(paid?.amount == 4999)
  }

  @Test("A subscription that begins with a trial says so, and its invoice of 0 that nothing was charged")
  func trial() {
    func object(_ fields: String) -> PurchaseSummary? {
      StripeSummary.read(Array("{\"created\": 1, \"data\": {\"object\": {\(fields)}}}".utf8))
    }
    #expect(object("\"object\": \"subscription\", \"status\": \"trialing\"")?.isTrial == true)
    #expect(object("\"object\": \"subscription\", \"status\": \"active\"") == nil)
    let first = "\"object\": \"invoice\", \"billing_reason\": \"subscription_create\""
    #expect(object("\(first), \"total\": 0")?.amount == 0)
    #expect(object("\(first), \"total\": 4999")?.isFree == false)
  }

  @Test(arguments: ["", "[]", "{}", "{\"data\": {\"object\": 5}}", "\u{0}"])
  func `Other events say nothing`(body: String) {
    #expect(StripeSummary.read(Array(body.utf8)) == nil)
    #expect(
      StripeSummary.read(
        Array("{\"data\": {\"object\": {\"object\": \"checkout.session\", \"status\": \"expired\"}}}".utf8))
        == nil)
  }

  @Test func `What several events say is combined, and the first one wins`() {
    let first = PurchaseSummary(money: Money(minorUnits: 100, .usDollar))
    let second = PurchaseSummary(
      item: "Game", money: Money(minorUnits: 200, .usDollar), at: Timestamp(unixSeconds: 1))
    #expect(
      first.adding(second)
        == PurchaseSummary(item: "Game", money: first.money, at: Timestamp(unixSeconds: 1)))
    let trial = PurchaseSummary(isTrial: true).adding(PurchaseSummary(isFree: true))
    #expect(trial == PurchaseSummary(isFree: true, isTrial: true))
  }
}
