// The kit's transport. Callbacks run on the session's queue; each request is an `Exchange` with a lock around
// its state. It uses a delegate, because `URLSession.data(for:)` needs iOS 15 and a completion handler
// follows redirects, on Linux without asking.

public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Sends requests with its own `URLSession`: no cache, no cookies, no redirects, responses of at most 1 MiB.
public final class URLSessionTransport: Transport {
  private let session: URLSession
  private let exchanges: Exchanges

  /// Creates a transport with its own session.
  /// - Parameter configuration: for proxies, or `waitsForConnectivity`. Background sessions are not
  ///   supported. Its cookies, caches and credentials are not used. It is copied; the caller's stays
  ///   unchanged.
  public init(configuration: URLSessionConfiguration = .ephemeral) {
    // The copy has the same class; the compiler needs the default.
    let configuration = configuration.copy() as? URLSessionConfiguration ?? .ephemeral
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCredentialStorage = nil
    exchanges = Exchanges()
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
  }

  // The session retains its delegate and itself until it is invalidated.
  deinit { session.finishTasksAndInvalidate() }

  /// Sends a request; it is cancelled with its task.
  public func send(_ request: URLRequest) async throws -> (Data, URLResponse) {
    let task = session.dataTask(with: request)
    let exchange = exchanges.begin(task)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        exchange.begin(continuation)
        task.resume()
      }
    } onCancel: {
      exchange.finish(.failure(CancellationError()))
      task.cancel()
    }
  }
}

/// One request in flight.
private final class Exchange: Sendable {
  typealias Answer = Result<(Data, URLResponse), any Error>

  private struct State {
    var body = Data()
    var continuation: CheckedContinuation<(Data, URLResponse), any Error>?
    /// The result, when the request ended before its continuation was set.
    var answer: Answer?
    var isOver = false
  }

  static let bytesMax = 1 << 20

  private let state = Locked(State())

  func begin(_ continuation: CheckedContinuation<(Data, URLResponse), any Error>) {
    let answer = state.withLock { state in
      if state.answer == nil { state.continuation = continuation }
      return state.answer
    }
    if let answer { continuation.resume(with: answer) }
  }

  /// - Returns: false when the body exceeds the limit.
  func append(_ data: Data) -> Bool {
    state.withLock { state in
      guard state.body.count + data.count <= Self.bytesMax else { return false }
      state.body.append(data)
      return true
    }
  }

  func finish(with response: URLResponse) {
    finish(.success((state.withLock(\.body), response)))
  }

  /// Ends the exchange; only the first call has an effect.
  func finish(_ answer: Answer) {
    let continuation: CheckedContinuation<(Data, URLResponse), any Error>? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.isOver = true
      if state.continuation == nil { state.answer = answer }
      return state.continuation
    }
    continuation?.resume(with: answer)
  }
}

/// The requests of a session, by task identifier.
private final class Exchanges: NSObject, URLSessionDataDelegate, Sendable {
  private let running = Locked<[Int: Exchange]>([:])

  func begin(_ task: URLSessionTask) -> Exchange {
    let exchange = Exchange()
    running.withLock { $0[task.taskIdentifier] = exchange }
    return exchange
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    guard let exchange = running.withLock({ $0[dataTask.taskIdentifier] }), !exchange.append(data) else {
      return
    }
    exchange.finish(.failure(URLError(.dataLengthExceedsMaximum)))
    dataTask.cancel()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    guard let exchange = running.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
    if let error {
      exchange.finish(.failure(error))
    } else if let response = task.response {
      exchange.finish(with: response)
    } else {
      exchange.finish(.failure(URLError(.badServerResponse)))
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
  ) {
    // Does not follow the redirect, because the key must not go elsewhere. The redirect becomes the response.
    completionHandler(nil)
  }
}
