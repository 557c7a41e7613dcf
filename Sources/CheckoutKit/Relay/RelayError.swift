// The errors between the app and the relay. No error contains the key. Text for developers is `OperatorText`,
// so that it cannot be shown to a customer by mistake. Pure; thread-safe.

public import Foundation

/// Why a request to the relay failed.
public enum RelayError: Error, Sendable, Hashable {
  /// The relay answered with a status other than 2xx. Redirects are not followed, so this includes 3xx.
  case http(HTTPFailure)
  /// No response: `code` and `description` are those of the system's error (`URLError.Code`).
  case network(code: Int, description: OperatorText)
  /// The response is not HTTP.
  case notHTTP
  /// The request cannot be created; the text names the invalid value.
  case encoding(OperatorText)
  /// A success with an unexpected body.
  case unexpectedAnswer(status: Int, body: OperatorText)
  /// The app's token provider failed.
  case noToken(OperatorText)
  /// The time was up before the checkout ended.
  case timedOut
  /// The task was cancelled.
  case cancelled

  /// The HTTP status; nil without a response.
  public var status: Int? {
    switch self {
    case .http(let failure): failure.status
    case .unexpectedAnswer(let status, _): status
    default: nil
    }
  }

  /// Whether the same request may succeed later: no network, 408, 429 and 5xx.
  public var isTransient: Bool {
    switch self {
    case .http(let failure): [408, 429].contains(failure.status) || (500...599).contains(failure.status)
    case .network(let code, _): !Self.lasting.contains(code)
    case .notHTTP, .encoding, .unexpectedAnswer, .noToken, .timedOut, .cancelled: false
    }
  }

  /// Bad URL, unsupported URL, App Transport Security, response too large: a retry fails in the same way.
  private static let lasting = [-1000, -1002, -1022, -1103]

  var retryAfter: TimeInterval? { if case .http(let failure) = self { failure.retryAfter } else { nil } }

  /// The error that a transport threw.
  static func thrown(_ error: any Error) -> RelayError {
    if error is CancellationError { return .cancelled }
    let error = error as NSError
    return .network(code: error.code, description: OperatorText(error.localizedDescription))
  }
}

extension RelayError {
  /// Whether the relay does not know the context whose status was asked for: it was never posted, or its
  /// time to be stored is over. Any other 404 is not the relay's answer, and says nothing about the checkout.
  public var isUnknownContext: Bool { status == 404 && problemName == "unknown-context" }

  /// The last part of the problem's type; nil if the answer is not the relay's own. A proxy, a firewall or a
  /// captive portal may answer in its place.
  var problemName: Substring? {
    guard case .http(let failure) = self, let type = failure.problem?.type else { return nil }
    let prefix = "urn:receiptd:problem:"
    return type.hasPrefix(prefix) ? type.dropFirst(prefix.count) : nil
  }
}

extension RelayError {
  /// What a customer can do. The app shows its own text for each, in its customers' language.
  public enum Advice: Sendable, Hashable, CaseIterable {
    /// No connection: check it and try again.
    case checkConnection
    /// The relay is busy, or the checkout has not ended yet: try again in a moment.
    case tryAgain
    /// Only the developer or an operator can fix it.
    case contactSupport
  }

  /// What a customer can do.
  public var advice: Advice {
    switch self {
    case .network: isTransient ? .checkConnection : .contactSupport
    // A captive portal may answer instead of the relay.
    case .notHTTP, .unexpectedAnswer: .checkConnection
    case .http: isTransient ? .tryAgain : .contactSupport
    case .noToken, .timedOut, .cancelled: .tryAgain
    case .encoding: .contactSupport
    }
  }

  /// One sentence for a log, with the relay's advice and the request's id if it sent them.
  public var logText: OperatorText {
    switch self {
    case .http(let failure):
      let problem = failure.problem
      let detail = problem?.detail.map { " \($0.forLog)" } ?? ""
      let request = problem?.requestID.map { " Request \($0)." } ?? ""
      return "The relay answered \(failure.status).\(detail)\(request)"
    case .network(let code, let description): return "\(description.forLog) (\(code))"
    case .notHTTP: return "The server does not speak HTTP."
    case .encoding(let text), .noToken(let text): return text
    case .unexpectedAnswer(let status, _): return "The relay answered \(status) with an unexpected body."
    case .timedOut: return "The checkout did not end in time."
    case .cancelled: return "Cancelled."
    }
  }
}

extension RelayError: LocalizedError {
  /// One of three fixed English sentences, by ``advice``. It contains no text from the relay, so
  /// `localizedDescription` may be shown to a customer. ``logText`` has the cause.
  public var errorDescription: String? { advice.sentence }
}

extension RelayError.Advice {
  /// A sentence for a customer, in English.
  var sentence: String {
    switch self {
    case .checkConnection: "There is no connection to the shop. Check your connection and try again."
    case .tryAgain: "The shop cannot answer right now. Try again in a moment."
    case .contactSupport: "This does not work at the moment. If that continues, contact our support."
    }
  }
}

/// A response other than 2xx.
public struct HTTPFailure: Sendable, Hashable {
  /// The HTTP status.
  public let status: Int
  /// The body as text; invalid UTF-8 is replaced.
  public let body: OperatorText
  /// The body, if it is a problem document (RFC 9457), as the relay's are.
  public let problem: Problem?
  /// `Retry-After`, in seconds from the response.
  public let retryAfter: TimeInterval?

  /// Creates a failure, for your own tests.
  public init(status: Int, body: OperatorText, problem: Problem? = nil, retryAfter: TimeInterval? = nil) {
    self.status = status
    self.body = body
    self.problem = problem
    self.retryAfter = retryAfter
  }

  /// The relay's description of the problem, for developers and operators.
  public struct Problem: Sendable, Hashable, Decodable {
    /// `urn:receiptd:problem:…`: compare this.
    public let type: String?
    /// A short summary.
    public let title: OperatorText?
    /// What to do, for developers.
    public let detail: OperatorText?
    /// The id of the request in the relay's log; an operator needs it to find the request.
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
      case type, title, detail
      case requestID = "request_id"
    }
  }
}
