// What the relay may ask a payment processor for: what an event left out, and events that never arrived. A
// processor says what to ask and what an answer means; who asks, and when, is not its business. Pure.

public import Domain

/// One app's way to ask a payment processor. Knows no HTTP client.
public protocol ProcessorQueries: Sendable {
  /// How far back the processor's list of events goes, in milliseconds.
  var eventsKeptMilliseconds: Int64 { get }

  /// Requests per second that leave the app's other programs room.
  var ratePerSecond: Double { get }

  /// Where every request goes: scheme, host and port, without a slash at the end. It comes from the
  /// configuration alone.
  var base: String { get }

  /// Sent with every request. Among them is the key.
  var headers: [(name: String, value: String)] { get }

  /// What to ask, one after the other, until nothing is lacking any more.
  /// - Parameters:
  ///   - sessionID: the checkout's id, when it is known.
  ///   - lacking: what the purchase waits for; nil when an event asked for all that there is.
  func lookUps(of key: PurchaseKey, sessionID: String?, lacking: Reason?) -> [ProcessorQuery]

  /// Reads what a look-up answered. Total: whatever the bytes are, the answer is a value.
  /// - Parameter key: the purchase that was asked about.
  /// - Returns: one more report about the purchase; nil when it says nothing about it.
  func report(from body: [UInt8], about key: PurchaseKey, now: Timestamp) -> PurchaseReport?

  /// The lists of events to go through, one for each account that counts.
  func eventLists(_ selection: EventSelection) -> [EventList]

  /// Reads one page of a list; nil when it is none.
  func page(from body: [UInt8]) -> EventPage?

  /// What an answer means, before anyone reads its body.
  /// - Parameter status: nil when there was no answer.
  func judge(status: Int?) -> QueryVerdict
}

/// One request: `GET`, and nothing else is ever asked. It goes to `ProcessorQueries.base`: parts of the path
/// may be ids from a webhook, and no path can lead to another host.
public struct ProcessorQuery: Sendable, Equatable {
  /// Path and query, escaped.
  public var target: String
  /// Beside those of `ProcessorQueries.headers`.
  public var headers: [String: String]

  /// - Parameter target: begins with a slash, which ends a URL's authority (RFC 3986 §3.2).
  public init(target: String, headers: [String: String] = [:]) {
    self.target = target
    self.headers = headers
  }

  /// The whole URL.
  /// - Parameter base: without a slash at the end.
  public func url(at base: String) -> String { base + (target.hasPrefix("/") ? "" : "/") + target }
}

/// Which events to list.
public struct EventSelection: Sendable, Equatable {
  public var since: Timestamp
  /// Whether only those count that the processor could not deliver.
  public var undeliveredOnly: Bool

  public init(since: Timestamp, undeliveredOnly: Bool) {
    self.since = since
    self.undeliveredOnly = undeliveredOnly
  }
}

/// A list of events, page by page, newest first.
public struct EventList: Sendable, Equatable {
  let firstPage: ProcessorQuery
  /// The parameter that carries the cursor.
  let cursorName: String

  /// - Parameter firstPage: with a query, to which the cursor is added.
  public init(firstPage: ProcessorQuery, cursorName: String) {
    self.firstPage = firstPage
    self.cursorName = cursorName
  }

  /// - Parameter cursor: where the page before ended; nil for the first.
  public func page(after cursor: String?) -> ProcessorQuery {
    var query = firstPage
    if let cursor { query.target += "&\(cursorName)=" + URLText.escaped(cursor) }
    return query
  }
}

/// One page of a list of events.
public struct EventPage: Sendable, Equatable {
  /// Each event's own bytes, as a webhook would have had them, in the order of the list.
  public var events: [[UInt8]]
  /// Where the next page begins; nil when this is the last one.
  public var next: String?

  public init(events: [[UInt8]], next: String?) {
    self.events = events
    self.next = next
  }
}

/// What an answer to a query means.
public enum QueryVerdict: Sendable, Equatable {
  /// Its body can be read.
  case answered
  /// There is no such thing.
  case notFound
  /// Too much was asked: the app's questions rest for a while.
  case limited
  /// The key, the address or the request is not accepted: it concerns every question of the app.
  case refused
  /// Ask again later.
  case transient
}

/// Texts as parts of a URL.
enum URLText {
  /// With everything escaped but what RFC 3986 §2.3 calls unreserved.
  static func escaped(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
