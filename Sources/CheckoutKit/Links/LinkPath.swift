// What a link says, whichever way it came: the common ground of custom schemes and universal links. Pure; any
// thread.

public import Foundation

/// The part of a link that names a place in the app: `messages`, `1`.
///
/// `exampleapp://messages/1` and `https://www.example.com/messages/1` are the same path. Of a custom scheme
/// the host is the first segment, in lower case, because hosts have no case; everything behind it keeps its
/// case. Segments are split before they are decoded, so an id may hold a slash.
///
/// Read one with its subscript, which is nil behind the end:
///
/// ```swift
/// switch (path[0], path[1], path[2]) {
/// case ("messages", nil, nil): self = .messages
/// case ("messages", let id?, nil): self = .message(id)
/// default: return nil
/// }
/// ```
public struct LinkPath: Sendable, Hashable {
  /// What stands between the slashes, decoded.
  public let segments: [String]
  /// The query, decoded. Of several fields with one name it has the first; one without `=` is empty.
  public let query: [String: String]

  /// A path, to print a link of.
  public init(_ segments: String..., query: [String: String] = [:]) {
    self.init(segments: segments, query: query)
  }

  /// A path, to print a link of.
  public init(segments: [String], query: [String: String] = [:]) {
    self.segments = segments
    self.query = query
  }

  /// The segment at a place; nil behind the last.
  public subscript(index: Int) -> String? { segments.indices.contains(index) ? segments[index] : nil }

  /// Reads the path of a link.
  /// - Returns: nil for user information or a port beside a custom scheme's host, an empty segment (but for
  ///   one slash at the end), `.` and `..`, a part that has control characters or more than 1024 bytes, or
  ///   that cannot be decoded.
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
    // Browsers take dots away, escaped or not, with what stands before them (WHATWG URL §4.4).
    LinkText.isIdentifier(text) && text != "." && text != ".."
  }

  private static func isText(_ text: String) -> Bool { text.isEmpty || LinkText.isIdentifier(text) }

  /// Prints the link under a custom scheme. Whether an app reads it as this path is up to its schemes and
  /// hosts, which ``LinkRouter/url(for:scheme:)`` looks at.
  /// - Returns: nil when nobody could read it as this path: a scheme of the web, no segments, a first one
  ///   that is no host in lower case, or something that every ``LinkRouter`` refuses.
  public func url(scheme: String) -> URL? {
    guard let host = segments.first, LinkText.isScheme(scheme), !LinkReader.isWeb(scheme), isPrintable,
      LinkText.escaped(host) == host, LinkText.lowercased(host) == host
    else { return nil }
    return URL(string: "\(scheme)://\(host)\(text(of: segments.dropFirst()))")
  }

  /// Prints the universal link. Whether an app reads it is up to its hosts, which
  /// ``LinkRouter/url(for:host:)`` looks at.
  /// - Parameter host: as in the app's Associated Domains.
  /// - Returns: nil when nobody could read it as this path.
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
