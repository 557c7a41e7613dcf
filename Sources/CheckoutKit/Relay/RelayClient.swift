// The app's side of the relay's API: posts a context before a checkout. Any task; a value without state but
// its transport's.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Tells a Receipt Relay which checkout is about to begin, and asks it what became of it.
///
/// ```swift
/// // https://pay.example.com, and the app's name and key there
/// let relay = RelayClient(relay: origin, app: "ios", credential: .clientKey(key))
/// let checkout = try await relay.checkout(context, userID: userID)
/// // open checkout.checkoutURL in the browser; when the person is back:
/// let status = try await relay.finalStatus(of: checkout.contextID)
/// ```
///
/// A dead network and a busy relay are met with tries after growing pauses (``RetryPolicy``). Every try sends
/// the same bytes, and the relay gives the same id for them, so a context that did arrive although its answer
/// was lost is not there twice.
public struct RelayClient: Sendable {
  /// How the app proves itself.
  public enum Credential: Sendable {
    /// Not at all: the relay's app is `open`.
    case none
    /// One of the app's client keys, sent as `X-API-KEY`. It is in everybody's copy of the app, so it says
    /// which app posts, not who.
    case clientKey(String)
    /// A token of the signed-in user, sent as `Authorization: Bearer`. The closure is asked before every try,
    /// so it may renew the token. A token may expire on its way: the first 401 of a request is met with one
    /// more try, whatever the policy says.
    case token(@Sendable () async throws -> String)
  }

  let relay: URL
  let app: String
  let transport: any Transport
  let retries: RetryPolicy
  let clock: any CheckoutClock
  private let credential: Credential

  /// A client for one app at one relay. Nothing is sent before it is asked to; what is wrong with the
  /// address or the name is told then, as ``RelayError/encoding(_:)``.
  /// - Parameters:
  ///   - relay: the relay's origin, https; http for this machine only.
  ///   - app: the app's name at the relay.
  ///   - credential: how the app proves itself.
  ///   - transport: how requests are sent.
  ///   - retries: how long to go on.
  ///   - clock: what pauses are measured with.
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

  /// Posts a context, and says where its checkout page is.
  /// - Parameters:
  ///   - context: which paywall, and what is to be bought.
  ///   - userID: the id that the Purchasely SDK was given.
  /// - Returns: the context; its ``PostedContext/checkoutURL`` is never nil.
  /// - Throws: ``RelayError``; an unknown price is ``RelayError/http(_:)`` with 422.
  public func checkout(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> PostedContext {
    let (posted, answer) = try await postContext(context.plyContext(), userID, endpoint: "checkout")
    guard posted.checkoutURL != nil else { throw answer.unexpected }
    return posted
  }

  /// Posts a context, for apps that have the checkout page's address themselves. Repeat it as you like: as
  /// long as the context is not used, the same context of the same user gives the same id.
  /// - Parameters:
  ///   - context: which paywall, and what is to be bought.
  ///   - userID: the id that the Purchasely SDK was given.
  public func post(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> PostedContext {
    try await post(plyContext: context.plyContext(), userID: userID)
  }

  /// Posts a context that already is a `ply_context`.
  public func post(plyContext: String, userID: String) async throws(RelayError) -> PostedContext {
    try await postContext(plyContext, userID, endpoint: "contexts").posted
  }

  /// Posts a context and does not look at what a success says, for a server of your own with the same path.
  /// - Returns: the body of the success; nil when it has none.
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

  /// A success.
  struct Answer: Sendable {
    let status: Int
    let body: Data

    var unexpected: RelayError {
      .unexpectedAnswer(status: status, body: OperatorText(String(decoding: body, as: UTF8.self)))
    }
  }

  /// A request under `/v1/{app}/`.
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

  /// Sends a request, again and again as the policy says, and once more when its token was refused.
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

  /// Waits.
  func rest(_ seconds: TimeInterval) async throws(RelayError) {
    // A clock has no other reason to throw.
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
        // A provider that could not reach its own server may reach it at the next try.
        throw error is URLError ? .thrown(error) : .noToken("The token could not be had.")
      }
      request.setValue("Bearer \(try Self.headerValue(token))", forHTTPHeaderField: "Authorization")
    }
    return request
  }

  private static func headerValue(_ text: String) throws(RelayError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw .encoding("The key or token has characters that no header may have.")
    }
    return text
  }
}
