// The state of a checkout with Afterpay or Cash App Pay, as the relay reports it. Pure; thread-safe.

public import Foundation

/// A checkout that the relay created at Afterpay.
public struct StartedAfterpayCheckout: Sendable, Hashable {
  /// Identifies the checkout at Afterpay and at the relay. Store it before the customer continues: it is
  /// needed to capture the payment, and to learn later how it ended.
  public let token: String
  /// Afterpay's page. Cash App Pay does not need it.
  public let url: URL
}

/// The relay's status of a checkout with Afterpay or Cash App Pay.
public struct AfterpayStatus: Sendable, Hashable {
  /// The checkout.
  public let token: String
  /// Its state.
  public let state: State

  /// Creates a status, for your own tests.
  public init(token: String, state: State) {
    self.token = token
    self.state = state
  }

  /// The state of a checkout. A newer relay may send other values.
  public struct State: RawRepresentable, Sendable, Hashable {
    /// The value that the relay sends.
    public let rawValue: String

    /// Creates a state from the relay's value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Not captured: nothing is charged yet.
    public static let started = State(rawValue: "started")
    /// The relay captures the payment, and its outcome is not known yet.
    public static let capturePending = State(rawValue: "capture_pending")
    /// The money was received.
    public static let captured = State(rawValue: "captured")
    /// The customer's payment was declined.
    public static let declined = State(rawValue: "declined")
    /// Afterpay refused the capture, such as for an invalid token.
    public static let refused = State(rawValue: "refused")
    /// It was not captured in time.
    public static let expired = State(rawValue: "expired")
    /// The relay could not find out in a week whether the customer was charged.
    public static let abandoned = State(rawValue: "abandoned")
    /// It ended at Afterpay without money, and without a capture by the relay.
    public static let closed = State(rawValue: "closed")
    /// The money was received, and went back to the customer.
    public static let reversed = State(rawValue: "reversed")

    /// Whether the relay has ended the checkout. Only a refund changes a final state: `captured` becomes
    /// `reversed`.
    public var isFinal: Bool {
      [.captured, .declined, .refused, .expired, .abandoned, .closed, .reversed].contains(self)
    }
  }

  /// What an app decides by: what to show, and whether to keep the token.
  public enum Progress: String, Sendable, Hashable, CaseIterable {
    /// Nothing is charged yet. Keep the token.
    case pending
    /// It may be charged. Keep the token and ask again later. States that this version does not know count
    /// as this one, because a customer who paid must not read that nothing was bought.
    case processing
    /// The money was received. Discard the token; the context's status reports when Purchasely has accepted
    /// the receipt. Then reload the entitlements.
    case paid
    /// It ended without a payment, or the money went back. Discard the token.
    case unpaid
    /// It may have been charged, and the relay does not ask Afterpay any more. Ask the customer to contact
    /// your support; the merchant finds the payment at Afterpay. Discard the token.
    case unresolved

    /// Whether the checkout will not change any more; its token can be discarded.
    public var isOver: Bool { [.paid, .unpaid, .unresolved].contains(self) }
  }

  /// What to show, and whether to keep the token.
  public var progress: Progress {
    switch state {
    case .started: .pending
    case .captured: .paid
    case .declined, .refused, .expired, .closed, .reversed: .unpaid
    case .abandoned: .unresolved
    default: .processing
    }
  }
}

/// What became of a capture. There is no error: an error could be shown as "not paid" to a customer who was
/// charged.
public enum AfterpayOutcome: Sendable, Hashable {
  /// The money was received. The state is ``AfterpayStatus/State/reversed`` if it went back since.
  case captured(AfterpayStatus)
  /// The relay confirms that this capture charged nothing; `because` is its answer to the capture, for a log.
  /// With ``AfterpayStatus/Progress/pending`` the capture may be tried again: usually the customer has not
  /// confirmed the payment yet. Otherwise the checkout has ended.
  case notCharged(AfterpayStatus, because: RelayError?)
  /// The relay could not be asked, or did not know the outcome in time. The customer **may have been
  /// charged**: show that, keep the token, and ask again later with ``AfterpayCheckout/status(of:)``.
  case unknown(RelayError)
}

extension StartedAfterpayCheckout {
  private struct Document: Decodable {
    let token: String
    let url: String
  }

  /// - Returns: nil when the body has no usable token or no web page.
  init?(body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body),
      AfterpayCheckout.isToken(document.token), let url = URL(string: document.url),
      ExternalLink(url) == .browser
    else { return nil }  // The caller has the body and reports it.
    self.init(token: document.token, url: url)
  }
}

extension AfterpayStatus {
  /// The relay's state, or Afterpay's payment, or both.
  private struct Document: Decodable {
    let token: String?
    let state: String?
    /// Afterpay's decision: `APPROVED` or `DECLINED`.
    let status: String?

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      // A problem document has a number as `status`.
      token = try? members.decode(String.self, forKey: .token)
      state = try? members.decode(String.self, forKey: .state)
      status = try? members.decode(String.self, forKey: .status)
    }

    private enum CodingKeys: String, CodingKey { case token, state, status }
  }

  /// Reads the state of a checkout.
  /// - Returns: nil when the body is not the state of this checkout.
  init?(of token: String, body: Data) {
    guard let document = try? JSONDecoder().decode(Document.self, from: body),
      LinkText.isSame(document.token, token), let state = document.state
    else { return nil }  // The caller has the body and reports it.
    self.init(token: token, state: State(rawValue: state))
  }

  /// Reads the answer to a capture.
  /// - Returns: nil unless the answer says that the payment was captured, or that it was declined. The body
  ///   decides: Afterpay answers a declined payment with 402 or with 201.
  init?(captureOf token: String, status: Int, body: Data) {
    guard (200...299).contains(status) || status == 402,
      let document = try? JSONDecoder().decode(Document.self, from: body),
      document.token == nil || LinkText.isSame(document.token, token)
    else { return nil }
    let isCaptured = document.status == "APPROVED" || document.state == State.captured.rawValue
    let isDeclined = document.status == "DECLINED" || document.state == State.declined.rawValue
    switch (isCaptured, isDeclined) {
    case (true, false) where status != 402: self.init(token: token, state: .captured)
    case (false, true): self.init(token: token, state: .declined)
    default: return nil
    }
  }
}
