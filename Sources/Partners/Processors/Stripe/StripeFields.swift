// The fields of Stripe's objects that the relay reads. It looks at the fields that are present, never at
// `api_version`: old and new formats may be mixed, and a field of an unexpected type reads as absent
// (https://docs.stripe.com/upgrades, https://docs.stripe.com/changelog/basil/2025-03-31). The only code that
// turns bytes into fields. Each field is a view of the event's bytes, looked up on access, and valid as long
// as the document is open. Pure; any thread.

internal import Domain
internal import Formats

/// A webhook's envelope (https://docs.stripe.com/api/events/object).
struct StripeEnvelope {
  let node: JSONNode

  /// - Returns: nil unless it is an object.
  init?(_ node: JSONNode) {
    guard node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.member("id")?.string }
  var type: String? { node.member("type")?.string }
  var account: String? { node.member("account")?.string }
  /// The account in an event of an organisation: the last one of a path
  /// (https://docs.stripe.com/get-started/account/orgs/build).
  var contextAccount: String? {
    node.member("context")?.string?.split(separator: "/").last.map(String.init)
  }
  var livemode: Bool? { node.member("livemode")?.bool }
  /// Seconds since 1970. Thin events have a string here, which reads as absent.
  var created: Int64? { node.member("created")?.int64 }
  var object: StripeObject? { node.member("data")?.member("object").flatMap(StripeObject.init) }
  var previousStatus: String? { previous?.member("status")?.string }
  /// Whether the event says that the subscription does not wait for its payment method any more.
  var clearsSetupIntent: Bool {
    guard let before = previous?.member("pending_setup_intent"), !before.isNull else { return false }
    return object?.pendingSetupIntent == nil
  }
  private var previous: JSONNode? { node.member("data")?.member("previous_attributes") }
  /// What a thin event names instead of having it (https://docs.stripe.com/event-destinations).
  var relatedObjectID: String? { node.member("related_object")?.member("id")?.string }
  var isThin: Bool { node.member("object")?.string == "v2.core.event" }
}

/// The union of the fields of checkout sessions, subscriptions and invoices.
struct StripeObject {
  let node: JSONNode

  /// - Returns: nil unless it is an object.
  init?(_ node: JSONNode) {
    guard node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.member("id")?.string }
  /// The object's type, from its member `object`.
  var kind: String? { node.member("object")?.string }
  var mode: String? { node.member("mode")?.string }
  var status: String? { node.member("status")?.string }
  var paymentStatus: String? { node.member("payment_status")?.string }
  var clientReferenceID: String? { node.member("client_reference_id")?.string }
  var billingReason: String? { node.member("billing_reason")?.string }
  var collectionMethod: String? { node.member("collection_method")?.string }
  var customer: Reference? { Reference(node.member("customer")) }
  var paymentIntent: Reference? { Reference(node.member("payment_intent")) }
  var paymentLink: Reference? { Reference(node.member("payment_link")) }
  /// Set while a subscription in its trial has no payment method yet
  /// (https://docs.stripe.com/api/subscriptions/object).
  var pendingSetupIntent: Reference? { Reference(node.member("pending_setup_intent")) }
  /// Whether an invoice asks for no money, such as that of a trial.
  var isFree: Bool {
    ["total", "amount_due", "amount_paid"].lazy.compactMap { node.member(named: $0)?.int64 }.first
      .map { $0 <= 0 } ?? false
  }
  var subscription: Reference? { Reference(node.member("subscription")) }
  /// The subscription that an invoice is for; nil if it is for none.
  var invoicedSubscription: ObjectID? {
    let id =
      parentSubscriptionDetails?.subscription?.id ?? subscription?.id ?? subscriptionDetails?.subscription?.id
      ?? (lines ?? []).lazy.compactMap(\.subscriptionID).first
    return UntrustedText.identifier(id).map { ObjectID($0) }
  }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
  var lineItems: [Item]? { Item.list(node.member("line_items")?.member("data")) }
  var displayItems: [Item]? { Item.list(node.member("display_items")) }
  /// What a session sells, if it names that.
  var sessionItems: [Item] { lineItems ?? displayItems ?? [] }
  /// A subscription's items; the plan in old versions without items.
  var subscriptionItems: [Item] {
    let items = items ?? []
    return items.contains { $0.priceID != nil || $0.productID != nil } ? items : [Item(node)]
  }
  /// The objects of a list (https://docs.stripe.com/api/pagination); nil when it is not a list.
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
  /// The source of an invoice, since the 2025-03-31 API.
  var parentSubscriptionDetails: SubscriptionDetails? {
    SubscriptionDetails(node.member("parent")?.member("subscription_details"))
  }
}

