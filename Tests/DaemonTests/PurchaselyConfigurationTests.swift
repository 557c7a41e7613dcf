// `apps.NAME.purchasely`: store products, and where receipts of one-time purchases go.

import Domain
import Formats
import Testing

@testable import Config

@Suite struct PurchaselyConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static let once = PurchaseKey(processor: "stripe", type: "checkout_session", id: "cs_1")
  private static let monthly = PurchaseKey(processor: "stripe", type: "subscription", id: "sub_1")
  private static let webhook =
    "webhook: { url: 'https://backend.example.com', secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'] },"

  private func app(_ purchasely: String, webhook: String = webhook) throws -> AppConfiguration {
    try Samples.app(Samples.text(purchasely: purchasely, app: webhook))
  }

  @Test(
    "One-time purchases go to Purchasely, to the webhook, or nowhere; subscriptions always to Purchasely",
    arguments: [
      ("", "purchasely"), ("one_time: 'send',", "purchasely"), ("one_time: 'webhook',", "webhook"),
      ("one_time: 'hold',", nil),
    ])
  func oneTime(purchasely: String, destination: DestinationName?) throws {
    let app = try app(purchasely)
    #expect(app.destinations(of: Self.once).present == destination)
    #expect(app.destinations(of: Self.monthly).present == "purchasely")
    #expect(app.destinations(of: Self.monthly).exclusion == nil)
    #expect(app.destinations(of: Self.once).all == ["purchasely", "webhook"])
  }

  @Test("Without the webhook that one_time names, its receipts have no destination, and a warning says so")
  func missingWebhook() throws {
    let text = Samples.text(purchasely: "one_time: 'webhook',")
    let app = try Samples.app(text)
    #expect(app.destinations(of: Self.once).present == nil)
    #expect(app.destinations(of: Self.once).exclusion?.instead == "webhook")
    let warnings = try Samples.read(text).warnings
    #expect(warnings.map(\.path) == ["apps.shop.webhook"])
    #expect(warnings.first?.message.contains("purchasely.one_time sends there wait") == true)
  }

  @Test func `one_time does not concern receipts that Purchasely does not get anyway`() throws {
    let text = Samples.text(
      stripe: "deliver_to: 'webhook',", purchasely: "one_time: 'hold',", app: Self.webhook)
    #expect(try Samples.app(text).destinations(of: Self.once).present == "webhook")
  }

  @Test func `Store products are read by price, and shown`() throws {
    let text = Samples.text(purchasely: "products: { price_1: 'com.example.gold', plan_2: 'silver' },")
    #expect(
      try Samples.app(text).purchasely?.products
        == ["price_1": "com.example.gold", "plan_2": "silver"])
    let shown = try Samples.read(text).configuration.redacted["apps"]?["shop"]?["purchasely"]
    #expect(shown?["products"] == ["plan_2": "silver", "price_1": "com.example.gold"])
    #expect(shown?["one_time"] == "send")
    #expect(try Samples.app(Samples.text()).purchasely?.products == nil)
  }

  @Test(arguments: [
    ("one_time: 'sned',", "one_time", "did you mean \"send\"?"),
    ("one_time: true,", "one_time", "must be one of send, webhook, hold"),
    ("products: {},", "products", "must have from 1"), ("products: [],", "products", "must be an object"),
    ("products: { price_1: 5 },", "products.price_1", "must be the id of a product in the stores"),
    ("products: { price_1: '' },", "products.price_1", ""),
  ])
  func `A faulty value names its key`(purchasely: String, key: String, message: String) {
    let faults = Samples.faults(Samples.text(purchasely: purchasely))
    #expect(
      faults.contains {
        $0.path == "apps.shop.purchasely.\(key)" && (message.isEmpty || $0.message.contains(message))
      }, "\(faults)")
  }
}
