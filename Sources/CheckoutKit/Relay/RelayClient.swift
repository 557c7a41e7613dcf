// The client of the relay's API for apps: posts a context before a checkout. Called from any task; it has no
// state except the transport's.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Posts the context of a checkout to a Receipt Relay, and reads the checkout's status.
///
/// ```swift
/// // https://pay.example.com, and the app's name and key there
/// let relay = RelayClient(relay: origin, app: "ios", credential: .clientKey(key))
/// let checkout = try await relay.checkout(context, userID: userID)
/// // open checkout.checkoutURL in the browser; when the customer is back:
/// let status = try await relay.finalStatus(of: checkout.contextID)
/// ```
///
/// Requests are retried with growing pauses when the network fails or the relay is busy (``RetryPolicy``).
/// Every attempt sends the same bytes, for which the relay returns the same id. So a context is not
/// duplicated when only the response was lost.
public struct RelayClient: Sendable {
  /// How the app authenticates.
  public enum Credential: Sendable {
    /// No credential: the relay's app is `open`.
    case none
    /// One of the app's client keys, sent as `X-API-KEY`. Every copy of the app contains it, so it identifies
    /// the app, not the user.
    case clientKey(String)
    /// A token of the signed-in user, sent as `Authorization: Bearer`. The closure is called before every
    /// attempt and may renew the token. A token may expire in transit: after the first 401 of a request there
    /// is one more attempt, whatever the policy.
    case token(@Sendable () async throws -> String)
  }

  let relay: URL
  let app: String
  let transport: any Transport
  let retries: RetryPolicy
  let clock: any CheckoutClock
  private let credential: Credential

  /// Creates a client for one app at one relay. It sends nothing. A wrong address or name is reported by the
  /// first request, as ``RelayError/encoding(_:)``.
  /// - Parameters:
  ///   - relay: the relay's origin: https, or http on this machine only.
  ///   - app: the app's name at the relay.
  ///   - credential: how the app authenticates.
  ///   - transport: sends the requests.
  ///   - retries: how often and how long to retry.
  ///   - clock: measures the pauses.
  public init(
    relay: URL, app: String, credential: Credential = .none,
    transport: any Transport = URLSessionTransport(), retries: RetryPolicy = RetryPolicy(),
    clock: any CheckoutClock = SystemClock()
  ) {
    self.relay = relay
    self.app = app
    self.credential = credential
    self.transport = transport
    self.retries = retries
    self.clock = clock
  }

  // MARK: Before the checkout

