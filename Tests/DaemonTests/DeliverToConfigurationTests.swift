// `deliver_to`: one destination, or two that get a receipt each.

import Domain
import Formats
import Partners
import Store
import TestSupport
import Testing

@testable import Config
@testable import Service

@Suite struct DeliverToConfigurationTests {
  typealias Samples = ConfigurationSamples

  private static let webhook =
    "webhook: { url: 'https://backend.example.com', secrets: ['whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'] },"
  private static let once = PurchaseKey(processor: "stripe", type: "checkout_session", id: "cs_1")
  private static let monthly = PurchaseKey(processor: "stripe", type: "subscription", id: "sub_1")

  private func text(_ deliverTo: String, purchasely: String = "", webhook: String = webhook) -> String {
    Samples.text(stripe: "deliver_to: \(deliverTo),", purchasely: purchasely, app: webhook)
  }

  @Test(
    "It is one name, or a list of one or two, the first of which gets the purchase's own receipt",
    arguments: [
      ("'purchasely'", "purchasely", nil), ("'webhook'", "webhook", nil), ("['webhook']", "webhook", nil),
      ("['purchasely', 'webhook']", "purchasely", "webhook"),
      ("['webhook', 'purchasely']", "webhook", "purchasely"),
    ] as [(String, DestinationName, DestinationName?)])
  func names(value: String, first: DestinationName, second: DestinationName?) throws {
    let app = try Samples.app(text(value))
    #expect(app.destination(of: "stripe") == first)
    #expect(app.secondDestination(of: "stripe") == second)
    #expect(app.destinations(of: Self.monthly).present == first)
    #expect(app.destinations(of: Self.monthly).second == second)
    let rules = try App.rules(of: app)
    #expect(rules.destination("stripe") == first)
    #expect(rules.secondDestination("stripe") == second)
    #expect(app.secondDestination(of: "gone") == nil)
  }

  @Test func `It is shown as it was written`() throws {
    func shown(_ value: String) throws -> String? {
      try Samples.read(text(value)).configuration.redacted["apps"]?["shop"]?["stripe"]?["deliver_to"]?.text
    }
    #expect(try shown("'webhook'") == #""webhook""#)
    #expect(try shown("['purchasely', 'webhook']") == #"["purchasely","webhook"]"#)
  }

  @Test(arguments: [
    ("['purchasely', 'nowhere']", "deliver_to[1]", "\"purchasely\" or \"webhook\""),
    ("['webhook', 'webhook']", "deliver_to[1]", "is in the list already"),
    ("[]", "deliver_to", "from 1 to 2"), ("['purchasely', 'webhook', 'purchasely']", "deliver_to", "to 2"),
    ("'nowhere'", "deliver_to", "\"purchasely\" or \"webhook\""), ("7", "deliver_to", "the name of a"),
  ])
  func `A faulty value names its key`(value: String, key: String, message: String) {
    let faults = Samples.faults(text(value))
    #expect(
      faults.contains { $0.path == "apps.shop.stripe.\(key)" && $0.message.contains(message) }, "\(faults)")
  }

  @Test func `Both sections are required, while one that is the only destination may come later`() throws {
    let faults = Samples.faults(text("['purchasely', 'webhook']", webhook: ""))
    #expect(faults.map(\.path).contains { $0.hasPrefix("apps.shop.webhook") }, "\(faults)")
    #expect(try Samples.read(text("'webhook'", webhook: "")).warnings.map(\.path) == ["apps.shop.webhook"])
  }

  @Test func `A processor whose purchases only one destination can express takes no list`() {
    let afterpay =
      "afterpay: { merchant_id: '1', secret: 'env:API_KEY', region: 'US', confirm_url: 'https://a.example', "
      + "cancel_url: 'https://a.example', prices: { gold: '1.00' }, deliver_to: ['webhook'] },"
    let faults = Samples.faults(Samples.text(app: Self.webhook + afterpay))
    #expect(faults.contains { $0.path == "apps.shop.afterpay.deliver_to" }, "\(faults)")
  }

  @Test func `A webhook may have its own authorities, and a client certificate with its key`() throws {
    let folder = try TestFolder()
    let pem = try folder.write("-----BEGIN CERTIFICATE-----\n")
    func webhook(_ keys: String) -> String { Self.webhook.replacing(" },", with: ", \(keys) },") }
    let all = webhook("ca: '\(pem)', certificate: '\(pem)', key: '\(pem)'")
    let app = try Samples.app(text("'webhook'", webhook: all))
    let destination = try DestinationKind.webhook.make(app, revealsSecrets: true, userAgent: "")
    #expect(destination?.certificates == .init(authorities: pem, client: pem, clientKey: pem))
    for (keys, path) in [
      ("certificate: '\(pem)'", "key"), ("key: '\(pem)'", "certificate"), ("ca: '/nowhere'", "ca"),
    ] {
      let faults = Samples.faults(text("'webhook'", webhook: webhook(keys)))
      #expect(faults.map(\.path) == ["apps.shop.webhook.\(path)"])
    }
  }

  @Test func `one_time decides about Purchasely's receipt only, and the webhook gets none twice`() throws {
    let elsewhere = try Samples.app(text("['purchasely', 'webhook']", purchasely: "one_time: 'webhook',"))
    #expect(elsewhere.destinations(of: Self.once).present == "webhook")
    #expect(elsewhere.destinations(of: Self.monthly).present == "purchasely")
    let held = try Samples.app(text("['webhook', 'purchasely']", purchasely: "one_time: 'hold',"))
    #expect(held.destinations(of: Self.once).present == "webhook")
    #expect(held.destinations(of: Self.once).second == nil)
    #expect(held.destinations(of: Self.monthly).second == "purchasely")
    let copy = Receipt.copy(
      id: "rcp_2", of: "rcp_1",
      ReceiptPayload(destination: "purchasely", priceID: nil, priceMismatch: false, body: [1]),
      at: ReceiptMoment(now: Timestamp(unixMilliseconds: 0), pausedTime: .zero))
    #expect(held.destinations(of: Self.once).of(copy).present == nil)
    #expect(held.destinations(of: Self.monthly).of(copy).present == "purchasely")
  }
}
