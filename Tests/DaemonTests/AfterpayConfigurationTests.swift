// The section `afterpay` of an app, and what follows from it.

import Domain
import Formats
import HTTPClient
import Partners
import Service
import TestSupport
import Testing

@testable import Config

@Suite("The configuration of Afterpay") struct AfterpayConfigurationTests {
  typealias Samples = ConfigurationSamples

  /// An app's configuration with the section's required keys, changed or, for nil, left out.
  private static func text(
    _ changes: [String: String?] = [:], client: String = "client: { keys: ['env:CLIENT_KEY'] },"
  ) -> String {
    let keys: [String: String?] = [
      "merchant_id": "'100200300'", "secret": "'env:API_KEY'", "region": "'US'", "currency": "'USD'",
      "confirm_url": "'https://shop.example.com/paid'", "cancel_url": "'exampleapp://cancelled'",
      "prices": "{ gold: '59.99' }",
    ]
    let members = keys.merging(changes) { $1 }.sorted { $0.key < $1.key }
      .compactMap { name, value in value.map { "\(name): \($0)" } }
    return Samples.text(client: client, app: "afterpay: { \(members.joined(separator: ", ")) },")
  }

  private static func settings(_ changes: [String: String?] = [:]) throws -> AfterpaySettings {
    let app = try Samples.app(text(changes))
    return try #require(app.processor(AfterpayProcessor.name) as? AfterpaySection).settings
  }

