// Stripe's events for tests: only the relevant fields, in the formats of Stripe's history.

import Domain
import Formats
import Partners
import TestSupport
import Testing

let readAt = Timestamp(unixSeconds: 1_800_000_000)
/// `created` is a whole second; the relay uses the end of that second.
func endOf(second: Int64) -> Timestamp { Timestamp(unixMilliseconds: second * 1000 + 999) }

let happenedAt = endOf(second: 1_700_000_000)

/// An envelope around an object.
func event(_ type: JSONValue, _ object: JSONValue, _ more: [(String, JSONValue)] = []) -> JSONValue {
  .object(
    [
      ("id", "evt_1"), ("object", "event"), ("type", type), ("created", 1_700_000_000), ("livemode", false),
      ("data", ["object": object]),
    ].filter { member in !more.contains { $0.0 == member.0 } }.map(JSONValue.Member.init)
      + more.map(JSONValue.Member.init))
}

/// An object with some members replaced or added, and those whose value is nil removed.
func object(_ base: JSONValue, _ changes: (String, JSONValue?)...) -> JSONValue {
  guard case .object(var members) = base else { return base }
  for (name, value) in changes {
    members.removeAll { $0.name == name }
    if let value { members.append(.init(name: name, value: value)) }
  }
  return .object(members)
}

let paidSession: JSONValue = [
  "id": "cs_1", "object": "checkout.session", "mode": "subscription", "status": "complete",
  "payment_status": "paid", "subscription": "sub_1", "customer": "cus_1", "client_reference_id": "u1",
  "metadata": [:],
]

let activeSubscription: JSONValue = [
  "id": "sub_1", "object": "subscription", "status": "active", "customer": "cus_1",
  "items": ["object": "list", "data": [["price": ["id": "price_1"]]]], "metadata": ["user_id": "u1"],
]

let firstInvoice: JSONValue = [
  "id": "in_1", "object": "invoice", "status": "paid", "billing_reason": "subscription_create",
  "customer": "cus_1", "subscription": "sub_1",
  "lines": ["data": [["price": ["id": "price_1"], "type": "subscription"]]],
]

func read(_ body: JSONValue, _ settings: StripeSettings = StripeSettings()) throws
  -> EventReading
{
  try read(bytes: body.serialized(), settings)
}

func read(
  bytes: [UInt8], _ settings: StripeSettings = StripeSettings()
) throws -> EventReading {
  try StripeProcessor(settings, webhookSecrets: ["s"]).read(bytes, now: readAt)
}

/// The report of an event; throws when the event has none.
func report(
  _ body: JSONValue, _ settings: StripeSettings = StripeSettings()
) throws -> PurchaseReport {
  let reading = try read(body, settings)
  guard case .purchase(let report, _) = reading.content else {
    throw SaysNothing(content: reading.content)
  }
  return report
}

struct SaysNothing: Error {
  var content: EventReading.Content
}

func outcome(
  _ body: JSONValue, _ settings: StripeSettings = StripeSettings()
) throws -> EventOutcome? {
  guard case .nothing(let outcome) = try read(body, settings).content else { return nil }
  return outcome
}

/// Whether an event is stored for a purchase that is not known yet.
func isKept(_ body: JSONValue) throws -> Bool? {
  guard case .purchase(_, let isWorthKeeping) = try read(body).content else { return nil }
  return isWorthKeeping
}

/// A user that counts.
func named(_ id: UserID, _ source: Purchase.UserSource) -> NamedUser {
  NamedUser(id: id, source: source, standing: .counts)
}

func subscription(_ id: ObjectID) -> PurchaseKey { PurchaseKey(type: .subscription, id: id) }
func session(_ id: ObjectID) -> PurchaseKey { PurchaseKey(type: .checkoutSession, id: id) }
