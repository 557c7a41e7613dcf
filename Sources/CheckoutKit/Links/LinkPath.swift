// The path and the query of a link, for custom schemes and universal links. Pure; thread-safe.

public import Foundation

/// The part of a link that names a place in the app: `messages`, `1`.
///
/// `exampleapp://messages/1` and `https://www.example.com/messages/1` are the same path. Under a custom
/// scheme the host is the first segment, in lower case, because hosts are case-insensitive; the rest keeps
/// its case. Segments are split before they are decoded, so an id may contain a slash.
///
/// Read one with its subscript, which returns nil past the end:
///
/// ```swift
/// switch (path[0], path[1], path[2]) {
/// case ("messages", nil, nil): self = .messages
/// case ("messages", let id?, nil): self = .message(id)
/// default: return nil
/// }
/// ```
public struct LinkPath: Sendable, Hashable {
  /// The parts between the slashes, decoded.
  public let segments: [String]
  /// The query, decoded. The first of several fields with one name counts; a field without `=` has an empty
  /// value.
  public let query: [String: String]

  /// Creates a path, to format a link from it.
  public init(_ segments: String..., query: [String: String] = [:]) {
    self.init(segments: segments, query: query)
  }

  /// Creates a path, to format a link from it.
  public init(segments: [String], query: [String: String] = [:]) {
    self.segments = segments
    self.query = query
  }

  /// The segment at an index; nil past the last.
  public subscript(index: Int) -> String? { segments.indices.contains(index) ? segments[index] : nil }

  /// Reads the path of a link.
  /// - Returns: nil for a custom scheme's host with user information or a port, an empty segment (except one
  ///   slash at the end), `.` or `..`, or a part that contains control characters, exceeds 1024 bytes or
  ///   cannot be decoded.
  init?(parts: URLParts, isHostFirst: Bool) {
    guard let rest = parts.segments else { return nil }
    var segments = rest
    if isHostFirst {
      guard let host = parts.bareHost.map({ LinkText.lowercased($0) }), Self.isSegment(host) else {
        return nil
      }
      segments.insert(host, at: 0)
    }
    var query: [String: String] = [:]
    for field in parts.fields where field.name != "" || field.value != nil {
      guard let name = LinkText.unescaped(field.name), let value = LinkText.unescaped(field.value ?? ""),
        Self.isText(name), Self.isText(value)
      else { return nil }
      if query[name] == nil { query[name] = value }
    }
    self.init(segments: segments, query: query)
  }

  static func isSegment(_ text: String) -> Bool {
    // Browsers remove dot segments, escaped or not, together with the segment before `..` (WHATWG URL §4.4).
    LinkText.isIdentifier(text) && text != "." && text != ".."
  }

  private static func isText(_ text: String) -> Bool { text.isEmpty || LinkText.isIdentifier(text) }

  /// Formats the link under a custom scheme. Whether an app reads it as this path depends on its schemes and
  /// hosts, which ``LinkRouter/url(for:scheme:)`` checks.
  /// - Returns: nil when no app can read it as this path: a web scheme, no segments, a first segment that is
  ///   not a lower-case host, or a part that every ``LinkRouter`` refuses.
  public func url(scheme: String) -> URL? {
    guard let host = segments.first, LinkText.isScheme(scheme), !LinkReader.isWeb(scheme), isPrintable,
      LinkText.escaped(host) == host, LinkText.lowercased(host) == host
    else { return nil }
    return URL(string: "\(scheme)://\(host)\(text(of: segments.dropFirst()))")
  }

  /// Formats the universal link. Whether an app reads it depends on its hosts, which
  /// ``LinkRouter/url(for:host:)`` checks.
  /// - Parameter host: as in the app's Associated Domains.
  /// - Returns: nil when no app can read it as this path.
  public func url(host: String) -> URL? {
    guard isPrintable, !host.isEmpty, host.utf8.allSatisfy({ !"/?#@%".utf8.contains($0) && $0 > 0x20 })
    else { return nil }
    return URL(string: "https://\(host)\(text(of: segments[...]))")
  }

  private var isPrintable: Bool {
    segments.allSatisfy(Self.isSegment)
      && query.allSatisfy { Self.isText($0.key) && Self.isText($0.value) }
  }

  private func text(of segments: ArraySlice<String>) -> String {
    let path = segments.map { "/" + LinkText.escaped($0) }.joined()
    guard !query.isEmpty else { return path.isEmpty ? "/" : path }
    let fields = query.sorted { $0.key < $1.key }
      .map { "\(LinkText.escaped($0.key))=\(LinkText.escaped($0.value))" }
    return "\(path.isEmpty ? "/" : path)?\(fields.joined(separator: "&"))"
  }
}
