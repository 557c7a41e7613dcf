// What the relay may query from a payment processor: data that an event left out, and events that never
// arrived. A processor builds requests and interprets answers; other code sends the requests and chooses the
// time. Pure.

public import Domain
internal import Formats

/// One app's queries to a payment processor. Knows no HTTP client.
public protocol ProcessorQueries: Sendable {
  /// How far back the processor lists events.
  var eventsKept: Duration { get }

  /// Requests per second that leave capacity for the app's other programs.
  var ratePerSecond: Double { get }

  /// The base URL of every request: scheme, host and port, without a trailing slash. It comes from the
  /// configuration only.
  var base: String { get }

  /// Sent with every request; includes the key.
  var headers: [(name: String, value: String)] { get }

  /// The queries to send, one after the other, until nothing is missing.
  /// - Parameters:
  ///   - sessionID: the checkout's id, when it is known.
  ///   - lacking: what the purchase waits for; nil when an event requested all data.
  func lookups(of key: PurchaseKey, sessionID: SessionID?, lacking: Reason?) -> [ProcessorQuery]

  /// The query after those of `lookups` if the user is still missing; nil if customers name no users.
  func lookup(ofCustomer id: CustomerID) -> ProcessorQuery?

  /// Parses the answer to a lookup. Total: returns a value for any bytes.
  /// - Parameter key: the purchase of the lookup.
  /// - Returns: another report about the purchase; nil when the answer is not about it.
  func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport?

  /// The same for a lookup that an event without its object requested. Total.
  func state(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport?

  /// Parses the answer about an object that an event named without having it, and that is no purchase, such
  /// as an invoice. Total.
  /// - Returns: what the event would have said; nil if the answer is not about the object, or if that is a
  ///   purchase.
  func event(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> EventReading.Content?

  /// Parses the body of an answer that says that the purchase does not exist. Total.
  /// - Parameters:
  ///   - facts: what is known of a payment that started at the relay; nil for any other.
  ///   - startedAt: when the purchase was first known.
  /// - Returns: that it ended without money, if the answer proves this; else nil.
  func report(
    fromNotFound body: [UInt8], about key: PurchaseKey, facts: PaymentFacts?, startedAt: Timestamp,
    now: Timestamp
  ) -> PurchaseReport?

  /// The event lists to read, one for each accepted account.
  func eventLists(_ selection: EventSelection) -> [EventList]

  /// Parses one page of a list; nil when the body is not a page.
  func page(from body: [UInt8]) -> EventPage?

  /// A request that only shows whether the credentials are accepted; nil if there is no harmless one.
  var probe: ProcessorQuery? { get }

  /// The addresses that the processor sends webhooks to; nil if its API does not list them.
  var webhookRegistry: (any WebhookRegistry)? { get }

  /// Classifies an answer before its body is parsed.
  /// - Parameter status: nil when there was no answer.
  func judge(status: Int?) -> QueryVerdict
}

extension ProcessorQueries {
  public var probe: ProcessorQuery? { nil }

  public var webhookRegistry: (any WebhookRegistry)? { nil }

  public func lookup(ofCustomer id: CustomerID) -> ProcessorQuery? { nil }

  /// A processor whose API proves payments reads every lookup alike.
  public func state(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport? {
    report(from: body, about: key, now: now)
  }

  public func event(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> EventReading.Content? {
    nil
  }

  /// An answer that a purchase does not exist proves nothing by default: it may exist later.
  public func report(
    fromNotFound body: [UInt8], about key: PurchaseKey, facts: PaymentFacts?, startedAt: Timestamp,
    now: Timestamp
  ) -> PurchaseReport? { nil }
}

/// One request, always a `GET`. It goes to `ProcessorQueries.base`: parts of the path may be ids from a
/// webhook, and no path can lead to another host.
public struct ProcessorQuery: Sendable, Equatable {
  /// Path and query, escaped.
  public var target: String
  /// In addition to `ProcessorQueries.headers`.
  public var headers: [String: String]
  /// Whether a refusal concerns this query only: the key may lack a right that no other query needs.
  public var isOptional: Bool

  /// - Parameter target: begins with a slash, which ends a URL's authority (RFC 3986 §3.2).
  public init(target: String, headers: [String: String] = [:], isOptional: Bool = false) {
    self.target = target
    self.headers = headers
    self.isOptional = isOptional
  }

  /// The whole URL.
  /// - Parameter base: without a trailing slash.
  public func url(at base: String) -> String { base + (target.hasPrefix("/") ? "" : "/") + target }
}

/// Which events to list.
public struct EventSelection: Sendable, Equatable {
  public var since: Timestamp
  /// Whether to list only events that the processor could not deliver.
  public var undeliveredOnly: Bool

  public init(since: Timestamp, undeliveredOnly: Bool) {
    self.since = since
    self.undeliveredOnly = undeliveredOnly
  }
}

/// A list of events in pages, newest first.
public struct EventList: Sendable, Equatable {
  /// It has a query, to which the cursor is appended.
  let firstPage: ProcessorQuery
  /// The query parameter of the cursor.
  let cursorName: String

  /// - Parameter cursor: the end of the previous page; nil for the first page.
  public func page(after cursor: String?) -> ProcessorQuery {
    var query = firstPage
    if let cursor { query.target += "&\(cursorName)=" + PercentEncoding.encode(cursor) }
    return query
  }
}

/// One page of a list of events.
public struct EventPage: Sendable, Equatable {
  /// The raw bytes of each event, as in its webhook, in the order of the list.
  public var events: [[UInt8]]
  /// The cursor of the next page; nil for the last page.
  public var next: String?
}

/// What an answer to a query means.
public enum QueryVerdict: Sendable, Equatable {
  /// The body can be parsed.
  case answered
  /// The object does not exist.
  case notFound
  /// Rate limited: pause the app's queries for a while.
  case limited
  /// The key, the URL or the request was rejected: this affects every query of the app.
  case refused
  /// Retry later.
  case transient
}
