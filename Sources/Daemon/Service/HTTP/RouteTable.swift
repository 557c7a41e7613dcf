// Matches a path to its route. Pure; called from any thread.

internal import Formats

/// All routes of one listener.
public struct RouteTable: Sendable {
  private enum Segment: Sendable {
    case fixed(String)
    case parameter(String)
  }

  private struct Entry: Sendable {
    let route: Route
    let segments: [Segment]

    /// Whether the fixed segments are in the path without percent-encoding.
    func isWritten(in path: String) -> Bool {
      let written = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      return zip(written.dropFirst(), segments).allSatisfy { text, segment in
        if case .fixed(let fixed) = segment { text.elementsEqual(fixed.utf8) } else { true }
      }
    }
  }

  /// By number of segments; those without parameters first, so that a fixed path takes precedence over a
  /// pattern that also matches.
  private let entries: [Int: [Entry]]

  public init(_ routes: [Route]) {
    let all = routes.map { route in
      Entry(
        route: route,
        segments: route.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { part in
          part.hasPrefix("{") ? .parameter(String(part.dropFirst().dropLast())) : .fixed(String(part))
        })
    }
    entries = Dictionary(grouping: all) { $0.segments.count }.mapValues { entries in
      func parameters(_ entry: Entry) -> Int {
        entry.segments.count { if case .parameter = $0 { true } else { false } }
      }
      return entries.enumerated().sorted { (parameters($0.1), $0.0) < (parameters($1.1), $1.0) }.map(\.1)
    }
  }

  /// All routes, in no particular order.
  public var routes: [Route] { entries.values.flatMap { $0.map(\.route) } }

  /// The result of matching a path.
  public enum Match {
    case route(Route, parameters: [(name: String, value: String)])
    /// No route has this path.
    case none
    /// A percent-encoding is invalid, or is not UTF-8.
    case malformed
    /// The path exists, but not with this method.
    /// - Route: one of those at the path, with its parameters.
    case method(Route, allowed: [String], parameters: [(name: String, value: String)])
  }

  /// The route of a request.
  /// - Parameter path: of the request's target, without the query, still percent-encoded.
  public func find(method: String, path: String) -> Match {
    let segments: [String]
    switch Self.segments(path) {
    case .success(let found): segments = found
    case .failure(let fault): return fault == .malformed ? .malformed : .none
    }
    var other: (route: Route, parameters: [(name: String, value: String)])?
    var allowed: [String] = []
    for entry in entries[segments.count] ?? [] {
      guard let parameters = Self.parameters(segments, entry.segments) else { continue }
      if entry.route.isLiteral, !entry.isWritten(in: path) { continue }
      if entry.route.methods.contains(method) { return .route(entry.route, parameters: parameters) }
      other = other ?? (entry.route, parameters)
      allowed += entry.route.methods.filter { !allowed.contains($0) }
    }
    return other.map { .method($0.route, allowed: allowed, parameters: $0.parameters) } ?? .none
  }

  private static func parameters(
    _ segments: [String], _ pattern: [Segment]
  ) -> [(name: String, value: String)]? {
    var parameters: [(name: String, value: String)] = []
    for (text, segment) in zip(segments, pattern) {
      switch segment {
      // Compare bytes: Swift treats canonically equivalent strings as equal.
      case .fixed(let fixed): if !text.utf8.elementsEqual(fixed.utf8) { return nil }
      case .parameter(let name):
        if text.isEmpty { return nil }
        parameters.append((name, text))
      }
    }
    return parameters
  }

  private enum PathFault: Error {
    case notFound, malformed
  }

  /// The decoded segments; the last one is empty if the path ends in a slash.
  private static func segments(_ path: String) -> Result<[String], PathFault> {
    // Split bytes, not characters: a slash that forms one character with a combining mark is still a
    // separator.
    let bytes = path.utf8.span
    let slash = UInt8(ascii: "/")
    guard !bytes.isEmpty, bytes[0] == slash else { return .failure(.notFound) }
    var segments: [String] = []
    segments.reserveCapacity(6)
    var start = 1
    while start <= bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != slash { end += 1 }
      if end == start, end < bytes.count { return .failure(.notFound) }
      guard let segment = PercentEncoding.decode(bytes.extracting(start..<end)) else {
        return .failure(.malformed)
      }
      segments.append(segment)
      start = end + 1
    }
    return .success(segments)
  }
}
