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
  let credential: Credential

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

  /// Posts a context and returns its checkout page. It waits for the relay; ``CheckoutOutbox`` does not.
  /// - Parameters:
  ///   - context: the paywall and the price.
  ///   - userID: the user id in the Purchasely SDK.
  ///   - id: the context's id, by ``CheckoutID/make(at:)``; nil lets the relay make it.
  /// - Returns: the context; its ``PostedContext/checkoutURL`` is never nil.
  /// - Throws: ``RelayError``; an unknown price is ``RelayError/http(_:)`` with 422.
  public func checkout(
    _ context: WebCheckoutContext, userID: String, id: String? = nil
  ) async throws(RelayError) -> PostedContext {
    let request = try postRequest(context.plyContext(), userID, id: id, endpoint: "checkout")
    let (posted, answer) = try await postContext(request, retries)
    guard posted.checkoutURL != nil else { throw answer.unexpected }
    return posted
  }

  /// Posts a context, for apps that know the checkout page's address. It is idempotent until the context is
  /// used, and with an id also after that: the same context of the same user returns the same id.
  /// - Parameters:
  ///   - context: the paywall and the price.
  ///   - userID: the user id in the Purchasely SDK.
  ///   - id: the context's id, by ``CheckoutID/make(at:)``; nil lets the relay make it.
  public func post(
    _ context: WebCheckoutContext, userID: String, id: String? = nil
  ) async throws(RelayError) -> PostedContext {
    try await post(plyContext: context.plyContext(), userID: userID, id: id)
  }

  /// Posts a context that already is a `ply_context`.
  public func post(
    plyContext: String, userID: String, id: String? = nil
  ) async throws(RelayError) -> PostedContext {
    try await post(plyContext: plyContext, userID: userID, id: id, retries: retries)
  }

  func post(
    plyContext: String, userID: String, id: String?, endpoint: String = "contexts", retries: RetryPolicy
  ) async throws(RelayError) -> PostedContext {
    try await postContext(postRequest(plyContext, userID, id: id, endpoint: endpoint), retries).posted
  }

  /// Posts a context and does not parse a success, for your own server with the same path.
  /// - Returns: the body of the success; nil when it is empty.
  @discardableResult public func postIgnoringAnswer(
    _ context: WebCheckoutContext, userID: String
  ) async throws(RelayError) -> Data? {
    let request = try postRequest(context.plyContext(), userID, id: nil, endpoint: "contexts")
    let body = try await send(request, isKeyed: true, retries, firstTimeout: retries.firstTimeout).body
    return body.isEmpty ? nil : body
  }

  private func postContext(
    _ request: URLRequest, _ retries: RetryPolicy
  ) async throws(RelayError) -> (posted: PostedContext, answer: HTTPSuccess) {
    let answer = try await send(request, isKeyed: true, retries, firstTimeout: retries.firstTimeout)
    guard let posted = PostedContext(status: answer.status, body: answer.body, relay: relay) else {
      throw answer.unexpected
    }
    return (posted, answer)
  }

  private func postRequest(
    _ plyContext: String, _ userID: String, id: String?, endpoint: String
  ) throws(RelayError) -> URLRequest {
    var body = ["ply_context": plyContext]
    if let id {
      guard CheckoutID.isWellFormed(id) else { throw .encoding("This is not an id of CheckoutID.") }
      body["id"] = id
    }
    return try request(endpoint, of: userID, posting: body)
  }
}
