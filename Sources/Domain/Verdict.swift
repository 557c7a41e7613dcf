// What an answer of a destination means for the receipt, for its app, and for the log. Pure; any thread.

/// What came back from one try to deliver, before any destination has judged it.
public struct DeliveryAnswer: Sendable, Equatable {
  /// Why there is no whole answer.
  public enum Failure: Sendable, Equatable {
    /// Nothing is wrong with the configuration as far as one can tell: no connection, TLS broke off,
    /// time-out, nonsense.
    case transient(String)
    /// The other side's certificate does not verify, or the URL may not be used.
    case misconfigured(String)
  }

  /// The status of the answer; present even when the answer's body then broke off.
  public var status: Int?
  /// The value of `Retry-After` as it came.
  public var retryAfter: String?
  /// The value of `Content-Type` as it came.
  public var contentType: String?
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

/// A destination's judgement of an answer.
public enum Verdict: Sendable, Equatable {
  /// Taken in, under this import id when it gave one.
  case delivered(importID: String?)
  /// Try again by the schedule, and not before this many milliseconds from now.
  case retry(Reason, notBeforeMilliseconds: Int64?)
  /// Try again, and let the whole app's deliveries rest for this many milliseconds.
  case coolDown(Reason, forMilliseconds: Int64)
  /// The configuration is wrong: it concerns every receipt of the app, so none is given up for it.
  case misconfigured(Reason)
  /// This receipt is wrong: trying again cannot help.
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
