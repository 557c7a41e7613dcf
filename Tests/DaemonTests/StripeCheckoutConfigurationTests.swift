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

  @Test func `Every key is read and shown, and customers return by the given origin`() throws {
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

  @Test func `Without their own origin, customers return to that of links`() throws {
    let app = try Samples.app(Self.text("prices: { price_1: 'payment' }"))
    let settings = try #require(app.stripe?.checkout?.settings(in: app))
    #expect(settings.returnURL == "https://pay.example.com/v1/shop/return")
    #expect(settings.timeout == StripeCheckoutSettings.timeoutDefault)
    #expect(try Samples.app(Samples.text()).stripe?.checkout == nil)
  }

  @Test(arguments: [
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
    ("prices: { price_1: 'payment' }, trial_days: 0", ".trial_days", "must be a whole number from 1"),
    ("prices: { price_1: 'payment' }, origin_context: 'app'", ".origin_context", "must be one of"),
    ("prices: { price_1: 'payment' }, parameters: []", ".parameters", "must be an object"),
    ("prices: { price_1: 'payment' }, parameters: { locales: 'de' }", ".parameters.locales", "\"locale\""),
    (
      "prices: { price_1: 'payment' }, parameters: { locale: null }", ".parameters.locale", "must be a text"
    ),
    ("prices: { price_1: 'payment' }, parameters: { locale: 1.5 }", ".parameters.locale", "must be a text"),
    (
      "prices: { price_1: 'payment' }, trial_days: 7, "
        + "parameters: { subscription_data: { trial_period_days: 3 } }", ".trial_days", "is also set by"
    ),
  ])
  func `An invalid value is a fault that names its key`(checkout: String, place: String, message: String) {
    let faults = Samples.faults(Self.text(checkout))
    #expect(
      faults.contains { $0.path == "apps.shop.stripe.checkout\(place)" && $0.message.contains(message) },
      "\(faults)")
  }

  @Test(arguments: [
    "client_reference_id: 'x'", "metadata: { app: 'ios' }", "metadata: {}", "success_url: 'https://a.test'",
    "cancel_url: 'https://a.test'", "return_url: 'https://a.test'", "mode: 'setup'", "line_items: []",
    "ui_mode: 'embedded_page'", "redirect_on_completion: 'never'", "customer: 'cus_1'",
    "customer_account: 'acct_1'", "customer_email: 'jane@example.com'",
    "subscription_data: { metadata: { ply_context_id: 'ctx_1' } }",
    "payment_intent_data: { description: 'x', metadata: {} }",
  ])
  func `The relay's own parameters cannot be set`(parameter: String) {
    let faults = Samples.faults(Self.text("prices: { price_1: 'payment' }, parameters: { \(parameter) }"))
    #expect(faults.count == 1, "\(faults)")
    #expect(faults.first?.path.hasPrefix("apps.shop.stripe.checkout.parameters.") == true)
    #expect(faults.first?.message.contains("is set by the relay") == true)
  }

  @Test func `Trial days, promotion codes, the origin and further parameters are read and shown`() throws {
    let text = Self.text(
      """
      prices: { price_1: 'subscription' }, trial_days: 7, promotion_codes: true, origin_context: 'mobile_app',
      parameters: { locale: 'auto', subscription_data: { description: 'Pro' }, discounts: [{ coupon: 'c' }] },
      """)
    let section = try #require(try Samples.app(text).stripe?.checkout)
    #expect(section.trialDays == 7)
    #expect(section.allowsPromotionCodes)
    #expect(section.origin == .mobileApp)
    #expect(section.parameters.object["locale"] == "auto")
    let shown = try #require(
      try Samples.read(text).configuration.redacted["apps"]?["shop"]?["stripe"]?["checkout"])
    #expect(try Samples.app(Self.text(String(shown.text.dropFirst().dropLast()))).stripe?.checkout == section)
  }

  @Test func `A checkout of a price that the app does not sell is a fault`() {
    func faults(_ sells: String) -> [String] {
      let checkout = "checkout: { prices: { price_1: 'payment', price_2: 'payment' } }"
      let stripe = "api_key: 'env:API_KEY', sells: { \(sells) }, \(checkout),"
      return Samples.faults(Samples.text(stripe: stripe, app: Self.links)).map { "\($0.path) \($0.message)" }
    }
    for sells in [
      "prices: ['price_1']", "payment_links: ['plink_1']", "prices: ['price_2'], payment_links: ['plink_1']",
    ] {
      #expect(faults(sells).count == 1)
      #expect(faults(sells).first?.hasPrefix("apps.shop.stripe.checkout sells price_") == true)
    }
    for sells in ["prices: ['price_1', 'price_2']", "products: ['prod_1']", "metadata: { app: 'ios' }"] {
      #expect(faults(sells).isEmpty, "\(sells)")
    }
  }

  @Test func `It needs a key for Stripe's API, a return page, and clients that are known`() {
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
