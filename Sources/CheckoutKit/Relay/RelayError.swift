// What can go wrong between the app and the relay. No error contains the key, and what a developer has to
// read is `OperatorText`, which no customer can be shown by mistake. Pure; any thread.

public import Foundation

/// Why the relay could not be told or asked.
public enum RelayError: Error, Sendable, Hashable {
  /// The relay answered with a status that is no success. Redirects are not followed, so 3xx stands here,
  /// too.
  case http(HTTPFailure)
  /// No answer came: `code` and `description` are those of the system's error (`URLError.Code`).
  case network(code: Int, description: OperatorText)
  /// What answered does not speak HTTP.
  case notHTTP
  /// The request cannot be made: what the text says is unusable.
  case encoding(OperatorText)
  /// A success whose body does not say what it should.
  case unexpectedAnswer(status: Int, body: OperatorText)
  /// The app's provider of tokens failed.
  case noToken(OperatorText)
  /// The time given was up, and the checkout had not ended.
  case timedOut
  /// The task was cancelled.
  case cancelled

  /// The HTTP status; nil when there was no answer.
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

  /// Bad URL, unsupported URL, App Transport Security, too long an answer: the next try meets the same.
  private static let lasting = [-1000, -1002, -1022, -1103]

  var retryAfter: TimeInterval? { if case .http(let failure) = self { failure.retryAfter } else { nil } }

  /// What a transport threw.
  static func thrown(_ error: any Error) -> RelayError {
    if error is CancellationError { return .cancelled }
    let error = error as NSError
    return .network(code: error.code, description: OperatorText(error.localizedDescription))
  }
}

extension RelayError {
  /// What a customer can do about it. An app has its own words for each, in its customers' language.
  public enum Advice: Sendable, Hashable, CaseIterable {
    /// There was no connection: check it and try again.
    case checkConnection
    /// The relay is busy, or the checkout has not ended yet: try again in a moment.
    case tryAgain
    /// Only the developer or an operator can change it.
    case contactSupport
  }

  /// What a customer can do about it.
  public var advice: Advice {
    switch self {
    case .network: isTransient ? .checkConnection : .contactSupport
    // A network that asks for a sign-in first answers in the relay's place.
    case .notHTTP, .unexpectedAnswer: .checkConnection
    case .http: isTransient ? .tryAgain : .contactSupport
    case .noToken, .timedOut, .cancelled: .tryAgain
    case .encoding: .contactSupport
    }
  }

  /// One sentence for a log, with the relay's own advice and the request's id where it gave them.
  public var logText: OperatorText {
    switch self {
    case .http(let failure):
      let problem = failure.problem
      let detail = problem?.detail.map { " \($0.forLog)" } ?? ""
      let request = problem?.requestID.map { " Request \($0)." } ?? ""
      return "The relay answered \(failure.status).\(detail)\(request)"
    case .network(let code, let description): return "\(description.forLog) (\(code))"
    case .notHTTP: return "What answered is not an HTTP server."
    case .encoding(let text), .noToken(let text): return text
    case .unexpectedAnswer(let status, _): return "The relay answered \(status) with an unexpected body."
    case .timedOut: return "The checkout did not end in time."
    case .cancelled: return "Cancelled."
    }
  }
}

extension RelayError: LocalizedError {
  /// One of three fixed English sentences, by ``advice``: nothing that the relay said is ever in it, so
  /// showing `localizedDescription` to a customer is harmless. ``logText`` has the cause.
  public var errorDescription: String? {
    switch advice {
    case .checkConnection: "There is no connection to the shop. Check your connection and try again."
    case .tryAgain: "The shop cannot answer right now. Try again in a moment."
    case .contactSupport: "This does not work at the moment. If it stays so, contact our support."
    }
  }
}

/// An answer that is no success.
public struct HTTPFailure: Sendable, Hashable {
  /// The HTTP status.
  public let status: Int
  /// The body as text; what is not UTF-8 in it is replaced.
  public let body: OperatorText
  /// The body, when it is a problem document (RFC 9457), as the relay's are.
  public let problem: Problem?
  /// `Retry-After`, in seconds from the answer on.
  public let retryAfter: TimeInterval?

  /// An answer, for tests of your own.
  public init(status: Int, body: OperatorText, problem: Problem? = nil, retryAfter: TimeInterval? = nil) {
    self.status = status
    self.body = body
    self.problem = problem
    self.retryAfter = retryAfter
  }

  /// What the relay says is wrong. Its words are for whoever develops the app or operates the relay.
  public struct Problem: Sendable, Hashable, Decodable {
    /// `urn:receiptd:problem:…`: what to decide by.
    public let type: String?
    /// What it is, in a few words.
    public let title: OperatorText?
    /// What to do, for developers.
    public let detail: OperatorText?
    /// The id of the request in the relay's log: what an operator asks for.
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
      case type, title, detail
      case requestID = "request_id"
    }
  }
}
