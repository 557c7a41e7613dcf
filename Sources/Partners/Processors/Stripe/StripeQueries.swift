// Builds requests to Stripe's API and interprets the answers (https://docs.stripe.com/api). Requests name no
// version: answers have the account's version, and are read like events, by the fields that are present.
// Pure; any thread.

public import Domain
internal import Formats

/// One app's queries to Stripe.
public struct StripeQueries: ProcessorQueries {
  /// Stripe lists the events of the last 30 days (https://docs.stripe.com/api/events).
  public static let keptDays: Int64 = 30
  /// https://docs.stripe.com/api/pagination
  static let pageSize = 100
  /// The event types that are about a purchase or its customer; the list accepts up to 20 names.
  static let types = [
    "checkout.session.completed", "checkout.session.async_payment_succeeded",
    "checkout.session.async_payment_failed", "checkout.session.expired", "customer.subscription.created",
    "customer.subscription.updated", "customer.subscription.deleted", "invoice.paid",
    "invoice.payment_succeeded", "customer.created", "customer.updated",
  ]
  /// Types without which every purchase gets its receipt: one that Stripe sends beside another one about the
  /// same payment, and those that say only who a customer is.
  static let optionalTypes: Set = ["invoice.payment_succeeded", "customer.created", "customer.updated"]

  private let settings: StripeSettings
  private let apiKey: String
  /// Without a trailing slash.
  public let base: String

  public init(_ settings: StripeSettings, apiKey: String, base: String) {
    self.settings = settings
    self.apiKey = apiKey
    self.base = base
  }

  public var eventsKept: Duration { .days(Self.keptDays) }

  /// Stripe allows 25 reads a second in a sandbox and 100 in live mode, for all of an account's programs
  /// together (https://docs.stripe.com/rate-limits).
  public var ratePerSecond: Double { 20 }

  public var headers: [(name: String, value: String)] {
    [("Authorization", "Bearer \(apiKey)"), ("Accept", "application/json")]
  }

  /// The newest event, which the key must be allowed to read anyway.
  public var probe: ProcessorQuery? { ProcessorQuery(target: "/v1/events?limit=1") }

  public var webhookRegistry: (any WebhookRegistry)? { StripeWebhookEndpoints() }

  /// A purchase of a connected account is not found: only its events name the account.
  public func lookups(of key: PurchaseKey, sessionID: SessionID?, lacking: Reason?) -> [ProcessorQuery] {
    switch key.type {
    case StripeObjectType.checkoutSession: [session(key.id.text)]
    case StripeObjectType.subscription where lacking == .checkout: [sessions(ofSubscription: key.id.text)]
    case StripeObjectType.subscription:
      [ProcessorQuery(target: "/v1/subscriptions/\(PercentEncoding.encode(key.id.text))")]
        + (sessionID.map { [session($0.text)] } ?? undecided(key, lacking))
    case StripeObjectType.invoice: [invoice(key.id.text)]
    case StripeObjectType.customer: [lookup(ofCustomer: CustomerID(key.id.text))].compactMap(\.self)
    default: []
    }
  }

  /// A receipt also waits for its price while it is open whose sale it is, and only the session names the
  /// Payment Link.
  private func undecided(_ key: PurchaseKey, _ lacking: Reason?) -> [ProcessorQuery] {
    lacking == .price && settings.sells != nil ? [sessions(ofSubscription: key.id.text)] : []
  }

  /// The customer, whose metadata may name the user. A key of before may lack the right to read it
  /// (https://docs.stripe.com/api/customers/retrieve).
  public func lookup(ofCustomer id: CustomerID) -> ProcessorQuery? {
    ProcessorQuery(target: "/v1/customers/\(PercentEncoding.encode(id.text))", isOptional: true)
  }

  /// An invoice that a thin event names; a key may lack the right to read it
  /// (https://docs.stripe.com/api/invoices/retrieve).
  private func invoice(_ id: String) -> ProcessorQuery {
    ProcessorQuery(target: "/v1/invoices/\(PercentEncoding.encode(id))", isOptional: true)
  }

  /// A session includes line items only on request (https://docs.stripe.com/checkout/fulfillment). It
  /// includes up to ten; an app's checkout sells one.
  private func session(_ id: String) -> ProcessorQuery {
    ProcessorQuery(target: "/v1/checkout/sessions/\(PercentEncoding.encode(id))?expand%5B%5D=line_items")
  }

  /// https://docs.stripe.com/api/checkout/sessions/list
  private func sessions(ofSubscription id: String) -> ProcessorQuery {
    ProcessorQuery(target: "/v1/checkout/sessions?limit=1&subscription=\(PercentEncoding.encode(id))")
  }

