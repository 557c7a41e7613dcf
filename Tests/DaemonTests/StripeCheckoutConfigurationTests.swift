// `stripe.checkout` in the configuration.

import Domain
import Formats
import Partners
import Testing

@testable import Config

@Suite("The configuration of Checkout Sessions") struct StripeCheckoutConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static let links = "links: { origin: 'https://pay.example.com' },"

  private static func text(
    _ checkout: String, key: String = "api_key: 'env:API_KEY',", links: String = links,
    client: String = "client: { keys: ['env:CLIENT_KEY'] },"
  ) -> String {
    Samples.text(client: client, stripe: "\(key) checkout: { \(checkout) },", app: links)
  }

  @Test("Every key is read and shown, and customers return by the given origin")
  func everyKey() throws {
    let text = Self.text(
      """
      prices: { price_1: 'subscription', gold: { price: 'price_9', mode: 'payment' }, plan_2: 'payment' },
      return_origin: 'https://back.example.com', timeout: '3s',
      """)
    let app = try Samples.app(text)
    let section = try #require(app.stripe?.checkout)
    let expected = StripeCheckoutSettings(
      items: [
        "price_1": .init(price: "price_1", mode: .subscription),
        "gold": .init(price: "price_9", mode: .payment),
        "plan_2": .init(price: "plan_2", mode: .payment),
      ], returnURL: "https://back.example.com/v1/shop/return", timeout: .seconds(3))
    #expect(section.settings(in: app) == expected)
    let shown = try #require(
      try Samples.read(text).configuration.redacted["apps"]?["shop"]?["stripe"]?["checkout"])
    #expect(try Samples.app(Self.text(String(shown.text.dropFirst().dropLast()))).stripe?.checkout == section)
  }

  @Test("Without their own origin, customers return to that of links")
  func defaults() throws {
    let app = try Samples.app(Self.text("prices: { price_1: 'payment' }"))
    let settings = try #require(app.stripe?.checkout?.settings(in: app))
    #expect(settings.returnURL == "https://pay.example.com/v1/shop/return")
    #expect(settings.timeout == StripeCheckoutSettings.timeoutDefault)
    #expect(try Samples.app(Samples.text()).stripe?.checkout == nil)
  }

  @Test(
    "An invalid value is a fault that names its key",
    arguments: [
      ("", ".prices", "is missing"), ("prices: {}", ".prices", "must have from 1"),
      ("prices: { price_1: 'setup' }", ".prices.price_1", "must be one of subscription, payment"),
      ("prices: { price_1: 'payments' }", ".prices.price_1", "did you mean \"payment\"?"),
      ("prices: { gold: 'payment' }", ".prices.gold", "is a name of your own"),
      ("prices: { price_: 'payment' }", ".prices.price_", "is a name of your own"),
      ("prices: { gold: { price: 'prod_1', mode: 'payment' } }", ".prices.gold.price", "price_…"),
      ("prices: { gold: { price: 'price_ 1', mode: 'payment' } }", ".prices.gold.price", "price_…"),
      ("prices: { gold: { mode: 'payment' } }", ".prices.gold.price", "is missing"),
      ("prices: { gold: { price: 'price_1' } }", ".prices.gold.mode", "is missing"),
      (
        "prices: { gold: { price: 'price_1', mode: 'payment', x: 1 } }", ".prices.gold.x",
        "is not a known key"
      ),
      ("prices: { price_1: 5 }", ".prices.price_1", "must be one of"),
      ("prices: { price_1: 'payment' }, return_origin: 'http://a.test'", ".return_origin", "must begin with"),
      ("prices: { price_1: 'payment' }, timeout: '2m'", ".timeout", "must be a duration"),
      ("price: {}", ".price", "did you mean \"prices\"?"),
    ])
  func faults(checkout: String, place: String, message: String) {
    let faults = Samples.faults(Self.text(checkout))
    #expect(
      faults.contains { $0.path == "apps.shop.stripe.checkout\(place)" && $0.message.contains(message) },
      "\(faults)")
  }

  @Test("It needs a key for Stripe's API, a return page, and clients that are known")
  func needs() {
    let checkout = "prices: { price_1: 'payment' }"
    func messages(_ text: String) -> [String] { Samples.faults(text).map { "\($0.path) \($0.message)" } }
    let noKey = messages(Self.text(checkout, key: ""))
    #expect(noKey.count == 1)
    #expect(noKey[0].hasPrefix("apps.shop.stripe.checkout needs stripe.api_key"))
    let noLinks = messages(Self.text(checkout, links: ""))
    #expect(noLinks.count == 1)
    #expect(noLinks[0].hasPrefix("apps.shop.stripe.checkout needs links.origin"))
    let open = messages(Self.text(checkout, client: "client: 'open',"))
    #expect(open.count == 1)
    #expect(open[0].hasPrefix("apps.shop.stripe needs client keys or tokens"))
  }
}
