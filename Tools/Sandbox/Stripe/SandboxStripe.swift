// A simulation of Stripe's API, for experiments and tests: the list of events and the objects that a relay
// queries, with pages, keys, rate limits and failures. It listens on this machine only.

public import HTTPServer
internal import Platform

/// A running simulation of https://api.stripe.com.
///
/// Owns a server and one timer thread; `stop` ends both, and so does `deinit`. Thread-safe, but do not call
/// it from `onRequest`.
public final class SandboxStripe: Sendable {
  private let service: SandboxServer<SandboxStripeHandler>

  /// Starts to listen.
  /// - Parameters:
  ///   - port: 0 lets the system choose a free port.
  ///   - seed: the same seed fails the same requests, counted in order of arrival.
  ///   - onRequest: called for each request, on a thread of the server; must not block for long.
  /// - Throws: `ServerError`; then nothing keeps running.
  public init(
    port: UInt16 = 0, records: StripeRecords = StripeRecords(),
    behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour(), seed: UInt64 = 1,
    onRequest: @escaping @Sendable (SandboxStripeRequest) -> Void = { _ in }
  ) throws(ServerError) {
    service = try SandboxServer(port: port) { timer in
      SandboxStripeHandler(records, behaviour, seed: seed, timer: timer, onRequest: onRequest)
    }
  }

  /// The value of `stripe.api_base` that sends queries here.
  public var base: String { service.base }

  /// Its events and objects.
  public var records: StripeRecords {
    get { service.handler.state.withLock { $0.records } }
    set { service.handler.state.withLock { $0.records = newValue } }
  }

  /// How subsequent requests are answered.
  public var behaviour: SandboxStripeBehaviour {
    get { service.handler.state.withLock { $0.behaviour } }
    set { service.handler.state.withLock { $0.behaviour = newValue } }
  }

  /// Sends all waiting answers, closes everything, and returns when no thread is left.
  public func stop() { service.stop() }
}

/// How the simulation answers.
public struct SandboxStripeBehaviour: Sendable, Equatable {
  /// Answers every request with this status, regardless of its content; nil validates the request.
  public var status: Int?
  /// The share of requests that are answered with 500, 0…1.
  public var failRate: Double
  /// Requests beyond this number in one second are answered with 429; nil means no limit.
  public var requestsPerSecondMax: Int?
  /// `Retry-After` of a 429, in seconds; nil omits it, as Stripe often does.
  public var retryAfterSeconds: Int?
  /// The most entries on one page.
  public var pageSizeMax: Int
  public var delay: Duration
  /// The accepted key; nil accepts any.
  public var apiKey: String?
  /// Whether the key may list webhook endpoints.
  public var listsEndpoints: Bool
  /// Whether the key may make checkout sessions.
  public var makesSessions = true
  /// Carries requests out, and closes the connection instead of answering.
  public var losesAnswers = false

  public init(
    status: Int? = nil, failRate: Double = 0, requestsPerSecondMax: Int? = nil, retryAfterSeconds: Int? = 1,
    pageSizeMax: Int = 100, delay: Duration = .zero, apiKey: String? = nil,
    listsEndpoints: Bool = true
  ) {
    self.status = status
    self.failRate = failRate
    self.requestsPerSecondMax = requestsPerSecondMax
    self.retryAfterSeconds = retryAfterSeconds
    self.pageSizeMax = pageSizeMax
    self.delay = delay
    self.apiKey = apiKey
    self.listsEndpoints = listsEndpoints
  }
}

/// One received request, and the status of its answer.
public struct SandboxStripeRequest: Sendable, Equatable {
  public var method: String
  /// Path and query, as received.
  public var target: String
  /// The connected account that the request names, if any.
  public var account: String?
  /// The status of the answer.
  public var status: Int
  public var body: [UInt8] = []
  /// The value of `Idempotency-Key`, if there is one.
  public var idempotencyKey: String?
}
