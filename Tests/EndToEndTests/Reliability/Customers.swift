// Customers who pay through the relay while it is killed: what their apps learned, to be compared with the
// processors' ledgers. Thread-safe.

import Formats
import Platform
import Sandbox

/// The processors and the relay, as customers meet them.
struct PaymentMarket: Sendable {
  static let merchantID = "100200300"
  static let secret = "afterpay-secret-of-the-kills"
  static let token = "merchant-token-of-the-kills"

  let port: UInt16
  let afterpay: SandboxAfterpay
  let swedbank: SandboxSwedbank

  /// The sections of the app.
  func sections(backend: String) -> JSONValue {
    let key = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
    return [
      "afterpay": [
        "api_base": .string(afterpay.base), "merchant_id": .string(Self.merchantID),
        "secret": .string(Self.secret), "region": "US", "currency": "USD",
        "confirm_url": "https://shop.example.com/paid", "cancel_url": "shop://cancelled",
        "prices": ["gold": "59.99"],
      ],
      "swedbank": [
        "api_base": .string(swedbank.base), "merchant_token": .string(Self.token), "payee_id": "payee-1",
        "public_origin": .string("http://127.0.0.1:\(port)"), "callback_from": ["127.0.0.1"],
        "settle_after": "1m", "capture": "auto",
      ],
      "webhook": ["url": .string(backend), "secrets": [.string(key)]],
      "join": ["wait_for_context": "0s"],
    ]
  }

  /// A request of a customer's app; nil if the relay is down, or failed.
  func request(_ path: String, _ body: JSONValue, user: String) -> Reply? {
    let fields = ["X-API-KEY": Secrets.clientKey, "X-User-Id": user, "Content-Type": "application/json"]
    let reply = try? Endpoint(port: port).request(
      "POST", "/v1/shop/\(path)", body: body.serialized(), headers: fields)
    return reply.flatMap { $0.status < 500 && $0.status != 429 ? $0 : nil }
  }
}

/// Customers that pay until they are stopped. Owns their threads.
final class Customers {
  /// What an app learned: the token or the order's id, and the user.
  struct Payment: Sendable {
    let object: String
    let user: String
  }

  private struct State {
    var paid: [Payment] = []
    var faults: [String] = []
    var isOver = false
  }

  private let state = Monitor(State())
  private var threads: [WorkerThread] = []

  init(_ count: Int, _ market: PaymentMarket) throws {
    let state = state
    threads = try (0..<count).map { customer in
      try WorkerThread(name: "customer-\(customer)") {
        var number = 0
        while !state.withLock({ $0.isOver }) {
          number += 1
          let user = "user-\(customer)-\(number)"
          let payment =
            customer % 2 == 0
            ? Self.payWithCashApp(market, user, state) : Self.payWithSwedbank(market, user, state)
          if let payment { state.update { $0.paid.append(payment) } }
        }
      }
    }
  }

  /// Repeats a request until the relay answers it, or the customers are stopped.
  private static func insist(_ state: Monitor<State>, _ ask: () -> Reply?) -> Reply? {
    while !state.withLock({ $0.isOver }) {
      if let reply = ask() { return reply }
      Waiting.pause()
    }
    return nil
  }

  private static func payWithCashApp(
    _ market: PaymentMarket, _ user: String, _ state: Monitor<State>
  ) -> Payment? {
    let start: JSONValue = [
      "email": .string("\(user)@example.com"), "price": "gold", "isCashAppPay": true,
    ]
    let started = insist(state) { market.request("afterpay/checkout", start, user: user) }
    guard let token = started?["token"] else { return nil }
    market.afterpay.perform(.confirm, on: token)
    let order: JSONValue = ["token": .string(token), "grantId": "GRG_1"]
    guard let reply = insist(state, { market.request("afterpay/capture", order, user: user) }) else {
      return nil
    }
    if reply.status == 200, reply["state"] == "captured" { return Payment(object: token, user: user) }
    state.update { $0.faults.append("\(token): \(reply.status) \(reply.text)") }
    return nil
  }

  private static func payWithSwedbank(
    _ market: PaymentMarket, _ user: String, _ state: Monitor<State>
  ) -> Payment? {
    let urls: JSONValue = [
      "hostUrls": ["https://pay.example.com"], "completeUrl": "https://pay.example.com/complete",
      "cancelUrl": "https://pay.example.com/cancel",
    ]
    let order: JSONValue = [
      "operation": "Purchase", "currency": "SEK", "amount": 1500, "vatAmount": 375, "description": "Gold",
      "userAgent": "app/1", "language": "sv-SE", "productName": "Checkout3", "urls": urls,
      "payeeInfo": ["payeeId": "", "payeeReference": ""],
    ]
    let started = insist(state) {
      market.request("swedbank/paymentorders", ["paymentorder": order], user: user)
    }
    guard let id = started?.json?["paymentOrder"]?["id"]?.stringValue else { return nil }
    guard market.swedbank.perform(.authorize, on: id) else { return nil }
    return Payment(object: id, user: user)
  }

  /// How many payments the apps know to be paid.
  var count: Int { state.withLock { $0.paid.count } }

  /// Ends the threads.
  /// - Returns: what the apps learned, and answers that they did not expect.
  @discardableResult func stop() -> (paid: [Payment], faults: [String]) {
    state.update { $0.isOver = true }
    for thread in threads { thread.join() }
    threads = []
    return state.withLock { ($0.paid, $0.faults) }
  }
}
