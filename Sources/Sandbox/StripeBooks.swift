// What the stand-in for Stripe's API knows: events and objects, and how they are listed
// (https://docs.stripe.com/api/events/list, https://docs.stripe.com/api/pagination). A value.

public import JSON

/// The books of a made-up Stripe account.
public struct StripeBooks: Sendable {
  private struct Entry {
    var id: String
    var type: String
    var created: Int64
    var isDelivered: Bool
    var event: JSONValue
  }

  /// Which events a request asks for.
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

  public init() {}

  /// How many events there are.
  public var count: Int { entries.count }

  /// Enters an event, and the object in it unless the books have it.
  /// - Parameter isDelivered: whether its webhook arrived everywhere.
  /// - Returns: whether it is one: an object with an id and a type.
  @discardableResult public mutating func add(_ event: JSONValue, isDelivered: Bool = true) -> Bool {
    guard let id = event["id"]?.stringValue, let type = event["type"]?.stringValue else { return false }
    var created: Int64 = 0
    if case .integer(let seconds)? = event["created"] { created = seconds }
    let entry = Entry(id: id, type: type, created: created, isDelivered: isDelivered, event: event)
    // The newest stand first, and of two of one second the one that came later.
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

  /// Enters an object under its id, in place of what was there.
  public mutating func add(object: JSONValue) {
    if let id = object["id"]?.stringValue { objects[id] = object }
  }

  /// The webhook of an event has arrived everywhere.
  public mutating func deliver(_ id: String) {
    if let index = entries.firstIndex(where: { $0.id == id }) { entries[index].isDelivered = true }
  }

  /// An object by its id and its kind, such as `subscription`.
  func object(_ id: String, kind: String) -> JSONValue? {
    objects[id].flatMap { $0["object"]?.stringValue == kind ? $0 : nil }
  }

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

extension StripeBooks {
  /// Books with made-up checkouts of subscriptions, each a paid session whose event names no price, as
  /// Stripe's own does not: it stands in the line items and in the subscription, which have to be asked for.
  /// - Parameters:
  ///   - count: so many checkouts, a minute apart, the last one now.
  ///   - now: Unix milliseconds.
  public static func made(_ count: Int, now: Int64, random: inout some RandomNumberGenerator) -> StripeBooks {
    var books = StripeBooks()
    for number in 0..<count {
      let purchase = SandboxPurchase(
        userID: "user-\(number + 1)", priceID: "price_sandbox", isSubscription: true, random: &random)
      let at = now - Int64(count - 1 - number) * 60_000
      books.add(purchase, at: at, random: &random)
    }
    return books
  }

  /// Enters a paid checkout: its event, and the objects that can be asked for.
  /// - Returns: the event.
  @discardableResult public mutating func add(
    _ purchase: SandboxPurchase, at now: Int64, isDelivered: Bool = true,
    random: inout some RandomNumberGenerator
  ) -> SandboxEvent {
    var terse = purchase
    terse.priceID = nil
    let event = StripeSandbox.event(
      purchase.subscriptionID == nil ? .payment : .subscription, terse, now: now, random: &random)
    // It was made as JSON a moment ago.
    if let value = try? JSONValue(parsing: event.body) { add(value, isDelivered: isDelivered) }
    for kind in [SandboxEventKind.subscription, .subscriptionCreated] {
      if kind == .subscriptionCreated, purchase.subscriptionID == nil { continue }
      let whole = StripeSandbox.event(kind, purchase, now: now, random: &random)
      if let object = (try? JSONValue(parsing: whole.body))?["data"]?["object"] { add(object: object) }
    }
    return event
  }
}
