// The paths of the public listener. Pure; any thread.

internal import Domain
internal import HTTPServer
internal import Processors

/// What a request to the public listener asks for.
enum PublicRoute: Sendable, Equatable {
  /// Something of one app, configured or not.
  case app(String, AppRoute)
  /// What devices ask the host for, of all its apps.
  case associationFile(AssociationFileKind)

  /// The label in metrics.
  var label: String {
    switch self {
    case .app(_, let route): route.label
    case .associationFile: "association_files"
    }
  }
}

/// What a request asks of one app.
enum AppRoute: Sendable, Equatable {
  /// - user: from the path, when it stands there.
  case postContext(user: String?, ContextIntake.Purpose)
  case contextStatus(contextID: String)
  case webhook(processor: String)
  /// Where a checkout page sends people back to.
  case returnPage
  case swedbank(SwedbankHelper)
  /// The page, on a second host, from which a person goes on to a Swedbank helper.
  case trampoline

  /// The label in metrics.
  var label: String {
    switch self {
    case .postContext(_, .context): "contexts"
    case .postContext(_, .checkout): "checkout"
    case .contextStatus: "context_status"
    case .webhook(let processor): "webhooks_\(processor)"
    case .returnPage: "return"
    case .swedbank: "swedbank"
    case .trampoline: "trampoline"
    }
  }

  /// Whether answering it means writing.
  var isStored: Bool {
    switch self {
    case .postContext, .webhook: true
    case .contextStatus, .returnPage, .swedbank, .trampoline: false
    }
  }
}

/// The files that tie a host to its apps.
enum AssociationFileKind: Sendable, Equatable {
  /// apple-app-site-association.
  case apple
  /// assetlinks.json.
  case android
}

/// Swedbank Pay's payment URL helpers, by the last parts of their paths.
enum SwedbankHelper: String, Sendable, CaseIterable {
  case androidIntent = "sdk-callback/android-intent"
  case iosUniversalLink = "sdk-callback/ios-universal-link"
  case complete = "complete"
  case cancel = "cancel"

  /// - Parameter segments: what follows `swedbank` in a path.
  init?(_ segments: ArraySlice<String>) {
    let found = Self.allCases.first { $0.rawValue.split(separator: "/").elementsEqual(segments, by: ==) }
    guard let found else { return nil }
    self = found
  }
}

extension PublicRoute {
  /// Finds the route, or why there is none.
  static func find(_ head: RequestHead) -> Result<PublicRoute, Refusal> {
    let segments: [String]
    switch Self.segments(head.path) {
    case .success(let found): segments = found
    case .failure(let refusal): return .failure(refusal)
    }
    func only(_ methods: [String], _ route: PublicRoute) -> Result<PublicRoute, Refusal> {
      methods.contains(head.method) ? .success(route) : .failure(.method(methods.joined(separator: ", ")))
    }
    let reading = ["GET", "HEAD"]
    if let kind = associationFile(segments) { return only(reading, .associationFile(kind)) }
    guard segments.count >= 3, segments[0] == "v1" else { return .failure(.notFound) }
    func app(_ methods: [String], _ route: AppRoute) -> Result<PublicRoute, Refusal> {
      only(methods, .app(segments[1], route))
    }
    switch (segments.count - 2, segments[2]) {
    case (1, "contexts"): return app(["POST"], .postContext(user: nil, .context))
    case (1, "checkout"): return app(["POST"], .postContext(user: nil, .checkout))
    case (2, "contexts"): return app(reading, .contextStatus(contextID: segments[3]))
    case (3, "users") where segments[4] == "contexts":
      return app(["POST"], .postContext(user: segments[3], .context))
    case (3, "users") where segments[4] == "checkout":
      return app(["POST"], .postContext(user: segments[3], .checkout))
    case (2, "webhooks") where segments[3] == StripeProcessor.name:
      return app(["POST"], .webhook(processor: segments[3]))
    case (1, "return"): return app(reading, .returnPage)
    case (1, "trampoline"): return app(reading, .trampoline)
    case (_, "swedbank"):
      // As it is written: its target is carried on byte for byte, and compared so on the other side.
      guard let helper = SwedbankHelper(segments[3...]), head.path.hasSuffix("/swedbank/\(helper.rawValue)")
      else { return .failure(.notFound) }
      return app(reading, .swedbank(helper))
    default: return .failure(.notFound)
    }
  }

  /// Apple's devices also ask for the file at the root (Apple, Supporting associated domains).
  private static func associationFile(_ segments: [String]) -> AssociationFileKind? {
    let isWellKnown = segments.count == 2 && segments[0] == ".well-known"
    guard isWellKnown || segments.count == 1 else { return nil }
    switch segments[segments.count - 1] {
    case "apple-app-site-association": return .apple
    case "assetlinks.json" where isWellKnown: return .android
    default: return nil
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
