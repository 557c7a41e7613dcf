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
  var livemode: Bool? { node.member("livemode")?.bool }
  /// Seconds since 1970. Thin events have a string here, which reads as absent.
  var created: Int64? { node.member("created")?.int64 }
  var object: StripeObject? { node.member("data")?.member("object").flatMap(StripeObject.init) }
  var previousStatus: String? {
    node.member("data")?.member("previous_attributes")?.member("status")?.string
  }
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
  var customer: Reference? { Reference(node.member("customer")) }
  var subscription: Reference? { Reference(node.member("subscription")) }
  var plan: Reference? { Reference(node.member("plan")) }
  var metadata: Metadata? { Metadata(node.member("metadata")) }
  var lineItems: [Item]? { Item.list(node.member("line_items")?.member("data")) }
  var displayItems: [Item]? { Item.list(node.member("display_items")) }
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

  /// The items of a list; nil when there is no list, or when it contains anything else. Some events publish a
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

  /// The newest format first: `pricing` (2025-03-31), `price` (2020), `plan`.
  var priceID: String? {
    Reference(node.member("pricing")?.member("price_details")?.member("price"))?.id
      ?? Reference(node.member("price"))?.id ?? Reference(node.member("plan"))?.id
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

// MARK: - StripeFacts

// What sessions, subscriptions and invoices have in common, in events and in lookups. Pure; any thread.

struct StripeFacts {
  static let pricesMax = 100
  /// The key of a user in metadata that exists for nothing else.
  static let ownKey = "ply_user_id"

  let object: StripeObject
  let userKeys: [String]
  let happenedAt: Timestamp

  /// The prices that a session sells, if it names them.
  var sessionPrices: [String?] { (object.lineItems ?? object.displayItems ?? []).map(\.priceID) }

  /// The prices of a subscription's items; the plan in old versions without items.
  var subscriptionPrices: [String?] {
    let prices = (object.items ?? []).map(\.priceID)
    return prices.allSatisfy { $0 == nil } ? [object.plan?.id] : prices
  }

  func report(
    _ key: PurchaseKey, metadata: [Metadata?], prices: [String?], observations: Observations = []
  ) -> PurchaseReport {
    let maps = metadata.compactMap(\.self)
    func value(_ name: String) -> String? { maps.lazy.compactMap { UntrustedText.nonEmpty($0[name]) }.first }
    let user = maps.lazy.compactMap { map in
      userKeys.lazy.compactMap { key in
        NamedUser(map[key], from: key == Self.ownKey ? .ownKey : .metadata)
      }.first { $0.standing == .counts }
    }.first
    var distinct: [PriceID] = []
    for price in prices.prefix(Self.pricesMax).compactMap(UntrustedText.identifier).map(PriceID.init)
    where !distinct.contains(price) { distinct.append(price) }
    return PurchaseReport(
      key: key, observations: observations,
      customerID: UntrustedText.identifier(object.customer?.id).map(CustomerID.init),
      contextID: value("ply_context_id").map(ContextID.init),
      context: value("ply_context").map { ContextBlob(text: $0, priceID: nil) },
      names: [user].compactMap(\.self), prices: distinct, happenedAt: happenedAt)
  }
}
