// The ids and addresses in Stripe's events, of any type. Pure; any thread.

internal import Domain
internal import Formats

/// Reads what a stored event names. The fields are those of all objects, old and new: a charge names its
/// payment and its invoice until the 2025-03-31 API, an invoice its subscription under `parent` since then,
/// and `invoice_payment.*` which payment paid which invoice.
enum StripeMentions {
  static func read(_ body: [UInt8]) -> Mentions {
    var mentions = Mentions()
    JSONDocument.read(body) { root in
      guard let object = root.member("data")?.member("object"), object.isObject else { return }
      object.forEachMember { name, value in add(name, value, &mentions) }
    }
    return mentions
  }

  private static func add(_ name: JSONNode, _ value: JSONNode, _ mentions: inout Mentions) {
    switch name.string {
    case "id": mentions.add(id: value.string)
    case "client_reference_id": mentions.add(reference: value.string)
    case "payment_intent", "charge", "latest_charge", "invoice", "latest_invoice", "customer", "subscription",
      "setup_intent", "checkout_session", "pending_setup_intent":
      mentions.add(id: Reference(value)?.id)
    case "email", "customer_email", "receipt_email": mentions.add(address: value.string)
    case "customer_details", "billing_details": mentions.add(address: value.member("email")?.string)
    case "parent":
      mentions.add(id: Reference(value.member("subscription_details")?.member("subscription"))?.id)
    case "payment":
      mentions.add(id: Reference(value.member("payment_intent"))?.id)
      mentions.add(id: Reference(value.member("charge"))?.id)
    default: break
    }
  }
}
