// A simulation of Stripe's API, for experiments and tests: the list of events and the objects that a relay
// queries, with pages, keys, rate limits and failures. It listens on this machine only.

public import HTTPServer
internal import Platform

/// A running simulation of https://api.stripe.com.
///
/// Owns a server and one timer thread; `stop` ends both, and so does `deinit`. Thread-safe, but do not call
/// it from `onRequest`.
public final class SandboxStripe: Sendable {
  private let server: Server
  private let handler: SandboxStripeHandler
  private let timer: DelayedAnswers

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
    do {
      timer = try DelayedAnswers()
    } catch {
      throw .system(error)
    }
    handler = SandboxStripeHandler(records, behaviour, seed: seed, timer: timer, onRequest: onRequest)
    do throws(ServerError) {
      server = try Server(
        ServerConfiguration(address: SandboxDestination.address, port: port), handler: handler)
    } catch {
      timer.stop()
      throw error
    }
  }

  deinit { stop() }

  /// The port it listens on.
  public var port: UInt16 { server.port }

  /// The value of `stripe.api_base` that sends queries here.
  public var base: String { "http://\(SandboxDestination.address):\(port)" }

  /// Its events and objects.
  public var records: StripeRecords {
    get { handler.state.withLock { $0.records } }
    set { handler.state.withLock { $0.records = newValue } }
  }

  /// How subsequent requests are answered.
  public var behaviour: SandboxStripeBehaviour {
    get { handler.state.withLock { $0.behaviour } }
    set { handler.state.withLock { $0.behaviour = newValue } }
  }

  /// Sends all waiting answers, closes everything, and returns when no thread is left.
  public func stop() {
    timer.stop()
    server.stop(grace: .milliseconds(100))
  }
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
