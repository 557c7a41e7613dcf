// Receipts for the merchant's own backend: signed, repeated with the same id, and kept while there is none.

import Domain
import Formats
import Glibc
import HTTPServer
import TestSupport
import Testing

@Suite(.withDaemonLog) struct WebhookDeliveryTests {
  private static let secrets = [1, 2].map { "whsec_" + Base64.encode(Array(repeating: $0, count: 32)) }

  private func webhook(_ destination: Destination) -> JSONValue {
    ["url": .string(destination.url), "secrets": .array(Self.secrets.map { .string($0) })]
  }

  /// Runs a relay whose Stripe purchases go to a webhook.
  /// - Parameter body: gets the relay, Purchasely and the merchant's backend.
  private func withWebhook(
    isConfigured: Bool = true, _ body: (Relay, Destination, Destination) throws -> Void
  ) throws {
    let backend = try Destination()
    defer { backend.stop() }
    var app: JSONValue = ["stripe": ["deliver_to": "webhook"]]
    if isConfigured { app = app.adding("webhook", webhook(backend)) }
    try withRelay(app: app) { relay, purchasely in try body(relay, purchasely, backend) }
  }

  @Test func `A receipt is signed with each secret, and a repeat has the same id and bytes`() throws {
    try withWebhook { relay, purchasely, backend in
      backend.answer(.status(500))
      let checkout = Checkout("signed")
      try relay.buy(checkout)
      let receipt = try relay.reaches(.delivered, checkout.subscription)
      let entries = backend.ledger
      #expect(entries.count == 2)
      #expect(Set(entries.map(\.body)).count == 1)
      for entry in entries {
        #expect(entry.head.headers("webhook-id") == [receipt.id.text])
        #expect(entry.head.headers("Content-Type") == ["application/json"])
        #expect(entry.head.headers("webhook-signature").first?.split(separator: " ").count == 2)
      }
      let data = try #require(entries.first?.json["data"])
      #expect(entries.first?["type"] == "purchase.completed")
      #expect(data["user_id"]?.stringValue == checkout.user)
      #expect(data["object_id"]?.stringValue == checkout.subscription)
      #expect(data["ply_context"]?.stringValue == checkout.context)
      #expect(receipt.importID == receipt.id.text, "the id under which the receiver knows it")
      #expect(purchasely.ledger.isEmpty)
      #expect(!Self.secrets.contains { relay.log.contains($0) })
    }
  }

  /// The library's own receiver, for one message: body, headers as JSON, and the secret.
  private static let receiver = """
    import json, sys
    from standardwebhooks import Webhook
    Webhook(sys.argv[1]).verify(open(sys.argv[2], "rb").read(), json.loads(sys.argv[3]))
    """

  private static let hasLibrary =
    (try? ShellRun(["python3", "-c", "import standardwebhooks"]).code) == 0

  @Test(
    "Another implementation of the specification accepts the signature, and refuses a changed body",
    .enabled(if: hasLibrary))
  func otherImplementation() throws {
    try withWebhook { relay, _, backend in
      let checkout = Checkout("verified")
      try relay.ingest(checkout.completed)
      try relay.reaches(.delivered, checkout.subscription)
      let entry = try #require(backend.ledger.first)
      let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]
      let headers = JSONValue.object(
        names.map { .init(name: $0, value: .string(entry.head.header($0) ?? "")) })
      func verify(_ body: [UInt8], _ secret: String) throws -> ShellRun {
        let file = relay.directory.file("message")
        try relay.directory.write(String(decoding: body, as: UTF8.self), to: "message")
        let text = String(decoding: headers.serialized(), as: UTF8.self)
        return try ShellRun(["python3", "-c", Self.receiver, secret, file, text])
      }
      for secret in Self.secrets {
        let run = try verify(entry.body, secret)
        #expect(run.code == 0, "\(run.output)")
      }
      #expect(try verify(entry.body + [0x20], Self.secrets[0]).output.contains("No matching signature found"))
      let other = "whsec_" + Base64.encode(Array(repeating: 9, count: 32))
      #expect(try verify(entry.body, other).output.contains("No matching signature found"))
    }
  }

  @Test("A one-time purchase is held while a subscription is sent, and goes to the webhook after a reload")
  func oneTimePurchases() throws {
    let backend = try Destination()
    defer { backend.stop() }
    let products = JSONValue.object([.init(name: Checkout.price, value: "com.example.gold")])
    let section: JSONValue = ["purchasely": ["one_time": "hold", "products": products]]
    try withRelay(app: section) { relay, purchasely in
      let once = Checkout("once")
      try relay.post(once)
      let sold: JSONValue = ["data": ["object": ["mode": "payment", "subscription": .null]]]
      try relay.ingest(once.completed.merging(sold))
      let held = try waitFor("the receipt is held") {
        let receipt = try relay.receipt(of: once.session)
        return receipt?.reason == .destination ? receipt : nil
      }
      let shown = try relay.receiptctl("receipts", "show", held.id.text).output
      #expect(shown.contains("apps.shop.purchasely.one_time holds it."), "\(shown)")
      let monthly = Checkout("monthly")
      try relay.buy(monthly)
      try relay.reaches(.delivered, monthly.subscription)
      #expect(purchasely.ledger.map { $0["store_product_id"] } == ["com.example.gold"])
      relay.configuration = relay.configuration.merging(
        ["apps": ["shop": ["purchasely": ["one_time": "webhook"], "webhook": webhook(backend)]]])
      try relay.writeAndReload()
      try relay.reaches(.delivered, once.session)
      #expect(backend.ledger.map { $0.json["data"]?["object_id"]?.stringValue } == [once.session])
      #expect(purchasely.ledger.map(\.objectID) == [monthly.subscription])
    }
  }

  @Test func `Without a webhook a receipt waits, visibly, and leaves with the reload that adds it`() throws {
    try withWebhook(isConfigured: false) { relay, purchasely, backend in
      let checkout = Checkout("patient")
      try relay.ingest(checkout.completed)
      let waiting = try waitFor("the receipt waits for a destination") {
        let receipt = try relay.receipt(of: checkout.subscription)
        return receipt?.reason == .destination ? receipt : nil
      }
      func control(_ words: String...) throws -> String {
        try relay.receiptctl(words).output
      }
      #expect(try control("receipts", "show", waiting.id.text).contains("has no destination for it."))
      #expect(try control("config", "check").contains("apps.shop.webhook: is missing"))
      func page() throws -> String { try relay.admin.request("GET", "/receipts/\(waiting.id)").text }
      let before = try page()
      #expect(before.contains("configure the destination that apps.shop.stripe.deliver_to names"))
      #expect(before.contains("Cancel receipt…"))
      #expect(!before.contains("/replay\""), "the store would refuse it")
      relay.configuration = relay.configuration.merging(["apps": ["shop": ["webhook": webhook(backend)]]])
      try relay.writeAndReload()
      try relay.reaches(.delivered, checkout.subscription)
      #expect(backend.ledger.count == 1)
      #expect(purchasely.ledger.isEmpty)
      #expect(try page().contains("/replay\""))
    }
  }
}
