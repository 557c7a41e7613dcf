// A real relay whose app takes payments with Afterpay and Cash App Pay, with stand-ins for Afterpay and for
// the merchant's backend.

import Formats
import Platform
import Sandbox
import Testing

/// A relay whose app takes payments with Afterpay and with Stripe.
struct AfterpayRelay {
  static let merchantID = "100200300"
  static let secret = "afterpay-secret-end-to-end"

  let relay: Relay
  let purchasely: Destination
  let backend: Destination
  let afterpay: SandboxAfterpay
  private let exchanges: Monitor<[SandboxExchange]>

  /// The requests to Afterpay, as `POST /v2/checkouts`, without those of apps and customers.
  var sent: [String] {
    exchanges.withLock { exchanges in
      exchanges.filter { $0.operation.map { !["sign", "validate"].contains($0) } ?? false }
        .map { "\($0.method) \($0.target)" }
    }
  }

  var captureCalls: Int { sent.count { $0 == "POST /v2/payments/capture" } }

  /// The messages to the merchant's backend, by type.
  func messages(_ type: String) -> [Destination.Entry] { backend.ledger.filter { $0["type"] == type } }

  /// - Parameters:
  ///   - settings: changes for the section `afterpay`.
  ///   - hasWebhook: whether the app has the merchant's backend as a destination.
  ///   - links: the section `links` of the app.
  static func run(
    _ settings: JSONValue = [:], hasWebhook: Bool = true, links: JSONValue? = nil,
    _ body: (AfterpayRelay) throws -> Void
  ) throws {
    let exchanges = Monitor<[SandboxExchange]>([])
    var account = SandboxAfterpaySettings()
    (account.merchantID, account.secret) = (Self.merchantID, Self.secret)
    let afterpay = try SandboxAfterpay(
      settings: account, onExchange: { exchange in exchanges.update { $0.append(exchange) } })
    defer { afterpay.stop() }
    let backend = try Destination()
    defer { backend.stop() }
    let section: JSONValue = [
      "api_base": .string(afterpay.base), "merchant_id": .string(Self.merchantID),
      "secret": .string(Self.secret), "region": "US", "currency": "USD",
      "confirm_url": "https://shop.example.com/paid", "cancel_url": "shop://cancelled",
      "prices": ["gold": "59.99"],
    ]
    let key = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
    let webhook: JSONValue = ["url": .string(backend.url), "secrets": [.string(key)]]
    var app: JSONValue = ["afterpay": section.merging(settings)]
    if hasWebhook { app = app.adding("webhook", webhook) }
    if let links { app = app.adding("links", links) }
    try withRelay(app: app) { relay, purchasely in
      try body(
        AfterpayRelay(
          relay: relay, purchasely: purchasely, backend: backend, afterpay: afterpay, exchanges: exchanges))
      // R7. The credentials are encoded in a header.
      let credentials = Base64.encode(Array("\(Self.merchantID):\(Self.secret)".utf8))
      let metrics = try relay.admin.request("GET", "/metrics").text
      for text in [relay.log, metrics] {
        for secret in [Self.secret, credentials, Secrets.clientKey] { #expect(!text.contains(secret)) }
      }
    }
  }
}

// MARK: The app

extension AfterpayRelay {
  /// A request of the app to the relay.
  func request(
    _ method: String, _ path: String, _ body: JSONValue? = nil, user: String? = "buyer",
    context: String? = nil, headers: [String: String] = [:]
  ) throws -> Reply {
    let (path, fields) = head(path, user, context, body != nil)
    return try relay.outside.api.request(
      method, path, body: body?.serialized(), headers: fields.merging(headers) { $1 })
  }

  private func head(
    _ path: String, _ user: String?, _ context: String?, _ hasBody: Bool
  ) -> (String, [String: String]) {
    var fields = ["X-API-KEY": Secrets.clientKey]
    fields["X-User-Id"] = user
    fields["X-Context-Id"] = context
    if hasBody { fields["Content-Type"] = "application/json" }
    return ("/v1/shop/afterpay/\(path)", fields)
  }

  /// Starts a payment of 59.99 USD.
  /// - Returns: its token.
  func start(
    email: String = "jane@example.com", isCashAppPay: Bool = true, user: String = "buyer",
    context: String? = nil
  ) throws -> String {
    let body: JSONValue = ["email": .string(email), "price": "gold", "isCashAppPay": .bool(isCashAppPay)]
    let reply = try request("POST", "checkout", body, user: user, context: context)
    try #require(reply.status == 200, "\(reply.text)")
    return try #require(reply["token"])
  }

  func capture(_ token: String, grant: JSONValue? = "GRG_1", user: String = "buyer") throws -> Reply {
    try request("POST", "capture", Self.order(token, grant), user: user)
  }

  private static func order(_ token: String, _ grant: JSONValue?) -> JSONValue {
    let body: JSONValue = ["token": .string(token)]
    return grant.map { body.adding("grantId", $0) } ?? body
  }

  /// Sends the order to capture, and does not wait for the answer.
  func beginCapture(_ token: String, user: String = "buyer") throws -> Wire {
    let (path, fields) = head("capture", user, nil, true)
    let wire = try Wire(relay.outside.api.port)
    let body = Self.order(token, "GRG_1").serialized()
    try wire.send(Endpoint.bytes("POST", path, body: body, headers: fields))
    return wire
  }

  /// The state of a payment, as the app reads it.
  func state(of token: String, user: String = "buyer") throws -> String? {
    try request("GET", "checkouts/\(token)", user: user)["state"]
  }

  /// The app signs the payment, and the customer approves it in Cash App.
  func approve(_ token: String) throws {
    let server = Endpoint(port: afterpay.port)
    let json = ["Content-Type": "application/json"]
    let order: JSONValue = ["token": .string(token)]
    let signed = try server.request(
      "POST", "/v2/payments/sign-payment", body: order.serialized(), headers: json)
    let grant: JSONValue = [
      "jwt": .string(try #require(signed["jwtToken"])), "externalCustomerId": "CST_1",
      "externalGrantId": "GRG_1",
    ]
    let validated = try server.request(
      "POST", "/v2/payments/validate-payment", body: grant.serialized(), headers: json)
    try #require(validated["status"] == "SUCCESS", "\(validated.text)")
  }

  /// A payment that the customer has approved.
  func startApproved(
    email: String = "jane@example.com", user: String = "buyer", context: String? = nil
  ) throws -> String {
    let token = try start(email: email, user: user, context: context)
    try approve(token)
    return token
  }

  /// How often the customer was charged, by Afterpay's ledger.
  func charges(of token: String) -> Int? { afterpay.checkouts.first { $0.token == token }?.charges }
}
