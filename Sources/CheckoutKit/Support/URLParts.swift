// The parts of a URL as they stand there, not decoded (RFC 3986 appendix B). Foundation's accessors differ
// between releases in what they decode and repair; rules about links should not. Pure; any thread.

internal import Foundation

/// A URL taken apart.
struct URLParts {
  /// As written; nil when there is none.
  var scheme: String?
  /// What stands between `//` and the path; nil when there is no `//`.
  var authority: String?
  var path = ""
  var query: String?
  var fragment: String?

  init(_ url: URL) { self.init(url.absoluteString) }

  init(_ text: String) {
    var rest = text.utf8[...]
    func take(upTo ends: String) -> String {
      let end = rest.firstIndex { ends.utf8.contains($0) } ?? rest.endIndex
      defer { rest = rest[end...] }
      return String(Substring(rest[..<end]))
    }
    if let colon = rest.firstIndex(where: { ":/?#".utf8.contains($0) }), rest[colon] == UInt8(ascii: ":") {
      scheme = take(upTo: ":")
      rest = rest.dropFirst()
    }
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      authority = take(upTo: "/?#")
    }
    path = take(upTo: "?#")
    if rest.first == UInt8(ascii: "?") {
      rest = rest.dropFirst()
      query = take(upTo: "#")
    }
    if rest.first == UInt8(ascii: "#") { fragment = String(Substring(rest.dropFirst())) }
  }

  /// In lower case.
  var comparableScheme: String? { scheme.map { LinkText.lowercased($0) } }

  /// The host with nothing before or behind it, decoded, its case kept; nil when there is none, or a user or
  /// a port beside it.
  var bareHost: String? {
    guard let authority, !authority.utf8.contains(UInt8(ascii: "@")), !authority.isEmpty,
      !authority.utf8.contains(UInt8(ascii: ":"))
    else { return nil }
    return LinkText.unescaped(authority)
  }

  /// Whether the authority is one of these, in lower case: `pay.example.com`, or with a port. The port of
  /// https may be left out or not.
  func isAt(_ hosts: Set<String>) -> Bool {
    guard let authority, !authority.isEmpty else { return false }
    let place = LinkText.lowercased(authority)
    if hosts.contains(place) { return true }
    let port = ":443"
    return comparableScheme == "https" && place.hasSuffix(port)
      && hosts.contains(String(place.dropLast(port.count)))
  }

  /// What stands between the slashes of the path, decoded after it was split, so that `a%2Fb` stays one. One
  /// slash at the end does not count.
  /// - Returns: nil when a part is empty, `.` or `..`, too long, has control characters or cannot be decoded.
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

  /// The fields of the query in order, not decoded; the value is nil when there is no `=`.
  var fields: [(name: String, value: String?)] {
    guard let query, !query.isEmpty else { return [] }
    return query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { field in
      let parts = field.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      return (String(Substring(parts[0])), parts.count > 1 ? String(Substring(parts[1])) : nil)
    }
  }
}
