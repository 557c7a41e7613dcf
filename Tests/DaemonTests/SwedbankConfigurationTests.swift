// The section `swedbank` of an app: who names the amounts.

import Domain
import Partners
import Testing

@testable import Config

@Suite("The configuration of Swedbank Pay") struct SwedbankConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static func text(_ more: String) -> String {
    Samples.text(
      client: "client: { keys: ['env:CLIENT_KEY'] },",
      app: "swedbank: { merchant_token: 'env:API_KEY', payee_id: 'payee-1', "
        + "public_origin: 'https://pay.example.com', \(more) },")
  }

  private static func section(_ more: String) throws -> SwedbankSection {
    let app = try Samples.app(text(more))
    return try #require(app.processor(SwedbankProcessor.name) as? SwedbankSection)
  }

  @Test func `SW29: Prices are amounts in the smallest unit, with their VAT`() throws {
    let section = try Self.section("prices: { gold: { amount: 5999, vat: 1200, currency: 'SEK' } },")
    let kronor = try #require(Currency("SEK"))
    #expect(
      section.settings.prices == [
        "gold": SwedbankPrice(amount: Money(minorUnits: 5999, kronor), vat: 1200)
      ])
    #expect(section.amounts == nil)
    #expect(section.rules.ownPrices == ["gold"])
  }

  @Test("SW29: Without prices and without amounts: \"client\", a warning says that an app names its price")
  func warns() throws {
    let path = "apps.shop.swedbank"
    func warnings(_ more: String) throws -> [Fault] {
      try Samples.read(Self.text(more)).warnings.filter { $0.path == path }
    }
    let found = try warnings("")
    #expect(found.count == 1)
    #expect(found.first?.message.contains("altered app") == true)
    #expect(try warnings("amounts: 'client'").isEmpty)
    #expect(try Self.section("amounts: 'client'").amounts == .client)
    #expect(try warnings("prices: { gold: { amount: 5999, vat: 1200, currency: 'SEK' } }").isEmpty)
    #expect(
      try warnings("amounts: 'server', prices: { gold: { amount: 5999, vat: 0, currency: 'SEK' } }").isEmpty)
  }

  @Test func `SW34: The relay's own problems have types of the merchant's, if it wants`() throws {
    #expect(try Self.section("").settings.problemTypes == "urn:receiptd:problem:")
    for types in ["https://pay.example.com/problems/", "urn:example:", "https://a.example/p#"] {
      #expect(try Self.section("problem_types: '\(types)'").settings.problemTypes == types)
    }
  }

  static let faults: [(key: String, text: String, message: String)] = [
    ("amounts", "amounts: 'client', prices: { a: { amount: 1, vat: 0, currency: 'SEK' } }", "contradicts"),
    ("amounts", "amounts: 'apps'", "must be one of server, client"),
    ("problem_types", "problem_types: 'http://a.example/'", "begins with https://"),
    ("problem_types", "problem_types: 'https://a.example/x'", "ends in"),
    ("problem_types", "problem_types: 7", "URI"),
    ("prices", "amounts: 'server'", "is missing"), ("prices", "prices: {}", "from 1 to 10000"),
    ("prices", "prices: []", "must be an object"), ("prices.a", "prices: { a: 5999 }", "must be an object"),
    ("prices.a.amount", "prices: { a: { vat: 0, currency: 'SEK' } }", "is missing"),
    ("prices.a.vat", "prices: { a: { amount: 1, currency: 'SEK' } }", "is missing"),
    ("prices.a.currency", "prices: { a: { amount: 1, vat: 0 } }", "is missing"),
    ("prices.a.amount", "prices: { a: { amount: 0, vat: 0, currency: 'SEK' } }", "an integer from 1"),
    ("prices.a.amount", "prices: { a: { amount: 59.99, vat: 0, currency: 'SEK' } }", "an integer from 1"),
    ("prices.a.amount", "prices: { a: { amount: '5999', vat: 0, currency: 'SEK' } }", "an integer from 1"),
    ("prices.a.vat", "prices: { a: { amount: 5, vat: 5, currency: 'SEK' } }", "less than the amount"),
    ("prices.a.vat", "prices: { a: { amount: 5, vat: -1, currency: 'SEK' } }", "an integer from 0"),
    ("prices.a.currency", "prices: { a: { amount: 5, vat: 1, currency: 'sek' } }", "currency's code"),
    ("prices.a.name", "prices: { a: { amount: 5, vat: 1, currency: 'SEK', name: 'x' } }", "not a known key"),
  ]

  @Test(arguments: faults)
  func `A wrong value is one fault, which names its key`(key: String, text: String, message: String) {
    let found = Samples.faults(Self.text(text))
    #expect(found.map(\.path) == ["apps.shop.swedbank.\(key)"])
    #expect(found.first?.message.contains(message) == true, "\(found.map(\.description))")
  }
}
