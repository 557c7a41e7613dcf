// Which sales and users an app has, in the configuration.

import Domain
import Formats
import Partners
import Testing

@testable import Config

@Suite("The configuration of an app's sales and users") struct StripeSelectionConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static func settings(_ stripe: String) throws -> StripeSettings {
    try #require(try Samples.app(Samples.text(stripe: stripe)).stripe?.settings)
  }

  @Test("Without keys everything that the account sells is the app's, and references must be known users")
  func defaults() throws {
    let app = try Samples.app(Samples.text())
    let settings = try #require(app.stripe?.settings)
    #expect(settings.sells == nil)
    #expect(settings.except.isEmpty)
    #expect(settings.account == nil)
    #expect(settings.priceMap.isEmpty)
    #expect(app.userIDs == UserIDRules())
    #expect(app.rules(of: "stripe").reference == .knownUser)
    #expect(!app.rules(of: "stripe").selects)
  }

  @Test func `Every key is read, shown, and read again`() throws {
    let stripe = """
      sells: {
        prices: ['price_1', 'plan_2'], products: ['prod_1'], payment_links: ['plink_1'],
        metadata: { app: 'ios' },
      },
      except: { payment_links: ['plink_2'], metadata: { shop: 'x' } }, account: 'acct_1', reference: 'user',
      price_map: { prod_1: 'price_1', 'lookup:yearly': 'price_3' },
      """
    let settings = try Self.settings(stripe)
    #expect(
      settings.sells
        == StripeSelection(
          prices: ["price_1", "plan_2"], products: ["prod_1"], paymentLinks: ["plink_1"],
          metadata: ["app": "ios"]))
    #expect(settings.except == StripeSelection(paymentLinks: ["plink_2"], metadata: ["shop": "x"]))
    #expect(settings.account == "acct_1")
    #expect(settings.priceMap == ["prod_1": "price_1", "lookup:yearly": "price_3"])
    let app = try Samples.app(Samples.text(stripe: stripe))
    #expect(app.rules(of: "stripe").reference == .user)
    #expect(app.rules(of: "stripe").selects)
    let shown = try #require(
      try Samples.read(Samples.text(stripe: stripe)).configuration.redacted["apps"]?["shop"]?["stripe"])
    let keys = ["sells", "except", "price_map", "account", "reference"]
    let again = try keys.map { key in "\(key): \(try #require(shown[key]).text)" }.joined(separator: ", ")
    #expect(try Self.settings(again) == settings)
  }

  @Test(arguments: [
    ("sells: {}", ".sells", "has no entry"), ("sells: { prices: [] }", ".sells", "has no entry"),
    ("sells: { metadata: {} }", ".sells", "has no entry"),
    ("sells: { prices: ['prod_1'] }", ".sells.prices[0]", "Stripe's id of a price"),
    ("sells: { prices: ['price_'] }", ".sells.prices[0]", "Stripe's id of a price"),
    ("sells: { products: ['price_1'] }", ".sells.products[0]", "Stripe's id of a product"),
    ("sells: { payment_links: ['https://buy.stripe.com/x'] }", ".sells.payment_links[0]", "plink_"),
    ("sells: { metadata: { app: 1 } }", ".sells.metadata.app", "must be a text"),
    ("sells: { price: [] }", ".sells.price", "did you mean \"prices\"?"),
    ("except: { links: [] }", ".except.links", "is not a known key"),
    ("account: 'ios'", ".account", "acct_"), ("reference: 'known'", ".reference", "must be one of"),
    ("price_map: { price_1: 'price_2' }", ".price_map.price_1", "must begin with prod_"),
    ("price_map: { 'lookup:': 'price_2' }", ".price_map.lookup:", "must begin with prod_"),
    ("price_map: { prod_1: 'gold' }", ".price_map.prod_1", "Stripe's id of a price"),
  ])
  func `An invalid value is a fault that names its key`(stripe: String, place: String, message: String) {
    let faults = Samples.faults(Samples.text(stripe: stripe))
    #expect(
      faults.contains {
        $0.path.replacing("[\"", with: ".").replacing("\"]", with: "") == "apps.shop.stripe\(place)"
          && $0.message.contains(message)
      }, "\(faults)")
  }

  @Test func `The user ids of an app reach its processor and are shown`() throws {
    let text = Samples.text(app: "user_ids: { refuse: ['tester'], allow: ['guest'] },")
    let app = try Samples.app(text)
    #expect(app.userIDs == UserIDRules(refuse: ["tester"], allow: ["guest"]))
    let shown = try Samples.read(text).configuration.redacted["apps"]?["shop"]?["user_ids"]
    #expect(shown == ["refuse": ["tester"], "allow": ["guest"]])
    let processor = try #require(app.stripe).makeProcessor(for: .reading, in: app, userAgent: "t")
    let body: JSONValue = [
      "id": "evt_1", "object": "event", "type": "customer.subscription.created",
      "data": [
        "object": [
          "id": "sub_1", "object": "subscription", "status": "active", "metadata": ["ply_user_id": "Tester"],
        ]
      ],
    ]
    guard
      case .purchase(let report, _) = processor.read(body.serialized(), now: Timestamp(unixSeconds: 1))
        .content
    else {
      Issue.record("no report")
      return
    }
    #expect(report.names == [NamedUser(id: "Tester", source: .ownKey, standing: .refused)])
  }

  @Test func `A user id that is refused twice, or that is no text, is a fault`() {
    #expect(!Samples.faults(Samples.text(app: "user_ids: { refuse: ['a', 'a'] },")).isEmpty)
    #expect(!Samples.faults(Samples.text(app: "user_ids: { allow: [7] },")).isEmpty)
    #expect(!Samples.faults(Samples.text(app: "user_ids: { deny: [] },")).isEmpty)
  }
}