  @Test func `The required keys are enough`() throws {
    let settings = try Self.settings()
    let region = try #require(AfterpayRegion("US"))
    let dollars = try #require(Currency("USD"))
    #expect(
      settings
        == AfterpaySettings(
          merchantID: "100200300", region: region, currency: dollars,
          confirmURL: "https://shop.example.com/paid", cancelURL: "exampleapp://cancelled",
          prices: ["gold": Money(minorUnits: 5999, dollars)]))
    #expect(settings.apiBase == "https://global-api.afterpay.com")
    #expect(settings.captureWithin == .minutes(180))
    let app = try Samples.app(Self.text())
    let section = try #require(app.processor(AfterpayProcessor.name))
    #expect(section.deliverTo == "webhook")
    #expect(section.rules.followsUpAfter != nil)
    #expect(!section.rules.namesPrices)
  }

  @Test func `Every key is read`() throws {
    let settings = try Self.settings([
      "api_base": "'https://global-api-sandbox.afterpay.com'", "region": "'fr-CA'", "currency": "'CAD'",
      "prices": "{ a: '0.01', 'b c': '1000.00' }", "amounts": "'client'", "capture_within": "'30m'",
      "timeout": "'5s'", "capture_timeout": "'40s'",
    ])
    let dollars = try #require(Currency("CAD"))
    #expect(settings.apiBase == "https://global-api-sandbox.afterpay.com")
    #expect(settings.region.identifier == "fr_CA")
    #expect(settings.currency == dollars)
    #expect(
      settings.prices == ["a": Money(minorUnits: 1, dollars), "b c": Money(minorUnits: 100_000, dollars)])
    #expect(settings.amountsAreClients)
    #expect(settings.captureWithin == .minutes(30))
    #expect(settings.timeout == .seconds(5))
    #expect(settings.captureTimeout == .seconds(40))
  }

  @Test func `An app that names its amounts needs no prices`() throws {
    #expect(try Self.settings(["prices": nil, "amounts": "'client'"]).prices.isEmpty)
  }

  @Test(arguments: [
    ("AU", "AUD"), ("CA", "CAD"), ("ES", "EUR"), ("FR", "EUR"), ("GB", "GBP"), ("UK", "GBP"),
    ("en-GB", "GBP"), ("IT", "EUR"), ("NZ", "NZD"), ("US", "USD"),
  ])
  func `Every country has its currency`(region: String, currency: String) throws {
    let settings = try Self.settings(["region": "'\(region)'", "currency": "'\(currency)'"])
    #expect(settings.currency.code == currency)
    let other = currency == "EUR" ? "USD" : "EUR"
    let faults = Samples.faults(Self.text(["region": "'\(region)'", "currency": "'\(other)'"]))
    #expect(faults.map(\.path) == ["apps.shop.afterpay.currency"])
    #expect(faults.first?.message.contains("write \"\(currency)\"") == true)
  }

  /// The key, its value or nil without it, and a part of the only fault.
  static let faults: [(key: String, value: String?, message: String)] = [
    ("merchant_id", nil, "is missing"), ("merchant_id", "''", "merchant id"),
    ("merchant_id", "100200300", "must be the merchant id"), ("merchant_id", "'1:2'", "merchant id"),
    ("merchant_id", "'1 2'", "merchant id"), ("merchant_id", "'é'", "merchant id"),
    ("secret", nil, "is missing"),
    ("secret", "'env:NONE'", "NONE"), ("secret", "7", "must be text"), ("region", nil, "is missing"),
    ("region", "'DE'", "in which Afterpay works (AU, CA"), ("region", "'de-US'", "Afterpay works"),
    ("region", "'us'", "Afterpay works"), ("region", "'en-US-x'", "Afterpay works"),
    ("region", "''", "works"),
    ("currency", nil, "is missing"), ("currency", "'usd'", "AUD, CAD, EUR, GBP, NZD, USD"),
    ("currency", "'JPY'", "Afterpay works"), ("currency", "'NZD'", "is not Afterpay's currency in US"),
    ("confirm_url", nil, "is missing"), ("confirm_url", "''", "is empty"),
    ("confirm_url", "'shop.example.com'", "whole URL"),
    ("confirm_url", "'http://shop.example.com'", "https://"),
    ("confirm_url", "'https://u:p@shop.example.com'", "user or password"),
    ("confirm_url", "'https://shop.example.com/#x'", "fragment"), ("confirm_url", "'https:///x'", "host"),
    ("confirm_url", "'javascript://x'", "belongs to the device"),
    ("confirm_url", "'example app://x'", "scheme"),
    ("cancel_url", nil, "is missing"), ("cancel_url", "'exampleapp://'", "is empty after ://"),
    ("cancel_url", "'exampleapp://a b'", "percent-encoded"), ("cancel_url", "'exampleapp://a#b'", "fragment"),
    ("cancel_url", "'exampleapp:x'", "whole URL"), ("cancel_url", "'://x'", "scheme"),
    ("prices", nil, "is missing; write what customers may pay"), ("prices", "{}", "from 1 to 10000"),
    ("prices", "[]", "must be an object"), ("prices.gold", "{ gold: 59.99 }", "but is 59.99"),
    ("prices.gold", "{ gold: '59.9' }", "two decimals"), ("prices.gold", "{ gold: '59' }", "two decimals"),
    ("prices.gold", "{ gold: '0.00' }", "greater than zero"), ("prices.gold", "{ gold: '-1.00' }", "greater"),
    ("prices.gold", "{ gold: '1,000.00' }", "two decimals"), ("prices.gold", "{ gold: '01.00' }", "decimals"),
    ("prices.gold", "{ gold: '99999999999999999.99' }", "greater than zero"),
    ("prices.gold", "{ gold: null }", "two decimals"), ("prices[\"\"]", "{ '': '1.00' }", "needs a name"),
    ("amounts", "'apps'", "must be one of server, client"), ("capture_within", "'181m'", "from 1s to 3h"),
    ("capture_within", "'0s'", "from 1s"), ("timeout", "'11m'", "to 10m"),
    ("capture_timeout", "70", "must be a duration"), ("api_base", "'http://a.example'", "https://"),
    ("api_base", "'https://a.example/v2'", "nothing else"), ("deliver_to", "'purchasely'", "webhook"),
    ("secrets", "['x']", "did you mean \"secret\"?"),
  ]

  @Test("A wrong value is one fault, which names its key and what to do", arguments: faults)
  func fault(key: String, value: String?, message: String) {
    let name = String(key.prefix { $0 != "." && $0 != "[" })
    let found = Samples.faults(Self.text([name: value]))
    #expect(found.map(\.path) == ["apps.shop.afterpay.\(key)"])
    #expect(found.first?.message.contains(message) == true, "\(found.map(\.description))")
  }

  @Test("The schema refuses what it can: no prices with the server's amounts, other regions and forms")
  func schema() throws {
    func errors(_ changes: [String: String?]) throws -> [String] {
      let value = try JSONValue(parsing: Array(Self.text(changes).utf8), json5: true)
      return SchemaCheck(value, ConfigurationSchema.value).errors
    }
    #expect(try errors([:]).isEmpty)
    #expect(try errors(["prices": nil, "amounts": "'client'"]).isEmpty)
    let wrong: [[String: String?]] = [
      ["prices": nil], ["prices": nil, "amounts": "'server'"], ["prices": "{}"], ["prices": "{ a: '1' }"],
      ["region": "'DE'"], ["currency": "'SEK'"], ["confirm_url": "'x'"], ["merchant_id": "'a:b'"],
    ]
    for changes in wrong { #expect(try !errors(changes).isEmpty, "\(changes)") }
  }

  @Test func `An app that any client may use cannot have it`() {
    let found = Samples.faults(Self.text(client: "client: 'open',"))
    #expect(found.map(\.path) == ["apps.shop.afterpay"])
    #expect(found.first?.message.contains("needs client keys or tokens") == true)
  }

  @Test func `The secret is not shown with the configuration, nor in any fault (R7)`() throws {
    let loaded = try Samples.read(Self.text(["secret": "'a-secret-in-place'"]))
    let shown = loaded.configuration.redacted.text
    #expect(!shown.contains("a-secret-in-place"))
    #expect(shown.contains("\"gold\":\"59.99\""))
    #expect(shown.contains("\"region\":\"US\""))
    let faults = Samples.faults(
      Self.text(["secret": "'a-secret-in-place'", "region": "'a-secret-in-place'"]))
    #expect(!faults.isEmpty)
    #expect(faults.allSatisfy { !$0.message.contains("a-secret-in-place") })
  }

  @Test func `Lookups identify the program once, as Afterpay requires`() throws {
    let api = try #require(
      try ProcessorAPI.of(Samples.app(Self.text())).first { $0.processorName == "afterpay" })
    let key = PurchaseKey(processor: "afterpay", type: "payment", id: "005.token")
    let query = try #require(api.queries.lookups(of: key, sessionID: nil, lacking: nil).first)
    let agents = api.request(query).headers.filter { $0.name.lowercased() == "user-agent" }.map(\.value)
    #expect(
      agents == [
        "\(Version.userAgent) (Receipt Relay; Linux; Merchant/100200300) https://shop.example.com"
      ])
  }
}
