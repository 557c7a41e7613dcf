// The fields of Stripe's objects that the relay reads, by presence and never by `api_version`: old and new
// shapes may stand side by side, and what has another type than expected reads as absent
// (https://docs.stripe.com/upgrades, https://docs.stripe.com/changelog/basil/2025-03-31). The one place that
// turns bytes into fields. Pure; any thread.

/// A webhook's envelope (https://docs.stripe.com/api/events/object).
struct StripeEnvelope: Decodable {
  let id: String?
  let object: String?
  let type: String?
  let account: String?
  let livemode: Bool?
  /// Seconds since 1970; thin events have a text here, which reads as absent.
  let created: Int64?
  let data: Payload?

  struct Payload: Decodable {
    let object: StripeObject?
    let previousStatus: String?

    private enum Key: String, CodingKey { case object, previous_attributes }
    private enum PreviousKey: String, CodingKey { case status }

    init(from decoder: any Decoder) throws {
      let fields = try decoder.container(keyedBy: Key.self)
      object = fields.lenient(.object)
      let previous = try? fields.nestedContainer(keyedBy: PreviousKey.self, forKey: .previous_attributes)
      previousStatus = previous?.lenient(.status)
    }
  }

  private enum Key: String, CodingKey { case id, object, type, account, livemode, created, data }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    id = fields.lenient(.id)
    object = fields.lenient(.object)
    type = fields.lenient(.type)
    account = fields.lenient(.account)
    livemode = fields.lenient(.livemode)
    created = fields.lenient(.created)
    data = fields.lenient(.data)
  }
}

/// The union of what is read from checkout sessions, subscriptions and invoices.
struct StripeObject: Decodable {
  let id: String?
  let mode: String?
  let status: String?
  let paymentStatus: String?
  let clientReferenceID: String?
  let billingReason: String?
  let customer: Reference?
  let subscription: Reference?
  let plan: PriceReference?
  let metadata: Metadata?
  let lineItems: ItemList?
  let displayItems: [Item]?
  let items: ItemList?
  let lines: ItemList?
  let subscriptionDetails: SubscriptionDetails?
  let parent: Parent?

  private enum Key: String, CodingKey {
    case id, mode, status, payment_status, client_reference_id, billing_reason, customer, subscription, plan,
      metadata
    case line_items, display_items, items, lines, subscription_details, parent
  }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    id = fields.lenient(.id)
    mode = fields.lenient(.mode)
    status = fields.lenient(.status)
    paymentStatus = fields.lenient(.payment_status)
    clientReferenceID = fields.lenient(.client_reference_id)
    billingReason = fields.lenient(.billing_reason)
    customer = fields.lenient(.customer)
    subscription = fields.lenient(.subscription)
    plan = fields.lenient(.plan)
    metadata = fields.lenient(.metadata)
    lineItems = fields.lenient(.line_items)
    displayItems = fields.lenient(.display_items)
    items = fields.lenient(.items)
    lines = fields.lenient(.lines)
    subscriptionDetails = fields.lenient(.subscription_details)
    parent = fields.lenient(.parent)
  }
}

/// An id, given as itself or as the whole object that has it (https://docs.stripe.com/expand).
struct Reference: Decodable {
  let id: String?
  let metadata: Metadata?

  private enum Key: String, CodingKey { case id, metadata }

  init(from decoder: any Decoder) throws {
    // Which of the two it is, only a failed attempt tells, and that is dear: the common one first.
    if let text = try? decoder.singleValueContainer().decode(String.self) {
      id = text
      metadata = nil
    } else {
      let fields = try decoder.container(keyedBy: Key.self)
      id = fields.lenient(.id)
      metadata = fields.lenient(.metadata)
    }
  }
}

/// A price or a plan: the whole object, as a rule, or only its id.
struct PriceReference: Decodable {
  let id: String?

  private enum Key: String, CodingKey { case id }

  init(from decoder: any Decoder) throws {
    if let fields = try? decoder.container(keyedBy: Key.self) {
      id = fields.lenient(.id)
    } else {
      id = try decoder.singleValueContainer().decode(String.self)
    }
  }
}

/// Key and value pairs of the merchant's own (https://docs.stripe.com/api/metadata). What is no text is left
/// out.
struct Metadata: Decodable {
  let values: [String: String]

  private struct Text: Decodable {
    let value: String?
    init(from decoder: any Decoder) throws { value = try? decoder.singleValueContainer().decode(String.self) }
  }

  init(from decoder: any Decoder) throws {
    values = try decoder.singleValueContainer().decode([String: Text].self).compactMapValues(\.value)
  }
}

/// A list object; some publish it elided to `{}`.
struct ItemList: Decodable {
  let data: [Item]?

  private enum Key: String, CodingKey { case data }

  init(from decoder: any Decoder) throws {
    data = try decoder.container(keyedBy: Key.self).lenient(.data)
  }
}

/// A line of a session, an item of a subscription, a line of an invoice.
struct Item: Decodable {
  let type: String?
  let price: PriceReference?
  let plan: PriceReference?
  let pricing: Pricing?
  let subscription: Reference?
  let parent: LineParent?

  struct Pricing: Decodable {
    let price_details: Details?
    struct Details: Decodable { let price: Reference? }
  }

  struct LineParent: Decodable {
    let subscription_item_details: Details?
    struct Details: Decodable { let subscription: Reference? }
  }

  private enum Key: String, CodingKey { case type, price, plan, pricing, subscription, parent }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    type = fields.lenient(.type)
    price = fields.lenient(.price)
    plan = fields.lenient(.plan)
    pricing = fields.lenient(.pricing)
    subscription = fields.lenient(.subscription)
    parent = fields.lenient(.parent)
  }

  /// The newest shape first: `pricing` (2025-03-31), `price` (2020), `plan`.
  var priceID: String? { pricing?.price_details?.price?.id ?? price?.id ?? plan?.id }

  /// Whether a line of an invoice is of one of the subscription's items: by its `parent` (2025-03-31), else
  /// by its `type`.
  var isOfSubscription: Bool { parent?.subscription_item_details != nil || type == "subscription" }

  var subscriptionID: String? { parent?.subscription_item_details?.subscription?.id ?? subscription?.id }
}

/// What an invoice says about its subscription.
struct SubscriptionDetails: Decodable {
  let subscription: Reference?
  let metadata: Metadata?

  private enum Key: String, CodingKey { case subscription, metadata }

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: Key.self)
    subscription = fields.lenient(.subscription)
    metadata = fields.lenient(.metadata)
  }
}

/// What made an invoice, since the 2025-03-31 API.
struct Parent: Decodable {
  let subscriptionDetails: SubscriptionDetails?

  private enum Key: String, CodingKey { case subscription_details }

  init(from decoder: any Decoder) throws {
    subscriptionDetails = try decoder.container(keyedBy: Key.self).lenient(.subscription_details)
  }
}

extension KeyedDecodingContainer {
  /// The value, or nil where it is absent, null, or of another type than expected.
  func lenient<Value: Decodable>(_ key: Key) -> Value? {
    // The point of it: one odd field must not make the rest of an event unreadable.
    try? decodeIfPresent(Value.self, forKey: key)
  }
}
