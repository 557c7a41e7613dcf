// R7: secrets, bodies and user ids appear only where they belong.

import Domain
import Formats
import Glibc
import TestSupport
import Testing

@Suite(.withDaemonLog) struct SecrecyTests {
  @Test(arguments: ["text", "json"])
  func `Secrets, bodies and users are in no log line, no metric and no error (R7)`(format: String) throws {
    let top: JSONValue = ["log": ["format": .string(format), "level": "debug"]]
    try withRelay(app: ["delivery": ["breaker": ["failures": 2]]], top: top) { relay, destination in
      let checkout = Checkout("user-of-secrecy")
      var errors = try Self.provoke(relay, checkout)
      destination.answer(
        .status(403, body: "answer-body \(Secrets.apiKey)"), .status(500, body: "answer-body"), .status(500),
        .status(500))
      try relay.post(checkout)
      // The log contains an event's id; a real id does not reveal its object.
      try relay.ingest(checkout.completed.merging(["id": "evt_1"]))
      try relay.reaches(.delivered, checkout.subscription)
      destination.answer(.status(422, body: "answer-body"))
      try relay.ingest(Checkout("user-of-secrecy-2").completed.merging(["id": "evt_2"]))
      try relay.reaches(.failed, Checkout("user-of-secrecy-2").subscription)
      let metrics = try relay.admin.request("GET", "/metrics").text
      let ready = try relay.admin.request("GET", "/readyz").text
      try relay.directory.write(
        relay.configuration.merging(["apps": ["shop": ["purchaseli": ["api_key": .string(Secrets.apiKey)]]]])
          .prettyText, to: "receiptd.json5")
      relay.signal(SIGHUP)
      try waitUntil("the refusal is logged") { relay.log.contains("keeping the previous configuration") }
      #expect(try relay.stop() == 0)
      errors += [metrics, ready, relay.log]
      let needles = [
        Secrets.apiKey, Secrets.webhook, Secrets.clientKey, checkout.user, checkout.context, "answer-body",
        checkout.subscription, checkout.session, checkout.customer, Checkout.price, "no-such-key", "SELECT",
        "INSERT",
      ]
      for text in errors {
        for needle in needles { #expect(!text.contains(needle), "\(needle) in \(text)") }
      }
      #expect(errors.dropLast(3).allSatisfy { !$0.contains(relay.directory.path) })
      #expect(relay.log.contains("delivered"))
      #expect(relay.log.contains("a receipt failed"))
    }
  }

  /// Every refusal, as text with its header fields.
  private static func provoke(_ relay: Relay, _ checkout: Checkout) throws -> [String] {
    let body = checkout.completed.serialized()
    let wrong = try Stripe.signature(of: body, secret: "no-such-key")
    let replies = [
      try relay.outside.send(bytes: body, signature: wrong),
      try relay.outside.send(bytes: body, signature: nil),
      try relay.outside.postContext(
        checkout.user, checkout.context, headers: ["Authorization": "Bearer no-such-key"]),
      try relay.outside.postContext(checkout.user, "%%%"),
      try relay.outside.postContext(checkout.user, checkout.context, headers: ["X-User-Id": "somebody-else"]),
      try relay.outside.postContext(checkout.user, checkout.context, app: "none"),
      try relay.outside.api.request("GET", "/v1/shop/users/\(checkout.user)/contexts"),
      try relay.outside.api.request("GET", "/v1/shop/\(checkout.user)"),
      try relay.admin.request("GET", "/\(checkout.user)"),
    ]
    #expect(replies.allSatisfy { $0.status >= 400 })
    return replies.map { ($0.headers + [$0.text]).joined(separator: "\n") }
  }
}
