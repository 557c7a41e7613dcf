// The requests of the relay's client: addresses, bodies, credentials, retries. Called from any task.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension RelayClient {
  // MARK: Creating

  /// The URL of a path under `/v1/{app}/`.
  func url(_ path: String) throws(RelayError) -> URL {
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
    return url
  }

  private static let loopback: Set<String> = ["localhost", "127.0.0.1", "[::1]"]

  /// Creates a request under `/v1/{app}/`.
  func request(_ path: String) throws(RelayError) -> URLRequest {
    var request = URLRequest(url: try url(path))
    request.setValue("application/json", forHTTPHeaderField: "Accept")
    return request
  }

  /// Creates a request under `/v1/{app}/users/{user}/`, or under `/v1/{app}/` when the token names the user.
  func request(_ endpoint: String, of userID: String?) throws(RelayError) -> URLRequest {
    guard let userID else { return try request(endpoint) }
    guard LinkText.isIdentifier(userID, bytesMax: 255), LinkPath.isSegment(userID) else {
      throw .encoding("A user id has 1 to 255 bytes and no control characters, and is not `.` or `..`.")
    }
    return try request("users/\(LinkText.escaped(userID))/\(endpoint)")
  }

  /// Creates a POST with JSON. The same body gives the same bytes.
  func request(
    _ endpoint: String, of userID: String?, posting body: some Encodable
  ) throws(RelayError) -> URLRequest {
    var request = try request(endpoint, of: userID)
    try request.post(body)
    request.timeoutInterval = RequestTimeout.post
    return request
  }

  // MARK: Sending

  /// Sends a request, retries it as the policy says, and retries it once more when its token is refused.
  func send(_ request: URLRequest, isKeyed: Bool = true) async throws(RelayError) -> HTTPSuccess {
    try await send(request, isKeyed: isKeyed, retries)
  }

  /// - Parameter firstTimeout: seconds for the first attempt; nil for those of the request.
  func send(
    _ request: URLRequest, isKeyed: Bool, _ retries: RetryPolicy, firstTimeout: TimeInterval? = nil
  ) async throws(RelayError) -> HTTPSuccess {
    var mayRenew = isKeyed && hasToken
    return try await retries.run(clock) { attempt async throws(RelayError) -> HTTPSuccess in
      var request = request
      if attempt == 1, let firstTimeout { request.timeoutInterval = firstTimeout }
      do throws(RelayError) {
        return try await sendOnce(request, isKeyed: isKeyed)
      } catch {
        guard error.status == 401, mayRenew else { throw error }
        mayRenew = false
        return try await sendOnce(request, isKeyed: isKeyed)
      }
    }
  }

  private func sendOnce(_ request: URLRequest, isKeyed: Bool) async throws(RelayError) -> HTTPSuccess {
    var request = request
    if isKeyed, let (name, value) = try await credentialHeader() {
      request.setValue(value, forHTTPHeaderField: name)
    }
    return try await transport.success(of: request, clock)
  }

  func rest(_ seconds: TimeInterval) async throws(RelayError) {
    // A clock throws only on cancellation.
    do { try await clock.sleep(seconds: seconds) } catch { throw .cancelled }
  }

  // MARK: Credentials

  private var hasToken: Bool { if case .token = credential { true } else { false } }

  /// The header by which the app authenticates; nil without a credential.
  func credentialHeader() async throws(RelayError) -> (name: String, value: String)? {
    switch credential {
    case .none: return nil
    case .clientKey(let key): return ("X-API-KEY", try Self.headerValue(key))
    case .token(let provider):
      let token: String
      do {
        token = try await provider()
      } catch {
        if Task.isCancelled { throw .cancelled }
        // A provider that cannot reach its server is a network failure, which is retried.
        throw error is URLError ? .thrown(error) : .noToken("The app did not provide a token.")
      }
      return ("Authorization", "Bearer \(try Self.headerValue(token))")
    }
  }

  /// The value of `X-Context-Id`, which ties a payment to a context.
  static func contextHeader(_ contextID: String) throws(RelayError) -> String {
    guard LinkText.isIdentifier(contextID, bytesMax: 255), contextID.utf8.allSatisfy(isVisible) else {
      throw .encoding("This is not the id of a context.")
    }
    return contextID
  }

  private static func isVisible(_ byte: UInt8) -> Bool { (0x21...0x7E).contains(byte) }

  private static func headerValue(_ text: String) throws(RelayError) -> String {
    guard !text.isEmpty, text.utf8.allSatisfy(isVisible) else {
      throw .encoding("The key or token has characters that are not allowed in a header.")
    }
    return text
  }
}
