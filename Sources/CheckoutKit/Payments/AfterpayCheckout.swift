// The client of the relay's endpoints for Afterpay and Cash App Pay. Called from any task; it has no state.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Buys with Afterpay or Cash App Pay through a Receipt Relay, which has the merchant's secrets and the
/// prices.
///
/// ```swift
/// let afterpay = AfterpayCheckout(relay: relay, userID: userID, contextID: posted.contextID)
/// let started = try await afterpay.start(price: "gold-yearly", email: email, isCashAppPay: true)
/// // the customer confirms in Cash App, see CashAppPayment; then
/// switch await afterpay.capture(started.token, grantID: grant.id) {
/// case .captured: …                 // paid
/// case .notCharged(let status, _): …
/// case .unknown: …                  // may be paid: keep the token and ask again
/// }
/// ```
///
/// A checkout belongs to the user who started it.
public struct AfterpayCheckout: Sendable {
  let relay: RelayClient
  private let userID: String?
  private let contextID: String?

  /// Creates a client for one user. It sends nothing.
  /// - Parameters:
  ///   - relay: the relay, with a client key or a token.
  ///   - userID: the user id in the Purchasely SDK; nil when the relay's client sends a token, which names
  ///     the user.
  ///   - contextID: the context of the purchase, as the relay returned it; without one the relay uses the
  ///     user's newest context.
  public init(relay: RelayClient, userID: String? = nil, contextID: String? = nil) {
    self.relay = relay
    self.userID = userID
    self.contextID = contextID
  }

  /// How Afterpay's page works.
  public struct Mode: RawRepresentable, Sendable, Hashable {
    /// The value that is sent.
    public let rawValue: String

    /// Creates a mode for which the kit has no name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Afterpay's page also asks for the address of the customer. Not with Cash App Pay.
    public static let express = Mode(rawValue: "express")
  }

  // MARK: Before the payment

  /// Reads the amounts that Afterpay accepts.
  public func configuration() async throws(RelayError) -> AfterpayConfiguration {
    let answer = try await relay.send(request("configuration"))
    guard let configuration = try? JSONDecoder().decode(AfterpayConfiguration.self, from: answer.body) else {
      throw answer.unexpected
    }
    return configuration
  }

  private struct Start: Encodable {
    let price: String
    let email: String
    let isCashAppPay: Bool
    let mode: String?
  }

  /// Starts a checkout. When only the answer is lost, the repeated request starts another one, and the first
  /// expires: nothing is charged before ``capture(_:grantID:within:)``.
  /// - Parameters:
  ///   - price: the name of the price in the relay's configuration, which determines the amount.
  ///   - email: the customer's address.
  ///   - isCashAppPay: whether the customer pays with Cash App.
  ///   - mode: how Afterpay's page works; nil for the standard.
  /// - Throws: ``RelayError``; an amount outside of Afterpay's limits is ``RelayError/http(_:)`` with 422.
  public func start(
    price: String, email: String, isCashAppPay: Bool = false, mode: Mode? = nil
  ) async throws(RelayError) -> StartedAfterpayCheckout {
    guard LinkText.isIdentifier(price, bytesMax: 255), LinkText.isIdentifier(email) else {
      throw .encoding("A price and an e-mail address are not empty and have no control characters.")
    }
    guard mode != .express || !isCashAppPay else {
      throw .encoding("Cash App Pay has no express mode.")
    }
    var request = try request(
      "checkout",
      posting: Start(price: price, email: email, isCashAppPay: isCashAppPay, mode: mode?.rawValue))
    if let contextID {
      request.setValue(try RelayClient.contextHeader(contextID), forHTTPHeaderField: "X-Context-Id")
    }
    request.timeoutInterval = RequestTimeout.payment
    let answer = try await relay.send(request)
    guard let started = StartedAfterpayCheckout(body: answer.body) else { throw answer.unexpected }
    return started
  }

  // MARK: Requests

  func request(_ endpoint: String) throws(RelayError) -> URLRequest {
    try relay.request("afterpay/\(endpoint)", of: userID)
  }

  func request(_ endpoint: String, posting body: some Encodable) throws(RelayError) -> URLRequest {
    try relay.request("afterpay/\(endpoint)", of: userID, posting: body)
  }

  /// Visible ASCII without a slash, so that it is one segment of a path everywhere.
  static func isToken(_ text: String) -> Bool {
    LinkText.isIdentifier(text, bytesMax: 255) && LinkPath.isSegment(text)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "/") }
  }
}
