// What an answer of a destination may mean for the receipt, for its app, and for the log. Which answer means
// what: `HTTPVerdict`. Pure; any thread.

/// The result of one delivery attempt, before a destination has judged it.
public struct DeliveryAnswer: Sendable, Equatable {
  /// Why there is no complete answer.
  public enum Failure: Sendable, Equatable {
    /// The configuration may be correct: no connection, TLS closed early, timeout, malformed answer.
    case transient(String)
    /// The destination's certificate is not valid, or the URL is not allowed.
    case misconfigured(String)
  }

  /// The HTTP status; present even if the answer's body then broke off.
  public var status: Int?
  /// The value of `Retry-After` as received.
  public var retryAfter: String?
  /// The value of `Content-Type` as received.
  public var contentType: String?
  /// Whether the body has a content coding, which nobody asked for: it cannot be read.
  public var isCoded = false
  /// The first bytes of the answer.
  public var body: [UInt8]
  public var failure: Failure?

  public init(
    status: Int?, retryAfter: String? = nil, contentType: String? = nil, body: [UInt8] = [],
    failure: Failure? = nil
  ) {
    self.status = status
    self.retryAfter = retryAfter
    self.contentType = contentType
    self.body = body
    self.failure = failure
  }
}

/// A destination's interpretation of an answer.
public enum Verdict: Sendable, Equatable {
  /// Accepted, with the import id if the answer had one.
  case delivered(importID: String?)
  /// Retry by the schedule, and not before this time has passed.
  case retry(Reason, retryAfter: Duration?)
  /// Retry, and pause the whole app's deliveries for this long.
  case coolDown(Reason, for: Duration)
  /// The configuration is wrong. It affects every receipt of the app, so no receipt fails because of it.
  case misconfigured(Reason)
  /// This receipt is invalid: a retry cannot help.
  case refused(Reason)

  /// Whether the destination accepted the receipt and named no import id.
  public var lacksImportID: Bool { self == .delivered(importID: nil) }

  /// The word for logs and metrics.
  public var label: String {
    switch self {
    case .delivered: "delivered"
    case .retry: "retry"
    case .coolDown: "cool_down"
    case .misconfigured: "misconfigured"
    case .refused: "refused"
    }
  }
}
