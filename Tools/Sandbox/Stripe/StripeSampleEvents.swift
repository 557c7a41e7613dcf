// Sample Stripe events for tests, the demo and `receipt-sandbox event`, in the format of the 2025-03-31
// API and later (https://docs.stripe.com/api/events/types). Never connects to Stripe. Pure; any thread.

public import Formats

/// The kinds of sample events.
public enum SandboxEventKind: String, Sendable, CaseIterable {
  /// A completed checkout of a subscription, paid.
  case subscription
  /// A completed checkout of a single payment, paid.
  case payment
  /// A completed checkout whose payment is pending.
  case unpaid
  /// The pending payment succeeded.
  case asyncSucceeded = "async-succeeded"
  /// The pending payment failed.
  case asyncFailed = "async-failed"
  /// The checkout expired without completion.
  case expired
  /// The subscription was created.
  case subscriptionCreated = "subscription-created"
  /// The first invoice of the subscription was paid.
  case invoicePaid = "invoice-paid"

  /// Stripe's name of the event type.
  public var type: String {
    switch self {
    case .subscription, .payment, .unpaid: "checkout.session.completed"
    case .asyncSucceeded: "checkout.session.async_payment_succeeded"
    case .asyncFailed: "checkout.session.async_payment_failed"
    case .expired: "checkout.session.expired"
    case .subscriptionCreated: "customer.subscription.created"
    case .invoicePaid: "invoice.paid"
    }
  }

  /// The accepted names: the short forms and Stripe's event types.
  public static var names: [String] {
    var names = allCases.map(\.rawValue)
    for type in allCases.map(\.type) where !names.contains(type) { names.append(type) }
    return names
  }

  /// - Parameter name: one of `names`. If several kinds share Stripe's event type, it means the first.
  public init?(name: String) {
    guard let kind = Self.allCases.first(where: { $0.rawValue == name || $0.type == name }) else {
      return nil
    }
    self = kind
  }
}

/// One sample purchase. Omitted ids get realistic values.
public struct SandboxPurchase: Sendable, Equatable {
  public var userID: String?
  public var priceID: String?
  public var customerID: String
  public var sessionID: String
  /// If set, checkouts sell this subscription; otherwise a single payment.
  public var subscriptionID: String?
  /// A context's id. Without a user it is the checkout's client reference, as a Payment Link sets it;
  /// otherwise it is in the metadata.
  public var contextID: String?
  /// A context's blob, for the metadata.
  public var context: String?
  /// The metadata key of the user, if the checkout has no client reference.
  public var userKey = "ply_user_id"
  /// Further metadata of the checkout and of the subscription.
  public var metadata: [JSONValue.Member] = []

  public init(
    userID: String?, priceID: String?, isSubscription: Bool, customerID: String? = nil,
    sessionID: String? = nil,
    subscriptionID: String? = nil, random: inout some RandomNumberGenerator
  ) {
    self.userID = userID
    self.priceID = priceID
    self.customerID = customerID ?? StripeSampleEvents.id("cus_", letters: 14, &random)
    self.sessionID = sessionID ?? StripeSampleEvents.id("cs_test_a1", letters: 56, &random)
    self.subscriptionID =
      subscriptionID ?? (isSubscription ? StripeSampleEvents.id("sub_1", letters: 23, &random) : nil)
  }

  /// The object id of the receipt.
  public var objectID: String { subscriptionID ?? sessionID }
}

/// Builds sample events.
public enum StripeSampleEvents {
  static let apiVersion = "2025-03-31.basil"
  private static let amount: JSONValue = 999

  /// Builds an event about a purchase.
  /// - Parameter now: Unix milliseconds; becomes `created`.
  public static func event(
    _ kind: SandboxEventKind, _ purchase: SandboxPurchase, now: Int64,
    random: inout some RandomNumberGenerator
  ) -> SandboxEvent {
    let object: JSONValue
    switch kind {
    case .subscription, .payment, .unpaid, .asyncSucceeded, .asyncFailed, .expired:
      object = session(kind, purchase, now, &random)
    case .subscriptionCreated: object = subscription(purchase, now, &random)
    case .invoicePaid: object = invoice(purchase, now, &random)
    }
    return event(type: kind.type, object: object, now: now, random: &random)
  }

  /// Builds an event of any type about any object.
  public static func event(
    type: String, object: JSONValue, now: Int64, random: inout some RandomNumberGenerator
  ) -> SandboxEvent {
    let id = id("evt_1", letters: 23, &random)
    let envelope: JSONValue = [
      "id": .string(id), "object": "event", "api_version": .string(apiVersion),
      "created": .integer(now / 1000),
      "data": ["object": object], "livemode": false, "pending_webhooks": 1,
      "request": ["id": .null, "idempotency_key": .null], "type": .string(type),
    ]
    return SandboxEvent(id: id, type: type, body: envelope.serialized())
  }

