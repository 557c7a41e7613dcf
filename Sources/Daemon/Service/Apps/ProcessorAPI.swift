// One app's access to the API of one payment processor: makes requests from queries, and judges the answers.
// The caller provides the HTTP client. A value.

public import Config
public import Domain
public import HTTPClient
public import Partners
public import Store

/// The judged answer to one query.
public enum QueryAnswer: Sendable, Equatable {
  case body([UInt8])
  /// The object does not exist.
  case notFound([UInt8])
  /// A rate limit was hit; with the processor's `Retry-After`, if given.
  case limited(retryAfter: Duration?)
  /// The key, the URL or the request is refused. The string is the cause: a status, or the name of a failure.
  case refused(String)
  case failed(String, retryAfter: Duration?)
}

/// Access to the API of one processor for one app.
public struct ProcessorAPI: Sendable {
  /// Large enough for a page of one hundred long events.
  static let answerBytesMax = 32 << 20
  static let timeout: Duration = .seconds(30)

  public let app: AppSlug
  /// The processor's name.
  public let processorName: ProcessorName
  public var place: AppProcessor { AppProcessor(app, processorName) }
  let processor: any PaymentProcessor
  public let queries: any ProcessorQueries
  /// Whether payments start at the relay, so that their state is fetched until it is known.
  public let followsUp: Bool
  /// Whether the processor reports payments, so that one that it did not report is a sign of trouble.
  public let hasWebhooks: Bool
  private let headers: [TransferHeader]

  /// - Returns: nil if the processor has no API to ask, or the app has no key for it.
  init?(app: AppSlug, processorName: ProcessorName, _ processor: any PaymentProcessor, rules: ProcessorRules)
  {
    guard let queries = processor.queries else { return nil }
    self.app = app
    self.processorName = processorName
    self.processor = processor
    self.queries = queries
    followsUp = rules.followsUpAfter != nil
    hasWebhooks = type(of: processor).hasWebhooks
    var headers = queries.headers.map { TransferHeader($0.name, $0.value) }
    if !headers.contains(where: { $0.name.lowercased() == "user-agent" }) {
      headers.append(TransferHeader("User-Agent", Version.userAgent))
    }
    self.headers = headers
  }

  /// The app's API access, one for each processor with a key, from its configuration alone. Webhook secrets
  /// are not read.
  /// - Throws: `Fault` if a key cannot be read.
  public static func of(_ configuration: AppConfiguration) throws -> [ProcessorAPI] {
    try configuration.processors.compactMap { processor in
      try Self(
        app: configuration.slug, processorName: processor.name,
        processor.section.makeProcessor(
          for: .asking, in: configuration, userAgent: Version.userAgent), rules: processor.section.rules)
    }
  }

  /// A request that only shows whether the credentials are accepted; nil if there is no harmless one.
  public var probe: TransferRequest? { queries.probe.map(request) }

  /// The addresses that the processor sends webhooks to; nil if its API does not list them.
  public var registry: (any WebhookRegistry)? { queries.webhookRegistry }

  /// How old a signature of the processor may be; nil if its signatures have no time.
  public var signatureAgeMax: Duration? { processor.signatureAgeMax }

  /// The lists of events since a time.
  public func eventLists(since: Timestamp, undeliveredOnly: Bool) -> [PagedEvents] {
    let selection = EventSelection(since: since, undeliveredOnly: undeliveredOnly)
    return queries.eventLists(selection).map { PagedEvents(list: $0) }
  }

  /// How far back those lists go.
  public var eventsKept: Duration { queries.eventsKept }

  /// The request for the next page of a list.
  public func request(_ list: PagedEvents) -> TransferRequest { request(list.list.page(after: list.cursor)) }

  public func request(_ query: ProcessorQuery) -> TransferRequest {
    TransferRequest(
      method: .get, url: query.url(at: queries.base),
      headers: headers
        + query.headers.sorted { $0.key < $1.key }.map { TransferHeader($0.key, $0.value) },
      timeout: Self.timeout, answerBytesMax: Self.answerBytesMax)
  }

  /// Judges the answer to a request.
  public func judge(_ result: TransferResult, now: Timestamp) -> QueryAnswer {
    let rest = result.header("Retry-After").flatMap { RetryAfter.duration($0, now: now) }
    if let failure = result.failure, result.status.map({ $0 == 200 }) ?? true {
      // The answer is incomplete, so its status decides nothing.
      switch failure {
      case .certificateRejected, .refusedURL, .refusedHeader: return .refused(failure.rawValue)
      default: return .failed(failure.rawValue, retryAfter: rest)
      }
    }
    let status = result.status.map { "http_\($0)" } ?? "no_answer"
    switch queries.judge(status: result.status) {
    case .answered: return .body(result.body)
    case .notFound: return .notFound(result.body)
    case .limited: return .limited(retryAfter: rest)
    case .refused: return .refused(status)
    case .transient: return .failed(status, retryAfter: rest)
    }
  }

  /// Reads a page.
  /// - Returns: its events, as commands like those of webhooks; nil if it is not a page.
  public func read(page body: [UInt8], of list: inout PagedEvents, now: Timestamp) -> [IngestEvent]? {
    guard let page = queries.page(from: body) else { return nil }
    list.cursor = page.next
    list.isAtEnd = page.next == nil
    return page.events.map { event($0, now: now) }
  }

  /// Reads an event's bytes like those of a webhook.
  public func event(_ body: [UInt8], now: Timestamp) -> IngestEvent {
    IngestEvent(
      processor.read(body, now: now), app: app, processor: processorName, body: body,
      mentions: type(of: processor).mentions)
  }
}

/// A list of events that is fetched page by page.
public struct PagedEvents: Sendable {
  let list: EventList
  var cursor: String?
  /// Whether the last page has been read.
  public internal(set) var isAtEnd = false
}
