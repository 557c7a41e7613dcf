// What can go wrong between the app and the relay. No error carries the key. Pure; any thread.

public import Foundation

/// Why the relay could not be told or asked.
public enum RelayError: Error, Sendable, Hashable {
  /// The relay answered with a status that is no success. Redirects are not followed, so 3xx stands here,
  /// too.
  case http(HTTPFailure)
  /// No answer came: `code` and `description` are those of the system's error (`URLError.Code`).
  case network(code: Int, description: String)
  /// What answered does not speak HTTP.
  case notHTTP
  /// The request cannot be made: what the text says is unusable.
  case encoding(String)
  /// A success whose body does not say what it should.
  case unexpectedAnswer(status: Int, body: String)
  /// The app's provider of tokens failed.
  case noToken(String)
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
    return .network(code: error.code, description: error.localizedDescription)
  }
}

extension RelayError: LocalizedError {
  /// One sentence for a log; the relay's own `detail` where it gave one.
  public var errorDescription: String? {
    switch self {
    case .http(let failure): failure.problem?.detail ?? "The relay answered \(failure.status)."
    case .network(_, let description): description
    case .notHTTP: "What answered is no HTTP server."
    case .encoding(let text), .noToken(let text): text
    case .unexpectedAnswer(let status, _): "The relay answered \(status) with something unexpected."
    case .timedOut: "The checkout did not end in time."
    case .cancelled: "Cancelled."
    }
  }
}

/// An answer that is no success.
public struct HTTPFailure: Sendable, Hashable {
  /// The HTTP status.
  public let status: Int
  /// The body as text; what is not UTF-8 in it is replaced.
  public let body: String
  /// The body, when it is a problem document (RFC 9457), as the relay's are.
  public let problem: Problem?
  /// `Retry-After`, in seconds from the answer on.
  public let retryAfter: TimeInterval?

  /// An answer, for tests of your own.
  public init(status: Int, body: String, problem: Problem? = nil, retryAfter: TimeInterval? = nil) {
    self.status = status
    self.body = body
    self.problem = problem
    self.retryAfter = retryAfter
  }

  /// What the relay says is wrong.
  public struct Problem: Sendable, Hashable, Codable {
    /// `urn:receiptd:problem:…`: what to decide by.
    public let type: String?
    /// What it is, in a few words.
    public let title: String?
    /// What to do, for programmers.
    public let detail: String?
    /// The id of the request in the relay's log: what an operator asks for.
    public let requestID: String?

    private enum CodingKeys: String, CodingKey {
      case type, title, detail
      case requestID = "request_id"
    }
  }
}
