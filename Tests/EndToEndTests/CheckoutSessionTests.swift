// A real receiptd that opens Checkout Sessions at a stand-in for Stripe: for each context one, whatever
// happens on the way.

import Domain
import Formats
import FoundationEssentials
import Glibc
import HTTPServer
import Platform
import Sandbox
import TestSupport
import Testing

@Suite(.withDaemonLog) struct CheckoutSessionTests {
  private static let key = "rk_test_checkout"

  /// The requests to the stand-in.
  private final class Asked: Sendable {
    private let entries = Monitor<[SandboxStripeRequest]>([])
    func note(_ request: SandboxStripeRequest) { entries.update { $0.append(request) } }
    var posts: [SandboxStripeRequest] { entries.withLock { $0 }.filter { $0.method == "POST" } }
  }

  private func withStripe(
    _ behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour(apiKey: key), checkout: JSONValue = [:],
    more: JSONValue = [:], _ body: (Relay, SandboxStripe, Asked) throws -> Void
  ) throws {
    let asked = Asked()
    var records = StripeRecords()
    records.add(object: ["id": .string(Checkout.price), "object": "price", "type": "recurring"])
    records.add(object: ["id": "price_once", "object": "price", "type": "one_time"])
    let stripe = try SandboxStripe(records: records, behaviour: behaviour) { asked.note($0) }
    defer { stripe.stop() }
    let prices: JSONValue = .object([
      .init(name: Checkout.price, value: "subscription"),
      .init(name: "gold", value: ["price": "price_once", "mode": "payment"]),
      .init(name: "wrong", value: ["price": "price_gone", "mode": "payment"]),
    ])
    let section: JSONValue = [
      "api_key": .string(Self.key), "api_base": .string(stripe.base), "checkout": ["prices": prices],
    ]
    let app: JSONValue = [
      "stripe": section.merging(["checkout": checkout]), "links": ["origin": "https://pay.example.com"],
    ]
    try withRelay(app: app.merging(more)) { relay, _ in try body(relay, stripe, asked) }
  }

  private func post(
    _ relay: Relay, _ user: String, price: String? = Checkout.price, path: String = "checkout",
    accept: String = "application/json"
  ) throws -> Reply {
    let headers = [
      "Content-Type": "application/json", "X-API-KEY": Secrets.clientKey, "Accept": accept,
    ]
    let body: JSONValue = ["ply_context": .string(blob(price: price, presentation: "pres_\(user)"))]
    return try relay.outside.api.request(
      "POST", "/v1/shop/users/\(user)/\(path)", body: body.serialized(), headers: headers)
  }

  @Test("Each checkout has its own session, whose purchase gets the context; a repeat gets the same session")
  func sale() throws {
    try withStripe(checkout: ["return_origin": "https://back.example.com"]) { relay, stripe, asked in
      let reply = try post(relay, "ada")
      #expect(reply.status == 201, "\(reply.text)")
      let id = try #require(reply["context_id"])
      let session = try #require(stripe.records.sessions.first)
      #expect(reply["checkout_url"] == session["url"]?.stringValue)
      #expect(session["client_reference_id"]?.stringValue == id)
      #expect(session["metadata"]?["ply_context_id"]?.stringValue == id)
      #expect(session["mode"] == "subscription")
      let back = "https://back.example.com/v1/shop/return?context_id=\(id)&result="
      #expect(session["success_url"]?.stringValue == back + "success")
      #expect(session["cancel_url"]?.stringValue == back + "cancel")

      let again = try post(relay, "ada")
      #expect(again.status == 200)
      #expect(again["checkout_url"] == reply["checkout_url"])
      let browser = try post(relay, "ada", accept: "text/html")
      #expect(browser.status == 303)
      #expect(browser.header("Location") == reply["checkout_url"])
      #expect(stripe.records.sessions.count == 1)
      #expect(Set(asked.posts.map(\.idempotencyKey)).count == 1)

      let checkout = Checkout("ada")
      try relay.ingest(
        checkout.sessionEvent(
          "completed",
          [
            "id": session["id"] ?? .null, "client_reference_id": .string(id),
            "metadata": session["metadata"] ?? .null, "line_items": session["line_items"] ?? .null,
          ]))
      try relay.reaches(.delivered, checkout.subscription)
      #expect(try relay.state(ofContext: id) == "delivered")
      #expect(!relay.log.contains(Self.key))
    }
  }

