// A stand-in for Stripe's API, for trying things out and for tests: the list of events and the objects that a
// relay asks for, with pages, keys, limits and bad days. A server on this machine only.

public import HTTPServer
internal import Platform

/// A running stand-in for https://api.stripe.com.
///
/// Owns a server and one timer thread; `stop` ends both, and `deinit` does when nobody stopped it. Any thread
/// may use it but those that call `onRequest`.
public final class SandboxStripe: Sendable {
  private let server: Server
  private let handler: SandboxStripeHandler
  private let timer: DelayedAnswers

  /// Listens and answers at once.
  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - seed: the same seed fails the same requests, counted in order of arrival.
  ///   - onRequest: told of each request, on a thread of the server; must not block for long.
  /// - Throws: `ServerError`; nothing is left behind then.
  public init(
    port: UInt16 = 0, books: StripeBooks = StripeBooks(),
    behaviour: SandboxStripeBehaviour = SandboxStripeBehaviour(), seed: UInt64 = 1,
    onRequest: @escaping @Sendable (SandboxStripeRequest) -> Void = { _ in }
  ) throws(ServerError) {
    do {
      timer = try DelayedAnswers()
    } catch {
      throw .system(error)
    }
    handler = SandboxStripeHandler(books, behaviour, seed: seed, timer: timer, onRequest: onRequest)
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

  /// What `stripe.api_base` must be for questions to come here.
  public var base: String { "http://\(SandboxDestination.address):\(port)" }

  /// What it knows.
  public var books: StripeBooks {
    get { handler.state.withLock { $0.books } }
    set { handler.state.withLock { $0.books = newValue } }
  }

  /// How requests are answered from now on.
  public var behaviour: SandboxStripeBehaviour {
    get { handler.state.withLock { $0.behaviour } }
    set { handler.state.withLock { $0.behaviour = newValue } }
  }

  /// Answers what still waits at once, closes everything, and returns when no thread is left.
  public func stop() {
    timer.stop()
    server.stop(graceMilliseconds: 100)
  }
}

/// How the stand-in answers.
public struct SandboxStripeBehaviour: Sendable, Equatable {
  /// Every request is answered with this status, whatever is in it; nil judges the request.
  public var status: Int?
  /// The share of requests that is answered 500, 0…1.
  public var failRate: Double
  /// What comes beyond that in one second is answered 429; nil for no limit.
  public var requestsPerSecondMax: Int?
  /// `Retry-After` of a 429, in seconds; nil leaves it out, as Stripe often does.
  public var retryAfterSeconds: Int?
  /// The most that one page holds.
  public var pageSizeMax: Int
  public var delayMilliseconds: Int64
  /// The key that is taken; nil takes any.
  public var apiKey: String?

  public init(
    status: Int? = nil, failRate: Double = 0, requestsPerSecondMax: Int? = nil, retryAfterSeconds: Int? = 1,
    pageSizeMax: Int = 100, delayMilliseconds: Int64 = 0, apiKey: String? = nil
  ) {
    self.status = status
    self.failRate = failRate
    self.requestsPerSecondMax = requestsPerSecondMax
    self.retryAfterSeconds = retryAfterSeconds
    self.pageSizeMax = pageSizeMax
    self.delayMilliseconds = delayMilliseconds
    self.apiKey = apiKey
  }
}

/// One request that the stand-in got, and what it is answered.
public struct SandboxStripeRequest: Sendable, Equatable {
  public var method: String
  /// With its query, as it came.
  public var target: String
  /// The connected account that was named, if any.
  public var account: String?
  /// The status of the answer.
  public var status: Int
}
