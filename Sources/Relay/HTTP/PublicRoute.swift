// The paths of the public listener. Pure; any thread.

internal import Domain
internal import HTTPServer
internal import Processors

/// What a request to the public listener asks for.
enum PublicRoute: Sendable, Equatable {
  /// - user: from the path, when it stands there.
  case postContext(app: String, user: String?)
  case contextStatus(app: String, contextID: String)
  case webhook(app: String, processor: String)

  /// The label in metrics.
  var label: String {
    switch self {
    case .postContext: "contexts"
    case .contextStatus: "context_status"
    case .webhook(_, let processor): "webhooks_\(processor)"
    }
  }

  var app: String {
    switch self {
    case .postContext(let app, _), .contextStatus(let app, _), .webhook(let app, _): app
    }
  }

  /// Finds the route, or why there is none.
  static func find(_ head: RequestHead) -> Result<PublicRoute, Refusal> {
    // Bytes, not characters: a slash is one, too, where it makes a single character with what follows it.
    let path = head.path.utf8
    let slash = UInt8(ascii: "/")
    guard path.first == slash else { return .failure(.notFound) }
    var segments: [String] = []
    // `//` and a slash at the end match nothing; an escaped slash stays inside its segment.
    for raw in path.dropFirst().split(separator: slash, omittingEmptySubsequences: false) {
      guard !raw.isEmpty else { return .failure(.notFound) }
      guard let segment = PercentEncoding.decode(Substring(raw)) else { return .failure(.malformed) }
      segments.append(segment)
    }
    guard segments.count >= 3, segments[0] == "v1" else { return .failure(.notFound) }
    let app = segments[1]
    let tail = Array(segments[2...])
    func only(_ methods: [String], _ route: PublicRoute) -> Result<PublicRoute, Refusal> {
      methods.contains(head.method) ? .success(route) : .failure(.method(methods.joined(separator: ", ")))
    }
    switch (tail.count, tail[0]) {
    case (1, "contexts"): return only(["POST"], .postContext(app: app, user: nil))
    case (2, "contexts"): return only(["GET", "HEAD"], .contextStatus(app: app, contextID: tail[1]))
    case (3, "users") where tail[2] == "contexts":
      return only(["POST"], .postContext(app: app, user: tail[1]))
    case (2, "webhooks") where tail[1] == StripeProcessor.name:
      return only(["POST"], .webhook(app: app, processor: tail[1]))
    default: return .failure(.notFound)
    }
  }

  /// Why there is no route.
  enum Refusal: Error, Equatable {
    case notFound
    case malformed
    case method(String)

    var problem: Problem {
      switch self {
      case .notFound: .notFound
      case .malformed: .malformedRequest
      case .method(let allowed): .wrongMethod(allowed)
      }
    }
  }
}
