// Errors as problem documents (RFC 9457). A problem says what to do and discloses no internals: no SQL, no
// path, no secret (R7). Pure; called from any thread.

internal import Formats
public import HTTPServer

/// An error as clients see it.
public struct Problem: Error, Equatable {
  /// The last part of the type, `urn:receiptd:problem:<slug>`.
  public let slug: String
  public let title: String
  public let status: Int
  /// What is wrong and what to do.
  public let detail: String
  public var headers: [String: String] = [:]
  /// The reason for programs, if one slug has several; from a fixed set.
  public var reason: String?

  /// - Parameter title: nil for the words of the slug.
  public init(
    slug: String, title: String? = nil, status: Int, detail: String, headers: [String: String] = [:],
    reason: String? = nil
  ) {
    self.slug = slug
    let words = slug.replacing("-", with: " ")
    self.title = title ?? words.prefix(1).uppercased() + words.dropFirst()
    self.status = status
    self.detail = detail
    self.headers = headers
    self.reason = reason
  }

  /// The problem document (RFC 9457), which no cache stores.
  public func response(requestID: String) -> Response {
    var document: JSONValue = [
      "type": .string("urn:receiptd:problem:\(slug)"), "title": .string(title),
      "status": .integer(Int64(status)),
      "detail": .string(detail), "request_id": .string(requestID),
    ]
    if let reason { document = document.adding("reason", .string(reason)) }
    var response = Response(status: status, type: "application/problem+json", body: document.serialized())
    response.headers += [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", "no-referrer"),
    ]
    for (name, value) in headers.sorted(by: { $0.key < $1.key }) { response.headers.append((name, value)) }
    return response
  }
}

extension Problem {
  public static let notFound = Problem(
    slug: "not-found", status: 404,
    detail:
      "There is nothing at this path. The paths are in the API's description; check for an extra slash.")
  public static let unknownApp = Problem(
    slug: "unknown-app", status: 404,
    detail:
      "No app of this name is configured. Check the name after /v1/ against `apps` in the configuration.")
  public static let unknownHost = Problem(
    slug: "unknown-host", status: 404,
    detail:
      "No app has this host as its `links.origin`. Check the host name of the request, and that a proxy "
      + "passes the Host on.")
  public static let unknownContext = Problem(
    slug: "unknown-context", status: 404,
    detail:
      "There is no context with this id, or it was deleted. Post a new one before the next checkout.")
  public static let malformedRequest = Problem(
    slug: "malformed-request", status: 400,
    detail:
      "The request is not well-formed HTTP: check the encoding of its target, that each line of its head "
      + "ends in CRLF and has a name, its one `Host`, and the length of its body.")
  public static let headTooLarge = Problem(
    slug: "head-too-large", status: 431,
    detail: "The request line and the header fields are too long. Send fewer or shorter ones.")

  /// The path exists, but not with this method.
  /// - Parameter allowed: the methods of the path, for `Allow` (RFC 9110 §10.2.1).
  public static func wrongMethod(_ allowed: String) -> Problem {
    Problem(
      slug: "method-not-allowed", status: 405,
      detail: "This path accepts \(allowed) only.", headers: ["Allow": allowed])
  }

  public static let wrongMediaType = Problem(
    slug: "unsupported-media-type", status: 415,
    detail: "Send `Content-Type: application/json` or `application/x-www-form-urlencoded`.")

  public static let codedBody = Problem(
    slug: "unsupported-content-encoding", status: 415,
    detail: "Send the body without a `Content-Encoding`; a proxy in front must not compress requests.",
    headers: ["Accept-Encoding": "identity"])

  public static let noPrice = Problem(
    slug: "unknown-price", status: 422,
    detail:
      "`ply_context` names no price, so there is no checkout for it. Set `stripe_price_id` in it.")
  public static let unknownPrice = Problem(
    slug: "unknown-price", status: 422,
    detail:
      "No checkout is configured for the price that `ply_context` names. Check `stripe_price_id` "
      + "against the prices of `links.checkout`, and of the processor's `checkout`, in the configuration.")

  /// - Parameter maximum: the most bytes that a body of this path may have.
  public static func tooLarge(_ maximum: Int) -> Problem {
    Problem(
      slug: "body-too-large", status: 413,
      detail: "The body may have \(maximum) bytes. Nothing of it was stored.")
  }

  public static let tooSlow = Problem(
    slug: "too-slow", title: "Request too slow", status: 408,
    detail: "The request was not complete in time. Nothing of it was stored; send it again.")

  /// A request whose content is invalid.
  /// - Parameter detail: what is wrong and what to do, as complete sentences.
  public static func invalid(_ slug: String, _ detail: String) -> Problem {
    Problem(slug: slug, title: "Invalid request", status: 400, detail: detail)
  }

  /// A request that may succeed later.
  /// - Parameter detail: what is wrong and what to do, as complete sentences.
  public static func unavailable(_ slug: String, _ detail: String, retryAfterSeconds: Int) -> Problem {
    Problem(
      slug: slug, title: "Unavailable", status: 503, detail: detail,
      headers: ["Retry-After": String(retryAfterSeconds)])
  }

  public static let busy = unavailable(
    "busy", "Requests arrive too fast to be stored. Nothing of this request was stored; send it again.",
    retryAfterSeconds: 1)
  public static let crowded = unavailable(
    "too-many-connections",
    "Too many requests are under way. Nothing of this request was stored; send it again.",
    retryAfterSeconds: 2)
  public static let storeFailed = unavailable(
    "store-unavailable", "The request could not be stored. Nothing of it was stored; send it again.",
    retryAfterSeconds: 10)
  public static let readFailed = unavailable(
    "store-unreadable", "The state could not be read. Nothing is lost; ask again.",
    retryAfterSeconds: 10)
  /// For operators, who read the dashboard and the metrics.
  public static let pageUnreadable = unavailable(
    "store-unreadable",
    "The database could not be read, and nothing was changed. receiptd's log says why, under this request "
      + "id. To check whether the database is damaged: receiptctl db check",
    retryAfterSeconds: 10)
  public static let diskFull = unavailable(
    "disk-full", "There is no space left to store the request. Nothing of it was stored; send it again.",
    retryAfterSeconds: 60)
  public static let databaseUnavailable = unavailable(
    "database-unavailable",
    "The database cannot be reached, so the request was not confirmed; send it again. What is sent twice is "
      + "stored once.", retryAfterSeconds: 5)
  public static let stopping = unavailable(
    "stopping", "The service is stopping. Nothing of this request was stored; send it again.",
    retryAfterSeconds: 5)
  public static let internalFault = Problem(
    slug: "internal", title: "Internal error", status: 500,
    detail: "The server failed. Send the request again; if the error continues, report the request id.")
}

// MARK: - Committer

// The problems that clients get when the committer refuses a request. Pure; called from any thread.

extension Committer.Refusal {
  public var problem: Problem {
    switch self {
    case .busy: .busy
    case .diskFull: .diskFull
    case .stopping: .stopping
    case .unavailable: .databaseUnavailable
    }
  }
}