  /// Posts a context and returns its checkout page.
  /// - Parameters:
  ///   - context: the paywall and the price.
  ///   - userID: the user id in the Purchasely SDK.
  /// - Returns: the context; its ``PostedContext/checkoutURL`` is never nil.
  /// - Throws: ``RelayError``; an unknown price is ``RelayError/http(_:)`` with 422.
  public func checkout(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> PostedContext {
    let (posted, answer) = try await postContext(context.plyContext(), userID, endpoint: "checkout")
    guard posted.checkoutURL != nil else { throw answer.unexpected }
    return posted
  }

  /// Posts a context, for apps that know the checkout page's address. It is idempotent until the context is
  /// used: the same context of the same user returns the same id.
  /// - Parameters:
  ///   - context: the paywall and the price.
  ///   - userID: the user id in the Purchasely SDK.
  public func post(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> PostedContext {
    try await post(plyContext: context.plyContext(), userID: userID)
  }

  /// Posts a context that already is a `ply_context`.
  public func post(plyContext: String, userID: String) async throws(RelayError) -> PostedContext {
    try await postContext(plyContext, userID, endpoint: "contexts").posted
  }

  /// Posts a context and does not parse a success, for your own server with the same path.
  /// - Returns: the body of the success; nil when it is empty.
  @discardableResult public func postIgnoringAnswer(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> Data? {
    let body = try await send(postRequest(context.plyContext(), userID, endpoint: "contexts")).body
    return body.isEmpty ? nil : body
  }

  private func postContext(
    _ plyContext: String, _ userID: String, endpoint: String
  ) async throws(RelayError) -> (posted: PostedContext, answer: Answer) {
    let answer = try await send(postRequest(plyContext, userID, endpoint: endpoint))
    guard let posted = PostedContext(status: answer.status, body: answer.body, relay: relay) else {
      throw answer.unexpected
    }
    return (posted, answer)
  }

  private func postRequest(
    _ plyContext: String, _ userID: String, endpoint: String
  ) throws(RelayError) -> URLRequest {
    guard LinkText.isIdentifier(userID, bytesMax: 255), LinkPath.isSegment(userID) else {
      throw .encoding("A user id has 1 to 255 bytes and no control characters, and is not `.` or `..`.")
    }
    var request = try request("users/\(LinkText.escaped(userID))/\(endpoint)")
    request.httpMethod = "POST"
    request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      request.httpBody = try encoder.encode(["ply_context": plyContext])
    } catch {
      throw .encoding("The context cannot be written as JSON.")
    }
    request.timeoutInterval = 30
    return request
  }

  // MARK: Requests

  /// A 2xx response.
  struct Answer: Sendable {
    let status: Int
    let body: Data

    var unexpected: RelayError {
      .unexpectedAnswer(status: status, body: OperatorText(String(decoding: body, as: UTF8.self)))
    }
  }

  /// Creates a request under `/v1/{app}/`.
  func request(_ path: String) throws(RelayError) -> URLRequest {
    let parts = URLParts(relay)
    let isHere = parts.isAt(Self.loopback.union(Self.loopback.map { "\($0):\(relay.port ?? 80)" }))
    guard let scheme = parts.comparableScheme, scheme == "https" || scheme == "http" && isHere,
      let authority = parts.authority, !authority.isEmpty, !authority.utf8.contains(UInt8(ascii: "@"))
    else { throw .encoding("The relay's address must be https://HOST, without a user.") }
    guard CheckoutReturn.isApp(app) else {
      throw .encoding("An app's name is lower-case letters, digits and hyphens.")
    }
    var prefix = parts.path[...]
    while prefix.hasSuffix("/") { prefix.removeLast() }
    guard let url = URL(string: "\(scheme)://\(authority)\(prefix)/v1/\(app)/\(path)") else {
      throw .encoding("The relay's address cannot be used.")
    }
    var request = URLRequest(url: url)
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    return request
  }

  private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  /// Sends a request, retries it as the policy says, and retries it once more when its token is refused.
  func send(_ request: URLRequest, isKeyed: Bool = true) async throws(RelayError) -> Answer {
    try await send(request, isKeyed: isKeyed, retries)
  }

  func send(
    _ request: URLRequest, isKeyed: Bool, _ retries: RetryPolicy
  ) async throws(RelayError) -> Answer {
    let start = clock.seconds
    var attempt = 1
    var mayRenew = isKeyed && hasToken
    while true {
      let failure: RelayError
      do {
        return try await sendOnce(isKeyed ? withCredential(request) : request)
      } catch {
        failure = error
      }
      if failure.status == 401, mayRenew {
        mayRenew = false
        continue
      }
      guard failure.isTransient,
        let pause = retries.pause(
          after: attempt, elapsed: clock.seconds - start, retryAfter: failure.retryAfter)
      else { throw failure }
      try await rest(pause)
      attempt += 1
    }
  }

  private var hasToken: Bool { if case .token = credential { true } else { false } }

  func rest(_ seconds: TimeInterval) async throws(RelayError) {
    // A clock throws only on cancellation.
    do { try await clock.sleep(seconds: seconds) } catch { throw .cancelled }
  }

  private func sendOnce(_ request: URLRequest) async throws(RelayError) -> Answer {
    guard !Task.isCancelled else { throw .cancelled }
    let (body, response): (Data, URLResponse)
    do {
      (body, response) = try await transport.send(request)
    } catch {
      throw Task.isCancelled ? .cancelled : .thrown(error)
    }
    guard let response = response as? HTTPURLResponse else { throw .notHTTP }
    guard (200...299).contains(response.statusCode) else {
      throw .http(HTTPFailure(response, body, now: clock.date))
    }
    return Answer(status: response.statusCode, body: body)
  }

  private func withCredential(_ request: URLRequest) async throws(RelayError) -> URLRequest {
    var request = request
    switch credential {
    case .none: break
    case .clientKey(let key):
      request.setValue(try Self.headerValue(key), forHTTPHeaderField: "X-API-KEY")
    case .token(let provider):
      let token: String
      do {
        token = try await provider()
      } catch {
        if Task.isCancelled { throw .cancelled }
        // A provider that cannot reach its server is a network failure, which is retried.
        throw error is URLError ? .thrown(error) : .noToken("The app did not provide a token.")
      }
      request.setValue("Bearer \(try Self.headerValue(token))", forHTTPHeaderField: "Authorization")
    }
    return request
  }

  private static func headerValue(_ text: String) throws(RelayError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .encoding("The key or token has characters that are not allowed in a header.")
    }
    return text
  }
}
