// The parts of a URL as written, not decoded (RFC 3986 appendix B). Foundation's accessors decode and repair
// differently from release to release; rules about links must not. Pure; thread-safe.

internal import Foundation

/// The parts of a URL.
struct URLParts {
  /// As written; nil when there is none.
  var scheme: String?
  /// The part between `//` and the path; nil without `//`.
  var authority: String?
  var path = ""
  var query: String?
  var fragment: String?

  init(_ url: URL) { self.init(url.absoluteString) }

  init(_ text: String) {
    var rest = text.utf8[...]
    func consume(upTo ends: String) -> String {
      let end = rest.firstIndex { ends.utf8.contains($0) } ?? rest.endIndex
      defer { rest = rest[end...] }
      return String(Substring(rest[..<end]))
    }
    if let colon = rest.firstIndex(where: { ":/?#".utf8.contains($0) }), rest[colon] == UInt8(ascii: ":") {
      scheme = consume(upTo: ":")
      rest = rest.dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      authority = consume(upTo: "/?#")
    }
    path = consume(upTo: "?#")
    if rest.first == UInt8(ascii: "?") {
      rest = rest.dropFirst()
      query = consume(upTo: "#")
    }
    if rest.first == UInt8(ascii: "#") { fragment = String(Substring(rest.dropFirst())) }
  }

  /// In lower case.
  var comparableScheme: String? { scheme.map { LinkText.lowercased($0) } }

  /// The host alone, decoded, with its case; nil when there is no host, or when there is a user or a port.
  var bareHost: String? {
    guard let authority, !authority.utf8.contains(UInt8(ascii: "@")), !authority.isEmpty,
      !authority.utf8.contains(UInt8(ascii: ":"))
    else { return nil }
    return LinkText.unescaped(authority)
  }

  /// Whether the authority is one of these, in lower case: `pay.example.com`, or with a port. https may omit
  /// its port.
  func isAt(_ hosts: Set<String>) -> Bool {
    guard let authority, !authority.isEmpty else { return false }
    let place = LinkText.lowercased(authority)
    if hosts.contains(place) { return true }
    let port = ":443"
    return comparableScheme == "https" && place.hasSuffix(port)
      && hosts.contains(String(place.dropLast(port.count)))
  }

  /// The parts between the slashes of the path. It is split before it is decoded, so `a%2Fb` stays one
  /// segment. One slash at the end is ignored.
  /// - Returns: nil when a part is empty, `.` or `..`, too long, contains control characters or cannot be
  ///   decoded.
  var segments: [String]? {
    let slash = UInt8(ascii: "/")
    var parts = path.utf8.split(separator: slash, omittingEmptySubsequences: false)[...]
    if parts.count > 1, parts.first?.isEmpty == true { parts = parts.dropFirst() }
    if parts.last?.isEmpty == true { parts = parts.dropLast() }
    var segments: [String] = []
    for part in parts {
      guard let segment = LinkText.unescaped(String(Substring(part))), LinkPath.isSegment(segment) else {
        return nil
      }
      segments.append(segment)
    }
    return segments
  }

  /// The query's fields in order, not decoded; the value is nil without `=`.
  var fields: [(name: String, value: String?)] {
    guard let query, !query.isEmpty else { return [] }
    return query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { field in
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      return (String(Substring(parts[0])), parts.count > 1 ? String(Substring(parts[1])) : nil)
    }
  }
}
