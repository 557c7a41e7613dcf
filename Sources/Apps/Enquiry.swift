// One app's way to ask one of its payment processors: a question as a request, an answer as what it means.
// Whoever asks brings the HTTP client. A value; any thread.

public import Configuration
internal import Destinations
public import Domain
public import HTTPClient
public import Processors
public import Store
internal import Telemetry

/// What came of one question.
public enum QueryAnswer: Sendable, Equatable {
  case body([UInt8])
  case notFound
  /// Too much was asked; not before so many milliseconds, when the processor says so.
  case limited(retryAfterMilliseconds: Int64?)
  /// The key, the address or the request is not accepted. The word says why: a status, or a failure's name.
  case refused(String)
  case failed(String, retryAfterMilliseconds: Int64?)
}

/// Asks one processor in the name of one app.
public struct Enquiry: Sendable {
  /// A page of a hundred events, of which each can be long.
  static let answerBytesMax = 32 << 20
  static let timeoutMilliseconds = 30_000

  public let app: String
  /// The processor's word for itself.
  public let processorName: ProcessorName
  public var place: AppProcessor { AppProcessor(app, processorName) }
  let processor: any PaymentProcessor
  public let queries: any ProcessorQueries
  private let headers: [TransferHeader]

  /// - Returns: nil when the processor cannot be asked, or the app has no key for it.
  init?(app: String, processorName: ProcessorName, _ processor: any PaymentProcessor) {
    guard let queries = processor.queries else { return nil }
    self.app = app
    self.processorName = processorName
    self.processor = processor
    self.queries = queries
    headers =
      queries.headers.map { TransferHeader($0.name, $0.value) }
      + [TransferHeader("User-Agent", Version.userAgent)]
  }

  /// An app's own, one for each processor that it has a key for, from its configuration alone. The secrets of
  /// its webhooks need not be known.
  /// - Throws: `Fault` when a key cannot be read.
  public static func of(_ configuration: AppConfiguration) throws -> [Enquiry] {
    try configuration.processors.compactMap { processor in
      try Self(
        app: configuration.slug, processorName: processor.name,
        processor.section.makeProcessor(for: .asking))
    }
  }

  /// The lists of events since a moment.
  public func eventLists(since: Timestamp, undeliveredOnly: Bool) -> [PagedEvents] {
    let selection = EventSelection(since: since, undeliveredOnly: undeliveredOnly)
    return queries.eventLists(selection).map { PagedEvents(list: $0) }
  }

  /// How far back those lists go, in milliseconds.
  public var eventsKeptMilliseconds: Int64 { queries.eventsKeptMilliseconds }

  /// The next page of a list.
  public func request(_ list: PagedEvents) -> TransferRequest { request(list.list.page(after: list.cursor)) }

  public func request(_ query: ProcessorQuery) -> TransferRequest {
    TransferRequest(
      method: .get, url: query.url(at: queries.base),
      headers: headers
        + query.headers.sorted { $0.key < $1.key }.map { TransferHeader($0.key, $0.value) },
      timeoutMilliseconds: Self.timeoutMilliseconds, answerBytesMax: Self.answerBytesMax)
  }

  /// What the answer to a request means.
  public func judge(_ result: TransferResult, now: Timestamp) -> QueryAnswer {
    let rest = result.header("Retry-After").flatMap { RetryAfter.milliseconds($0, now: now) }
    if let failure = result.failure, result.status.map({ $0 == 200 }) ?? true {
      // A whole answer did not come; the status of a part says nothing.
      switch failure {
      case .certificateRejected, .refusedURL, .refusedHeader: return .refused(failure.rawValue)
      default: return .failed(failure.rawValue, retryAfterMilliseconds: rest)
      }
    }
    let status = result.status.map { "http_\($0)" } ?? "no_answer"
    switch queries.judge(status: result.status) {
    case .answered: return .body(result.body)
    case .notFound: return .notFound
    case .limited: return .limited(retryAfterMilliseconds: rest)
    case .refused: return .refused(status)
    case .transient: return .failed(status, retryAfterMilliseconds: rest)
    }
  }

  /// Reads a page.
  /// - Returns: its events, ready to be taken in as if they had come by themselves; nil when it is no page.
  public func take(page body: [UInt8], of list: inout PagedEvents, now: Timestamp) -> [TakeEvent]? {
    guard let page = queries.page(from: body) else { return nil }
    list.cursor = page.next
    list.isAtEnd = page.next == nil
    return page.events.map { event($0, now: now) }
  }

  /// An event's bytes, read as if they had just come.
  public func event(_ body: [UInt8], now: Timestamp) -> TakeEvent {
    TakeEvent(processor.read(body, now: now), app: app, processor: processorName, body: body)
  }
}

/// A list of events that is gone through page by page.
public struct PagedEvents: Sendable {
  let list: EventList
  var cursor: String?
  /// Whether there is no page behind the last one.
  public internal(set) var isAtEnd = false

  init(list: EventList) { self.list = list }
}