/// An id, as a string or inside the expanded object (https://docs.stripe.com/expand).
struct Reference {
  private let node: JSONNode

  /// - Returns: nil unless it is one of them.
  init?(_ node: JSONNode?) {
    guard let node, node.isString || node.isObject else { return nil }
    self.node = node
  }

  var id: String? { node.isString ? node.string : node.member("id")?.string }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
}

/// The merchant's own key-value pairs (https://docs.stripe.com/api/metadata). Values that are not strings are
/// ignored.
struct Metadata {
  private let node: JSONNode

  /// - Returns: nil unless it is an object.
  init?(_ node: JSONNode?) {
    guard let node, node.isObject else { return nil }
    self.node = node
  }

  subscript(key: String) -> String? { node.member(named: key)?.string }
}

/// A line of a session, an item of a subscription, or a line of an invoice.
struct Item {
  private let node: JSONNode

  init(_ node: JSONNode) { self.node = node }

  /// The items of a list; nil when there is no list, or when it contains anything else. Some events publish a
  /// list elided to `{}`.
  static func list(_ node: JSONNode?) -> [Item]? {
    guard let node, node.isArray else { return nil }
    var items: [Item] = []
    var isWhole = true
    node.forEachElement { element in
      if element.isObject { items.append(Item(element)) } else { isWhole = false }
    }
    return isWhole ? items : nil
  }

  /// The newest format first: `pricing` (2025-03-31), `price` (2020), `plan`.
  var priceID: String? {
    Reference(details?.member("price"))?.id
      ?? Reference(node.member("price"))?.id ?? Reference(node.member("plan"))?.id
  }

  var productID: String? {
    ([details, price, plan].lazy.compactMap { Reference($0?.member("product"))?.id }).first
  }

  /// The merchant's name of the price (https://docs.stripe.com/products-prices/manage-prices#lookup-keys).
  var lookupKey: String? { price?.member("lookup_key")?.string }

  private var details: JSONNode? { node.member("pricing")?.member("price_details") }
  /// The expanded price; in a line of an invoice since 2025-03-31 it is under `pricing`.
  private var price: JSONNode? {
    if let price = details?.member("price"), price.isObject { return price }
    return node.member("price")
  }
  private var plan: JSONNode? { node.member("plan") }

  /// How likely the item is the plan: the least is. A set-up fee is paid once, and a meter counts beside the
  /// plan (https://docs.stripe.com/api/prices/object).
  var rank: Int {
    if price?.member("type")?.string == "one_time" || price?.member("recurring")?.isNull == true { return 2 }
    let usage = price?.member("recurring")?.member("usage_type") ?? plan?.member("usage_type")
    return usage?.string == "metered" ? 1 : 0
  }

  /// Whether it says by which its rank is known.
  var saysKind: Bool {
    price?.member("type")?.isString ?? false || price?.member("recurring")?.isObject ?? false
      || plan?.member("usage_type")?.isString ?? false
  }

  var description: String? { node.member("description")?.string }

  /// Whether an invoice line belongs to one of the subscription's items: by its `parent` (2025-03-31), else
  /// by its `type`.
  var isOfSubscription: Bool { itemDetails != nil || node.member("type")?.string == "subscription" }

  var subscriptionID: String? {
    Reference(itemDetails?.member("subscription"))?.id ?? Reference(node.member("subscription"))?.id
  }

  /// The subscription item of the line; nil also when its subscription cannot be read.
  private var itemDetails: JSONNode? {
    guard let details = node.member("parent")?.member("subscription_item_details"), details.isObject
    else { return nil }
    guard let subscription = details.member("subscription"), !subscription.isNull else { return details }
    return Reference(subscription) == nil ? nil : details
  }
}

/// An invoice's data about its subscription.
struct SubscriptionDetails {
  private let node: JSONNode

  /// - Returns: nil unless it is an object.
  init?(_ node: JSONNode?) {
    guard let node, node.isObject else { return nil }
    self.node = node
  }

  var subscription: Reference? { Reference(node.member("subscription")) }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
}
