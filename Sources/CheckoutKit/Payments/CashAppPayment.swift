// The client of Afterpay's API for Cash App Pay, which the app itself calls. Called from any task; it has no
// state.

internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The steps of Cash App Pay that the app does without the relay: it has the order signed, passes it to Cash
/// App's SDK, and has the customer's grant validated.
///
/// ```swift
/// let cashApp = CashAppPayment(.production)
/// let order = try await cashApp.sign(started.token)        // of AfterpayCheckout.start
/// // Cash App's SDK: a one-time payment of order.cents USD for the brand order.brandID
/// try await cashApp.validate(order, grantID: grant.id, customerID: grant.customerID)
/// // then AfterpayCheckout.capture
/// ```
///
/// Nothing is charged by these steps, so they may be repeated. The requests carry no credential of the
/// merchant.
public struct CashAppPayment: Sendable {
  /// Afterpay's systems. Use the one that the relay uses.
  public enum Environment: Sendable, Hashable, CaseIterable {
    /// For tests, without money.
    case sandbox
    /// For customers.
    case production

    /// The client id that Cash App's SDK requires.
    public var clientID: String {
      switch self {
      case .sandbox: "CAS-CI_AFTERPAY"
      case .production: "CA-CI_AFTERPAY"
      }
    }

    /// The origin of the API for apps (afterpay/sdk-ios, Environment).
    var origin: String {
      switch self {
      case .sandbox: "https://api-plus.us-sandbox.afterpay.com"
      case .production: "https://api-plus.us.afterpay.com"
      }
    }
  }

  private let origin: String
  private let transport: any Transport
  private let retries: RetryPolicy
  private let clock: any CheckoutClock

  /// Creates a client. It sends nothing.
  /// - Parameters:
  ///   - environment: Afterpay's system.
  ///   - transport: sends the requests.
  ///   - retries: how often and how long to retry.
  ///   - clock: measures the pauses.
  public init(
    _ environment: Environment, transport: any Transport = URLSessionTransport(),
    retries: RetryPolicy = RetryPolicy(), clock: any CheckoutClock = SystemClock()
  ) {
    origin = environment.origin
    self.transport = transport
    self.retries = retries
    self.clock = clock
  }

  private struct Signing: Encodable {
    let token: String
  }

  /// Has an order signed, which makes it a request to Cash App.
  /// - Parameter token: of a checkout that was started with `isCashAppPay`.
  public func sign(_ token: String) async throws(CashAppError) -> SignedCashAppOrder {
    guard AfterpayCheckout.isToken(token) else {
      throw .failed(.encoding("This is not the token of a checkout."))
    }
    return try SignedCashAppOrder(try await post("sign-payment", Signing(token: token)))
  }

  private struct Validation: Encodable {
    let jwt: String
    let externalCustomerId: String
    let externalGrantId: String
  }

  /// Has the customer's grant validated against the signed order. Do it before the capture.
  /// - Parameters:
  ///   - order: the signed order.
  ///   - grantID: the approved grant's id (`GRG_…`).
  ///   - customerID: the approved grant's customer.
  /// - Throws: ``CashAppError/notValid(status:)`` when the answer is not `SUCCESS`.
  @discardableResult public func validate(
    _ order: SignedCashAppOrder, grantID: String, customerID: String
  ) async throws(CashAppError) -> ValidatedCashAppGrant {
    let body = Validation(jwt: order.jwt, externalCustomerId: customerID, externalGrantId: grantID)
    return try ValidatedCashAppGrant(try await post("validate-payment", body))
  }

  private func post(_ step: String, _ body: some Encodable) async throws(CashAppError) -> HTTPSuccess {
    do throws(RelayError) {
      guard let url = URL(string: "\(origin)/v2/payments/\(step)") else {
        throw .encoding("The address cannot be used.")
      }
      var request = URLRequest(url: url)
      try request.post(body)
      request.setValue("application/json", forHTTPHeaderField: "Accept")
      request.timeoutInterval = RequestTimeout.post
      let sent = request
      return try await retries.run(clock) { _ async throws(RelayError) -> HTTPSuccess in
        try await transport.success(of: sent, clock)
      }
    } catch {
      if case .http(let failure) = error { throw CashAppError(failure) }
      throw .failed(error)
    }
  }
}