  public func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    report(from: body, about: key, isOfEvent: false, now: now)
  }

  public func state(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    report(from: body, about: key, isOfEvent: true, now: now)
  }

  public func event(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> EventReading.Content? {
    read(body, about: key, isOfEvent: true, now: now) { $0.event() }
  }

  private func report(
    from body: [UInt8], about key: PurchaseKey, isOfEvent: Bool, now: Timestamp
  ) -> PurchaseReport? {
    read(body, about: key, isOfEvent: isOfEvent, now: now) { $0.report() }
  }

  private func read<Said>(
    _ body: [UInt8], about key: PurchaseKey, isOfEvent: Bool, now: Timestamp,
    _ reading: (StripeLookupReader) -> Said?
  ) -> Said? {
    let said = JSONDocument.read(body) { root in
      StripeObject(root).flatMap { object in
        reading(
          StripeLookupReader(settings: settings, object: object, key: key, now: now, isOfEvent: isOfEvent))
      }
    }
    return said ?? nil
  }

  /// A list of the account's own events, and one for each connected account that the configuration names
  /// (https://docs.stripe.com/api/events/list).
  public func eventLists(_ selection: EventSelection) -> [EventList] {
    // Stripe's timestamps are whole seconds; the second in which the selection begins is included.
    var target = "/v1/events?limit=\(Self.pageSize)"
    target += "&created%5Bgte%5D=\(max(0, selection.since.unixMilliseconds / 1000))"
    if selection.undeliveredOnly { target += "&delivery_success=false" }
    for type in Self.types { target += "&types%5B%5D=\(type)" }
    // A connected account has its own list of events (https://docs.stripe.com/connect/authentication).
    var accounts: [String?] = [nil]
    if case .ownAnd(let connected) = settings.accounts { accounts += connected }
    return accounts.map { account in
      EventList(
        firstPage: ProcessorQuery(target: target, headers: account.map { ["Stripe-Account": $0] } ?? [:]),
        cursorName: "starting_after")
    }
  }

  public func page(from body: [UInt8]) -> EventPage? {
    let page = JSONDocument.read(body) { root -> EventPage? in
      guard root.isObject, let data = root.member("data"), data.isArray,
        let hasMore = root.member("has_more")?.bool
      else { return nil }
      var events: [[UInt8]] = []
      var last: String?
      data.forEachElement { element in
        guard let range = element.range, range.upperBound <= body.count else { return }
        events.append(Array(body[range]))
        last = UntrustedText.identifier(element.member("id")?.string)
      }
      // Without a cursor, the next page cannot be requested.
      if hasMore, last == nil { return nil }
      return EventPage(events: events, next: hasMore ? last : nil)
    }
    return page ?? nil
  }

  /// https://docs.stripe.com/api/errors. A key of the other mode also gets a 404; a 400 concerns one request
  /// only, such as a list filtered by an object of another account.
  public func judge(status: Int?) -> QueryVerdict {
    switch status {
    case 200: .answered
    case 400, 404: .notFound
    case 429: .limited
    case nil, 408, 409, 425: .transient
    case .some(500...599): .transient
    default: .refused
    }
  }
}

// MARK: - StripeWebhookEndpoints

// Where Stripe sends an account's events (https://docs.stripe.com/api/webhook_endpoints/list). Pure; any
// thread.

/// The registered endpoints of an account.
struct StripeWebhookEndpoints: WebhookRegistry {
  let neededTypes = StripeQueries.types.filter { !StripeQueries.optionalTypes.contains($0) }

  func page(after cursor: String?) -> ProcessorQuery {
    let target = "/v1/webhook_endpoints?limit=\(StripeQueries.pageSize)"
    return ProcessorQuery(
      target: target + (cursor.map { "&starting_after=" + PercentEncoding.encode($0) } ?? ""))
  }

  func read(_ body: [UInt8]) -> RegistrationPage? {
    guard let list = try? JSONValue(parsing: body), case .array(let data)? = list["data"],
      case .bool(let hasMore)? = list["has_more"]
    else { return nil }
    let registrations = data.compactMap { endpoint -> WebhookRegistration? in
      guard let url = endpoint["url"]?.stringValue else { return nil }
      var types: [String] = []
      if case .array(let names)? = endpoint["enabled_events"] { types = names.compactMap(\.stringValue) }
      return WebhookRegistration(
        url: url, isEnabled: endpoint["status"]?.stringValue == "enabled", types: Set(types))
    }
    let last = UntrustedText.identifier(data.last?["id"]?.stringValue)
    // Without a cursor, the next page cannot be requested.
    if hasMore, last == nil { return nil }
    return RegistrationPage(registrations: registrations, next: hasMore ? last : nil)
  }
}
