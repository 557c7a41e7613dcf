// The events and objects of the simulated Stripe API, and how they are listed
// (https://docs.stripe.com/api/events/list, https://docs.stripe.com/api/pagination). A value.

public import Formats

/// The data of a simulated Stripe account.
public struct StripeRecords: Sendable {
  private struct Entry {
    var id: String
    var type: String
    var created: Int64
    var isDelivered: Bool
    var event: JSONValue
  }

  /// The parameters of a list request.
  struct EventQuery {
    var limit: Int
    var startingAfter: String?
    var types: [String] = []
    var createdFrom: Int64 = .min
    var isDelivered: Bool?
  }

  /// A page, or why there is none.
  enum Listing {
    case page([JSONValue], hasMore: Bool)
    case noSuchCursor
  }

  /// Newest first.
  private var entries: [Entry] = []
  private var objects: [String: JSONValue] = [:]
  /// The registered webhook endpoints, newest first.
  var endpoints: [JSONValue] = []

  public init() {}

  /// The number of events.
  public var count: Int { entries.count }

  /// Adds an event, and its object unless that is already present.
  /// - Parameter isDelivered: whether its webhook was delivered to all endpoints.
  /// - Returns: whether the value is an event: an object with an id and a type.
  @discardableResult public mutating func add(_ event: JSONValue, isDelivered: Bool = true) -> Bool {
    guard let id = event["id"]?.stringValue, let type = event["type"]?.stringValue else { return false }
    var created: Int64 = 0
    if case .integer(let seconds)? = event["created"] { created = seconds }
    let entry = Entry(id: id, type: type, created: created, isDelivered: isDelivered, event: event)
    // The newest first; of two events in one second, the one that was added later.
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].created > created { low = middle + 1 } else { high = middle }
    }
    entries.insert(entry, at: low)
    if let object = event["data"]?["object"], let id = object["id"]?.stringValue, objects[id] == nil {
      objects[id] = object
    }
    return true
  }

  /// Adds an object under its id, and replaces an existing one.
  public mutating func add(object: JSONValue) {
    if let id = object["id"]?.stringValue { objects[id] = object }
  }

  /// Registers a webhook endpoint.
  /// - Parameter types: the types of events that are sent there; `*` means all.
  public mutating func register(_ url: String, types: [String], isEnabled: Bool = true) {
    let endpoint: JSONValue = [
      "id": .string("we_\(endpoints.count + 1)"), "object": "webhook_endpoint", "api_version": .null,
      "application": .null, "description": .null, "enabled_events": .array(types.map(JSONValue.string)),
      "livemode": false, "metadata": [:], "status": isEnabled ? "enabled" : "disabled", "url": .string(url),
    ]
    endpoints.insert(endpoint, at: 0)
  }

  /// Marks an event's webhook as delivered to all endpoints.
  public mutating func deliver(_ id: String) {
    if let index = entries.firstIndex(where: { $0.id == id }) { entries[index].isDelivered = true }
  }

  /// An object by its id and its kind, such as `subscription`.
  func object(_ id: String, kind: String) -> JSONValue? {
    objects[id].flatMap { $0["object"]?.stringValue == kind ? $0 : nil }
  }

  /// The checkout sessions that were made by requests.
  public var sessions: [JSONValue] {
    objects.values.filter { $0["object"]?.stringValue == "checkout.session" && $0["status"] == "open" }
  }

  /// Whether the account has objects of a kind, such as `price`.
  func has(kind: String) -> Bool { objects.values.contains { $0["object"]?.stringValue == kind } }

  /// The checkout session that sold a subscription.
  func session(ofSubscription id: String) -> JSONValue? {
    objects.values.first { object in
      object["object"]?.stringValue == "checkout.session" && object["subscription"]?.stringValue == id
    }
  }

  func list(_ query: EventQuery) -> Listing {
    var start = 0
    if let cursor = query.startingAfter {
      guard let index = entries.firstIndex(where: { $0.id == cursor }) else { return .noSuchCursor }
      start = index + 1
    }
    var found: [JSONValue] = []
    for entry in entries[start...] where matches(entry, query) {
      if found.count == query.limit { return .page(found, hasMore: true) }
      found.append(entry.event)
    }
    return .page(found, hasMore: false)
  }

  private func matches(_ entry: Entry, _ query: EventQuery) -> Bool {
    entry.created >= query.createdFrom && (query.types.isEmpty || query.types.contains(entry.type))
      && (query.isDelivered.map { $0 == entry.isDelivered } ?? true)
  }
}

extension StripeRecords {
  /// Sample data with checkouts of subscriptions, each a paid session whose event has no price, as in
  /// Stripe's real events: the price is in the line items and in the subscription, which must be queried.
  /// - Parameters:
  ///   - count: the number of checkouts, a minute apart, the last one now.
  ///   - now: Unix milliseconds.
  public static func made(_ count: Int, now: Int64, random: inout some RandomNumberGenerator) -> StripeRecords
  {
    var records = StripeRecords()
    for number in 0..<count {
      let purchase = SandboxPurchase(
        userID: "user-\(number + 1)", priceID: "price_sandbox", isSubscription: true, random: &random)
      let at = now - Int64(count - 1 - number) * 60_000
      records.add(purchase, at: at, random: &random)
    }
    return records
  }

  /// Adds a paid checkout: its event, and the objects that can be queried.
  /// - Returns: the event.
  @discardableResult public mutating func add(
    _ purchase: SandboxPurchase, at now: Int64, isDelivered: Bool = true,
    random: inout some RandomNumberGenerator
  ) -> SandboxEvent {
    var terse = purchase
    terse.priceID = nil
    let event = StripeSampleEvents.event(
      purchase.subscriptionID == nil ? .payment : .subscription, terse, now: now, random: &random)
    // The bytes were just serialized from JSON, so parsing cannot fail.
    if let value = try? JSONValue(parsing: event.body) { add(value, isDelivered: isDelivered) }
    for kind in [SandboxEventKind.subscription, .subscriptionCreated] {
      if kind == .subscriptionCreated, purchase.subscriptionID == nil { continue }
      let whole = StripeSampleEvents.event(kind, purchase, now: now, random: &random)
      if let object = (try? JSONValue(parsing: whole.body))?["data"]?["object"] { add(object: object) }
    }
    return event
  }
}