  private static func session(
    _ kind: SandboxEventKind, _ purchase: SandboxPurchase, _ now: Int64,
    _ random: inout some RandomNumberGenerator
  ) -> JSONValue {
    let isPaid = kind == .subscription || kind == .payment || kind == .asyncSucceeded
    var metadata = purchase.metadata
    if let id = purchase.contextID, purchase.userID != nil {
      metadata.append(.init(name: "ply_context_id", value: .string(id)))
    }
    if let blob = purchase.context { metadata.append(.init(name: "ply_context", value: .string(blob))) }
    var members: [JSONValue.Member] = [
      .init(name: "id", value: .string(purchase.sessionID)), .init(name: "object", value: "checkout.session"),
      .init(name: "amount_total", value: amount),
      .init(name: "client_reference_id", value: .optional(purchase.userID ?? purchase.contextID)),
      .init(name: "created", value: .integer(now / 1000)), .init(name: "currency", value: "usd"),
      .init(name: "customer", value: .string(purchase.customerID)), .init(name: "livemode", value: false),
      .init(name: "metadata", value: .object(metadata)),
      .init(name: "mode", value: purchase.subscriptionID == nil ? "payment" : "subscription"),
      .init(name: "payment_status", value: isPaid ? "paid" : "unpaid"),
      .init(name: "status", value: kind == .expired ? "expired" : "complete"),
      .init(name: "subscription", value: .optional(purchase.subscriptionID)),
    ]
    if purchase.priceID != nil {
      members.append(.init(name: "line_items", value: items("li_1", "item", purchase, &random)))
    }
    return .object(members)
  }

  private static func subscription(
    _ purchase: SandboxPurchase, _ now: Int64, _ random: inout some RandomNumberGenerator
  ) -> JSONValue {
    [
      "id": .optional(purchase.subscriptionID), "object": "subscription", "created": .integer(now / 1000),
      "currency": "usd", "customer": .string(purchase.customerID),
      "items": items("si_", "subscription_item", purchase, &random), "livemode": false,
      "metadata": userMetadata(purchase), "status": "active",
    ]
  }

  private static func invoice(
    _ purchase: SandboxPurchase, _ now: Int64, _ random: inout some RandomNumberGenerator
  ) -> JSONValue {
    let subscription = JSONValue.optional(purchase.subscriptionID)
    var lines: [JSONValue] = []
    if let price = purchase.priceID {
      lines.append([
        "id": .string(id("il_1", letters: 23, &random)), "object": "line_item", "amount": amount,
        "parent": [
          "subscription_item_details": ["subscription": subscription], "type": "subscription_item_details",
        ],
        "pricing": ["price_details": ["price": .string(price)], "type": "price_details"],
      ])
    }
    return [
      "id": .string(id("in_1", letters: 23, &random)), "object": "invoice", "amount_paid": amount,
      "billing_reason": "subscription_create", "created": .integer(now / 1000), "currency": "usd",
      "customer": .string(purchase.customerID), "lines": ["object": "list", "data": .array(lines)],
      "livemode": false, "metadata": [:],
      "parent": [
        "subscription_details": ["metadata": userMetadata(purchase), "subscription": subscription],
        "type": "subscription_details",
      ], "status": "paid",
    ]
  }

  private static func userMetadata(_ purchase: SandboxPurchase) -> JSONValue {
    let user = purchase.userID.map { JSONValue.Member(name: purchase.userKey, value: .string($0)) }
    return .object(purchase.metadata + [user].compactMap(\.self))
  }

  private static func items(
    _ prefix: String, _ kind: String, _ purchase: SandboxPurchase, _ random: inout some RandomNumberGenerator
  ) -> JSONValue {
    let items = purchase.priceID.map { price -> [JSONValue] in
      [
        [
          "id": .string(id(prefix, letters: 14, &random)), "object": .string(kind),
          "price": ["id": .string(price), "object": "price", "currency": "usd", "unit_amount": amount],
          "quantity": 1,
        ]
      ]
    }
    return ["object": "list", "data": .array(items ?? [])]
  }

  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  /// A random id in Stripe's format.
  static func id(_ prefix: String, letters: Int, _ random: inout some RandomNumberGenerator) -> String {
    var bytes = Array(prefix.utf8)
    for _ in 0..<letters { bytes.append(alphabet[Int.random(in: alphabet.indices, using: &random)]) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
