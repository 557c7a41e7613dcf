// The client of the relay's endpoints for Swedbank Pay: for the SDK, and for apps with their own user
// interface. Called from any task; it has no state.

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Pays with Swedbank Pay through a Receipt Relay, which is the merchant backend: it has the merchant's
/// token.
///
/// With Swedbank Pay's SDK:
///
/// ```swift
/// let payment = SwedbankPayment(relay: relay, userID: userID, contextID: posted.contextID)
/// let configuration = SwedbankPaySDK.MerchantBackendConfiguration(
///   backendUrl: try payment.backendURL, headers: try await payment.headers())
/// // … the SDK shows the payment; when it reports the end:
/// let status = try await payment.finalStatus()
/// ```
///
/// Without it, ``start(_:)`` starts a payment order, and the app shows a page of its operations. The end of
/// the SDK's or the page's user interface proves no payment: ask for the status.
public struct SwedbankPayment: Sendable {
  private let relay: RelayClient
  private let userID: String?
  private let contextID: String?

  /// Creates a client for one payment of a user. It sends nothing.
  /// - Parameters:
  ///   - relay: the relay, with a client key or a token.
  ///   - userID: the user id in the Purchasely SDK; nil when the relay's client sends a token, which names
  ///     the user.
  ///   - contextID: the context of the purchase, as the relay returned it. Without one the relay uses the
  ///     user's newest context, and this has no status.
  public init(relay: RelayClient, userID: String? = nil, contextID: String? = nil) {
    self.relay = relay
    self.userID = userID
    self.contextID = contextID
  }

  // MARK: For the SDK

  /// The SDK's `backendUrl`. It ends in a slash, because the SDK resolves `complete`, `cancel` and the path
  /// of the payment URL relative to it. It does not name the user, because the relay's pages have no address
  /// for each user.
  public var backendURL: URL { get throws(RelayError) { try relay.url("swedbank/") } }

  /// The headers that the SDK sends with every request: the key or the token, `X-User-Id` and `X-Context-Id`.
  ///
  /// They contain the credential: do not log them. The SDK cannot renew a token, so create its configuration
  /// right before each payment.
  /// - Throws: ``RelayError/encoding(_:)`` for a user id that a header cannot carry, which is other text than
  ///   ASCII: use a token, which names the user.
  public func headers() async throws(RelayError) -> [String: String] {
    var headers = try contextHeaders()
    if let userID { headers["X-User-Id"] = try Self.userHeader(userID) }
    if let (name, value) = try await relay.credentialHeader() { headers[name] = value }
    return headers
  }

  private func contextHeaders() throws(RelayError) -> [String: String] {
    guard let contextID else { return [:] }
    return ["X-Context-Id": try RelayClient.contextHeader(contextID)]
  }

  /// Blanks at an end are not part of a header's value (RFC 9110 §5.5), and URL loading systems encode other
  /// text than ASCII differently.
  private static func userHeader(_ userID: String) throws(RelayError) -> String {
    guard LinkText.isIdentifier(userID, bytesMax: 255),
      userID.utf8.allSatisfy({ (0x20...0x7E).contains($0) }),
      !userID.hasPrefix(" "), !userID.hasSuffix(" ")
    else { throw .encoding("This user id cannot be sent in a header. Use a token, which names the user.") }
    return userID
  }

  // MARK: With the app's own user interface

  private struct Body<Order: Encodable>: Encodable {
    let paymentorder: Order
  }

  /// Starts a payment order. When only the answer is lost, the repeated request starts another one; the
  /// customer can pay only the one whose page the app shows.
  /// - Parameter order: the object `paymentorder` of Swedbank Pay's API, such as a ``SwedbankOrder``. The
  ///   relay sets the payee and the callback.
  /// - Throws: ``RelayError``. An order that Swedbank Pay refuses is ``RelayError/http(_:)`` with its problem
  ///   document.
  public func start(_ order: some Encodable) async throws(RelayError) -> StartedSwedbankOrder {
    var request = try relay.request(
      "swedbank/paymentorders", of: userID, posting: Body(paymentorder: order))
    for (name, value) in try contextHeaders() { request.setValue(value, forHTTPHeaderField: name) }
    request.timeoutInterval = RequestTimeout.payment
    let answer = try await relay.send(request)
    guard let started = StartedSwedbankOrder(body: answer.body) else { throw answer.unexpected }
    return started
  }

  // MARK: The outcome

  /// Reads the status of the purchase once.
  /// - Throws: ``RelayError``. An error says nothing about the payment.
  public func status() async throws(RelayError) -> CheckoutStatus {
    try await relay.status(of: requiredContextID())
  }

  /// Waits until the purchase has ended, as ``RelayClient/finalStatus(of:within:)``.
  /// - Parameter seconds: the time limit.
  public func finalStatus(within seconds: TimeInterval = 600) async throws(RelayError) -> CheckoutStatus {
    try await relay.finalStatus(of: requiredContextID(), within: seconds)
  }

  /// The purchase's states, as ``RelayClient/updates(of:within:)``.
  public func updates(
    within seconds: TimeInterval = 600
  ) throws(RelayError) -> AsyncThrowingStream<CheckoutStatus, any Error> {
    relay.updates(of: try requiredContextID(), within: seconds)
  }

  private func requiredContextID() throws(RelayError) -> String {
    guard let contextID else {
      throw .encoding("A payment has a status when its context is given: post one and pass its id.")
    }
    return contextID
  }
}