  @Test("A name of the merchant's own sells Stripe's price of it; a post of a context opens nothing")
  func ownName() throws {
    try withStripe { relay, stripe, asked in
      let context = try post(relay, "ada", price: "gold", path: "contexts")
      #expect(context.status == 201)
      #expect(context["checkout_url"] == nil)
      #expect(asked.posts.isEmpty)
      #expect(try post(relay, "ada", price: "gold").status == 200)
      let session = try #require(stripe.records.sessions.first)
      #expect(session["mode"] == "payment")
      #expect(session["line_items"]?.text.contains("price_once") == true)
      let body = try #require(asked.posts.first).body
      let fields = try FormFields.all(in: body.span)
      #expect(
        fields.contains {
          $0.name == "payment_intent_data[metadata][ply_context_id]" && $0.value == context["context_id"]
        })
      #expect(
        session["success_url"]?.stringValue?.hasPrefix("https://pay.example.com/v1/shop/return?") == true)
      #expect(try post(relay, "ada", price: "price_of_nothing").status == 422)
      #expect(asked.posts.count == 1)
    }
  }

  @Test func `Without an answer of Stripe's the context is kept, and the repeat opens one session`() throws {
    try withStripe { relay, stripe, asked in
      // Stripe made a session, and its answer was lost.
      stripe.behaviour.losesAnswers = true
      let lost = try post(relay, "ada")
      #expect(lost.status == 502, "\(lost.text)")
      #expect(lost["type"] == "urn:receiptd:problem:processor-unreachable")
      #expect(lost.header("Retry-After") != nil)
      #expect(lost["request_id"] == lost.header("X-Request-Id"))
      #expect(try relay.count("contexts") == 1)
      stripe.behaviour.losesAnswers = false
      stripe.behaviour.status = 503
      #expect(try post(relay, "ada")["type"] == "urn:receiptd:problem:processor-failed")
      stripe.behaviour.status = 429
      #expect(try post(relay, "ada").status == 503)
      stripe.behaviour.status = nil
      let reply = try post(relay, "ada")
      #expect(reply.status == 200)
      #expect(reply["checkout_url"] == stripe.records.sessions.first?["url"]?.stringValue)
      #expect(stripe.records.sessions.count == 1)
      #expect(Set(asked.posts.map(\.idempotencyKey)).count == 1)
      #expect(try relay.count("contexts") == 1)
      for reason in ["unreachable", "failed"] {
        let sample = #"receiptd_backend_troubles_total{app="shop",processor="stripe",reason="\#(reason)"}"#
        #expect(try relay.metric(sample) == 1)
      }
    }
  }

  @Test("A slow Stripe delays neither other requests nor the client for longer than the time-out")
  func slow() throws {
    let slow = SandboxStripeBehaviour(delay: .seconds(20), apiKey: Self.key)
    try withStripe(slow, checkout: ["timeout": "1s"]) { relay, _, _ in
      let port = relay.outside.api.port
      let waiting = try (1...20).map { number in
        let wire = try Wire(port)
        let body = #"{"ply_context":"\#(blob(price: Checkout.price, presentation: "p\(number)"))"}"#
        try wire.send(
          "POST /v1/shop/users/slow\(number)/checkout HTTP/1.1\r\nHost: test\r\nAccept: application/json\r\n"
            + "Content-Type: application/json\r\nX-API-KEY: \(Secrets.clientKey)\r\n"
            + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
        return wire
      }
      // All of them are stored before Stripe answers, and so is what comes meanwhile.
      try waitUntil("all contexts are stored") { try relay.count("contexts") == 20 }
      for number in 1...20 { #expect(try post(relay, "other\(number)", path: "contexts").status == 201) }
      for wire in waiting {
        let reply = try wire.reply()
        #expect(reply.status == 504)
        #expect(reply["type"] == "urn:receiptd:problem:processor-timeout")
      }
      #expect(try relay.count("contexts") == 40)
    }
  }

  @Test func `A price that also has a page is sold there while Stripe opens no session`() throws {
    let links: JSONValue = [
      "links": [
        "checkout": .object([.init(name: Checkout.price, value: "https://buy.stripe.com/a?locale=de")])
      ]
    ]
    try withStripe(more: links) { relay, stripe, _ in
      stripe.behaviour.status = 500
      let reply = try post(relay, "ada")
      #expect(reply.status == 201)
      let id = try #require(reply["context_id"])
      #expect(reply["checkout_url"] == "https://buy.stripe.com/a?locale=de&client_reference_id=\(id)")
      stripe.behaviour.status = nil
      #expect(try post(relay, "ada")["checkout_url"] == stripe.records.sessions.first?["url"]?.stringValue)
      // As the answers of contexts, which open no session.
      #expect(try post(relay, "ada", path: "contexts")["checkout_url"] == reply["checkout_url"])
    }
  }

  @Test("A user with a token types no address again, and a client with the app's key learns none")
  func payer() throws {
    let issuer = try TokenIssuer(.p256)
    let directory = try TestFolder()
    try directory.write(try issuer.jwk().text, to: "keys")
    let tokens: JSONValue = [
      "issuer": "https://id.example.com/", "audience": "relay",
      "keys": .string("file:\(directory.file("keys"))"),
    ]
    try withStripe(more: ["client": ["jwt": tokens]]) { relay, stripe, asked in
      stripe.records.add(object: ["id": "cus_ada", "object": "customer"])
      /// Opens a checkout with the user's token, and returns whom each request to Stripe named.
      func open(_ user: String, _ presentation: String) throws -> [[String: String]] {
        let known = asked.posts.count
        let claims: JSONValue = [
          "iss": "https://id.example.com/", "aud": "relay", "sub": .string(user),
          "exp": .integer(Stripe.unixSeconds + 600), "email": .string("\(user)@example.com"),
          "email_verified": true,
        ]
        let body: JSONValue = [
          "ply_context": .string(blob(price: Checkout.price, presentation: presentation))
        ]
        let reply = try relay.outside.api.request(
          "POST", "/v1/shop/checkout", body: body.serialized(),
          headers: [
            "Content-Type": "application/json", "Authorization": "Bearer \(try issuer.token(claims))",
            "Accept": "application/json",
          ])
        #expect(reply.status == 201, "\(reply.text)")
        #expect(!reply.text.contains("@example.com"))
        return try asked.posts.dropFirst(known).map(Self.customer)
      }
      for user in ["ada", "bob"] {
        #expect(try open(user, "first") == [["customer_email": "\(user)@example.com"]])
        let checkout = Checkout(user)
        try relay.ingest(checkout.completed)
        try relay.reaches(.delivered, checkout.subscription)
      }
      #expect(try open("ada", "second") == [["customer": "cus_ada"]])
      // Stripe does not have this customer any more.
      #expect(try open("bob", "second") == [["customer": "cus_bob"], ["customer_email": "bob@example.com"]])
      #expect(try post(relay, "ada").status == 201)
      #expect(try asked.posts.last.map(Self.customer) == [:])
      #expect(!relay.log.contains("@example.com"))
    }
    // The relay reads the keys as long as it runs.
    withExtendedLifetime(directory) {}
  }

  /// The fields of a request to Stripe that name a customer.
  private static func customer(_ request: SandboxStripeRequest) throws -> [String: String] {
    let fields = try FormFields.all(in: request.body.span).filter { $0.name.hasPrefix("customer") }
    return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
  }

  @Test func `A refused price and a refused key have different answers, are logged, and counted`() throws {
    try withStripe { relay, stripe, _ in
      let price = try post(relay, "ada", price: "wrong")
      #expect(price.status == 422)
      #expect(price["type"] == "urn:receiptd:problem:checkout-refused")
      try waitUntil("it says so") { relay.log.contains("resource_missing") }
      stripe.behaviour.makesSessions = false
      let right = try post(relay, "bob")
      #expect(right.status == 502)
      #expect(right["type"] == "urn:receiptd:problem:processor-credentials")
      stripe.behaviour = SandboxStripeBehaviour(apiKey: "another")
      #expect(try post(relay, "bob")["type"] == "urn:receiptd:problem:processor-credentials")
      let sample = #"receiptd_backend_troubles_total{app="shop",processor="stripe",reason="credentials"}"#
      #expect(try relay.metric(sample) == 2)
      #expect(try relay.count("contexts") == 2)
      #expect(!relay.log.contains(Self.key))
      #expect(!right.text.contains("rk_test"))
    }
  }
}
