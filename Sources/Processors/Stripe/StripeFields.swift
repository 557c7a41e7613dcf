// The fields of Stripe's objects that the relay reads, by presence and never by `api_version`: old and new
// shapes may stand side by side, and what has another type than expected reads as absent
// (https://docs.stripe.com/upgrades, https://docs.stripe.com/changelog/basil/2025-03-31). The one place that
// turns bytes into fields. Each is a view of the event's bytes, looked up when it is asked for, and valid as
// long as the document is open. Pure; any thread.

internal import JSON

/// A webhook's envelope (https://docs.stripe.com/api/events/object).
struct StripeEnvelope {
  let node: JSONNode

  /// - Returns: nil when it is no object.
  init?(_ node: JSONNode) {
    guard node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.member("id")?.string }
  var type: String? { node.member("type")?.string }
  var account: String? { node.member("account")?.string }
  var livemode: Bool? { node.member("livemode")?.bool }
  /// Seconds since 1970; thin events have a text here, which reads as absent.
  var created: Int64? { node.member("created")?.int64 }
  var object: StripeObject? { node.member("data")?.member("object").flatMap(StripeObject.init) }
  var previousStatus: String? {
    node.member("data")?.member("previous_attributes")?.member("status")?.string
  }
}

/// The union of what is read from checkout sessions, subscriptions and invoices.
struct StripeObject {
  let node: JSONNode

  /// - Returns: nil when it is no object.
  init?(_ node: JSONNode) {
    guard node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.member("id")?.string }
  /// What kind of object it is, by its own word.
  var kind: String? { node.member("object")?.string }
  var mode: String? { node.member("mode")?.string }
  var status: String? { node.member("status")?.string }
  var paymentStatus: String? { node.member("payment_status")?.string }
  var clientReferenceID: String? { node.member("client_reference_id")?.string }
  var billingReason: String? { node.member("billing_reason")?.string }
  var customer: Reference? { Reference(node.member("customer")) }
  var subscription: Reference? { Reference(node.member("subscription")) }
  var plan: Reference? { Reference(node.member("plan")) }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
  var lineItems: [Item]? { Item.list(node.member("line_items")?.member("data")) }
  var displayItems: [Item]? { Item.list(node.member("display_items")) }
  /// The objects of a list (https://docs.stripe.com/api/pagination); nil when it is none.
  var listed: [StripeObject]? {
    guard let data = node.member("data"), data.isArray else { return nil }
    var objects: [StripeObject] = []
    data.forEachElement { element in
      if let object = StripeObject(element) { objects.append(object) }
    }
    return objects
  }
  var items: [Item]? { Item.list(node.member("items")?.member("data")) }
  var lines: [Item]? { Item.list(node.member("lines")?.member("data")) }
  var subscriptionDetails: SubscriptionDetails? { SubscriptionDetails(node.member("subscription_details")) }
  /// What made an invoice, since the 2025-03-31 API.
  var parentSubscriptionDetails: SubscriptionDetails? {
    SubscriptionDetails(node.member("parent")?.member("subscription_details"))
  }
}

/// An id, given as itself or as the whole object that has it (https://docs.stripe.com/expand).
struct Reference {
  private let node: JSONNode

  /// - Returns: nil when there is neither.
  init?(_ node: JSONNode?) {
    guard let node, node.isString || node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.isString ? node.string : node.member("id")?.string }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
}

/// Key and value pairs of the merchant's own (https://docs.stripe.com/api/metadata). What is no text is left
/// out.
struct Metadata {
  private let node: JSONNode

  /// - Returns: nil when there are none.
  init?(_ node: JSONNode?) {
    guard let node, node.isObject else { return nil }
    self.node = node
  }

  subscript(key: String) -> String? { node.member(named: key)?.string }
}

/// A line of a session, an item of a subscription, a line of an invoice.
struct Item {
  private let node: JSONNode

  /// The items of a list; nil when there is none, or when something else stands in it. Some events publish a
  /// list elided to `{}`.
  static func list(_ node: JSONNode?) -> [Item]? {
    guard let node, node.isArray else { return nil }
    var items: [Item] = []
    var isWhole = true
    node.forEachElement { element in
      if element.isObject { items.append(Item(node: element)) } else { isWhole = false }
    }
    return isWhole ? items : nil
  }

  /// The newest shape first: `pricing` (2025-03-31), `price` (2020), `plan`.
  var priceID: String? {
    Reference(node.member("pricing")?.member("price_details")?.member("price"))?.id
      ?? Reference(node.member("price"))?.id ?? Reference(node.member("plan"))?.id
  }

  /// Whether a line of an invoice is of one of the subscription's items: by its `parent` (2025-03-31), else
  /// by its `type`.
  var isOfSubscription: Bool { itemDetails != nil || node.member("type")?.string == "subscription" }

  var subscriptionID: String? {
    Reference(itemDetails?.member("subscription"))?.id ?? Reference(node.member("subscription"))?.id
  }

  /// The item of a subscription that made the line; nil also when what it says of the subscription cannot be
  /// understood.
  private var itemDetails: JSONNode? {
    guard let details = node.member("parent")?.member("subscription_item_details"), details.isObject
    else { return nil }
    guard let subscription = details.member("subscription"), !subscription.isNull else { return details }
    return Reference(subscription) == nil ? nil : details
  }
}

/// What an invoice says about its subscription.
struct SubscriptionDetails {
  private let node: JSONNode

  /// - Returns: nil when it says nothing.
  init?(_ node: JSONNode?) {
    guard let node, node.isObject else { return nil }
    self.node = node
  }

  var subscription: Reference? { Reference(node.member("subscription")) }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
}
