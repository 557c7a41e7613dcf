// Stripe's side: checkouts, their events, and the signatures.

import Cryptography
import Formats
import Platform

extension JSONValue {
  /// This object merged with another: nested objects are merged, everything else is replaced.
  func merging(_ other: JSONValue) -> JSONValue {
    guard case .object(var members) = self, case .object(let changes) = other else { return other }
    for change in changes {
      if let index = members.firstIndex(where: { $0.name == change.name }) {
        members[index].value = members[index].value.merging(change.value)
      } else {
        members.append(change)
      }
    }
    return .object(members)
  }
}

/// A `ply_context` as apps send it: base64 of a small JSON object.
func blob(price: String?, presentation: String = "pres_1") -> String {
  let content: JSONValue = [
    "presentation_id": .string(presentation), "placement_id": "onboarding",
    "stripe_object_type": "subscription",
    "original_platform": "IOS", "stripe_price_id": .optional(price),
  ]
  return Base64.encode(content.serialized())
}

enum Stripe {
  static let eventsPath = "/v1/shop/webhooks/stripe"

  static var unixSeconds: Int64 { SystemClock().wallMilliseconds / 1000 }

  /// The value of `Stripe-Signature`.
  static func signature(
    of body: [UInt8], secret: String, at seconds: Int64 = unixSeconds, scheme: String = "v1"
  ) throws -> String {
    let key = try HMACSHA256(key: Array(secret.utf8))
    let code = key.authenticationCode(for: Array("\(seconds).".utf8), body)
    return "t=\(seconds),\(scheme)=\(Hex.encode(code))"
  }

  /// An event. Its id is derived from its type and its object, so the same fact always has the same event.
  static func event(_ type: String, _ object: JSONValue, _ more: JSONValue = [:]) -> JSONValue {
    let base: JSONValue = [
      "id": .string("evt_\(type)_\(object["id"]?.stringValue ?? "none")"), "object": "event",
      "api_version": "2024-06-20", "created": .integer(unixSeconds), "livemode": false, "pending_webhooks": 1,
      "type": .string(type), "data": ["object": object],
    ]
    return base.merging(more)
  }
}

/// One user's web checkout.
struct Checkout: Sendable {
  static let price = "price_1MbKJHJaEiB9UwXBPt0fFq4O"

  let user: String
  var price = Self.price

  init(_ user: String, price: String = Self.price) {
    self.user = user
    self.price = price
  }

  var session: String { "cs_test_\(user)" }
  var subscription: String { "sub_\(user)" }
  var customer: String { "cus_\(user)" }
  var context: String { blob(price: price, presentation: "pres_\(user)") }

  private func items(_ kind: String) -> JSONValue {
    let price: JSONValue = ["id": .string(price), "object": "price"]
    return ["object": "list", "data": [["id": .string("\(kind)_1"), "price": price]]]
  }

  /// An event about the session. Like Stripe's, it names the user and no price.
  func sessionEvent(_ type: String = "completed", _ changes: JSONValue = [:]) -> JSONValue {
    let object: JSONValue = [
      "id": .string(session), "object": "checkout.session", "mode": "subscription", "status": "complete",
      "payment_status": "paid", "client_reference_id": .string(user), "customer": .string(customer),
      "metadata": [:], "subscription": .string(subscription),
    ]
    return Stripe.event("checkout.session.\(type)", object.merging(changes))
  }

  /// The event of a paid session, with the price in its line items.
  var completed: JSONValue { sessionEvent("completed", ["line_items": items("li")]) }

  func subscriptionEvent(_ type: String = "created", _ changes: JSONValue = [:]) -> JSONValue {
    let object: JSONValue = [
      "id": .string(subscription), "object": "subscription", "status": "active",
      "customer": .string(customer), "metadata": [:], "items": items("si"),
    ]
    return Stripe.event("customer.subscription.\(type)", object.merging(changes))
  }

  /// The event of the first invoice.
  func invoiceEvent(_ type: String = "paid", _ changes: JSONValue = [:]) -> JSONValue {
    let object: JSONValue = [
      "id": .string("in_\(user)"), "object": "invoice", "status": "paid", "customer": .string(customer),
      "billing_reason": "subscription_create", "subscription": .string(subscription), "metadata": [:],
      "lines": items("il"),
    ]
    return Stripe.event("invoice.\(type)", object.merging(changes))
  }
}
