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
    let segments: [String]
    switch Self.segments(head.path) {
    case .success(let found): segments = found
    case .failure(let refusal): return .failure(refusal)
    }
    guard segments.count >= 3, segments[0] == "v1" else { return .failure(.notFound) }
    let app = segments[1]
    func only(_ methods: [String], _ route: PublicRoute) -> Result<PublicRoute, Refusal> {
      methods.contains(head.method) ? .success(route) : .failure(.method(methods.joined(separator: ", ")))
    }
    switch (segments.count - 2, segments[2]) {
    case (1, "contexts"): return only(["POST"], .postContext(app: app, user: nil))
    case (2, "contexts"): return only(["GET", "HEAD"], .contextStatus(app: app, contextID: segments[3]))
    case (3, "users") where segments[4] == "contexts":
      return only(["POST"], .postContext(app: app, user: segments[3]))
    case (2, "webhooks") where segments[3] == StripeProcessor.name:
      return only(["POST"], .webhook(app: app, processor: segments[3]))
    default: return .failure(.notFound)
    }
  }

  /// The decoded parts of a path between its slashes. `//` and a slash at the end match nothing; an escaped
  /// slash stays inside its segment.
  private static func segments(_ path: String) -> Result<[String], Refusal> {
    // Bytes, not characters: a slash is one, too, where it makes a single character with what follows it.
    let bytes = path.utf8.span
    let slash = UInt8(ascii: "/")
    guard !bytes.isEmpty, bytes[0] == slash else { return .failure(.notFound) }
    var segments: [String] = []
    segments.reserveCapacity(6)
    var start = 1
    while start <= bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != slash { end += 1 }
      if end == start { return .failure(.notFound) }
      guard let segment = PercentEncoding.decode(bytes.extracting(start..<end)) else {
        return .failure(.malformed)
      }
      segments.append(segment)
      start = end + 1
    }
    return .success(segments)
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
