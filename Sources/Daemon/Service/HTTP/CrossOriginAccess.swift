// Which web pages may read the answers of a route in a browser: those of the origins that the app lists
// (https://fetch.spec.whatwg.org/#http-cors-protocol). Credentials that a browser adds, such as cookies,
// are never allowed, and the relay uses none. Pure; called from any thread.

internal import HTTPServer

/// A page's access to the answer of one request.
struct CrossOriginAccess: Sendable {
  /// The value of the label `route` for preflights.
  static let label = "preflight"

  /// The page's origin, if the app lists it.
  private let origin: String?

  /// - Parameter origins: those that the app lists, serialized (RFC 6454 §6.2).
  /// - Returns: nil if there are none: the answer is then the same for every page.
  init?(_ head: RequestHead, origins: Set<String>) {
    guard !origins.isEmpty else { return nil }
    let named = head.headers("Origin")
    origin = named.count == 1 && origins.contains(named[0]) ? named[0] : nil
  }

  /// Whether a browser asks for a page's permission before it sends the request itself.
  static func isPreflight(_ head: RequestHead) -> Bool {
    head.method == "OPTIONS" && head.headerBytes("Origin") != nil
      && head.headerBytes("Access-Control-Request-Method") != nil
  }

  /// The fields of every answer, also of a problem, so that the page can read it. A cache must not give one
  /// page the answer of another (§3.2.5 of the standard).
  var fields: [(name: String, value: String)] {
    guard let origin else { return [("Vary", "Origin")] }
    return [
      ("Vary", "Origin"), ("Access-Control-Allow-Origin", origin),
      ("Access-Control-Expose-Headers", "Location, Retry-After, WWW-Authenticate, X-Request-Id"),
    ]
  }

  /// The answer to a preflight.
  /// - Parameter allowed: the methods of the path.
  /// - Throws: a problem for a page of another origin. The browser does not show it to the page, but to its
  ///   developer.
  func preflight(allowed: [String]) throws(Problem) -> Response {
    guard let origin else { throw .originNotAllowed }
    return Response(
      status: 204,
      headers: [
        ("Access-Control-Allow-Origin", origin),
        ("Access-Control-Allow-Methods", allowed.joined(separator: ", ")),
        ("Access-Control-Allow-Headers", Self.requestFields),
        ("Access-Control-Max-Age", String(Self.permissionSeconds)),
        ("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"),
        ("Cache-Control", "no-store"),
      ])
  }

  /// The fields that a client route reads. `*` would not include `Authorization`.
  private static let requestFields = "Authorization, Content-Type, X-API-KEY, X-Request-Id, X-User-Id"

  /// How long a browser may remember the permission. Chromium caps it at this; after the origin was removed
  /// from the configuration, answers are unreadable at once.
  private static let permissionSeconds = 7200
}

extension Problem {
  static let originNotAllowed = Problem(
    slug: "origin-not-allowed", status: 403,
    detail:
      "The app does not list the page's origin. Check the request's Origin (scheme, host and port) against "
      + "`client_origins` in the configuration.")
}
