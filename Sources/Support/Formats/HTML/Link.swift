// URLs that a page may link to. Pure; thread-safe.

/// A URL that cannot be a script, whatever its parts are: a path on the same server, an absolute https URL,
/// an e-mail to an address, or one that opens an app.
public struct Link: Sendable, Hashable {
  /// The attribute's value before escaping.
  public let text: String

  /// A path on the same server.
  /// - Parameters:
  ///   - segments: the parts between the slashes, not encoded. Empty ones, `.` and `..` are omitted, because
  ///     they would change the path (RFC 3986 §5.2.4) or, as `//`, the server.
  ///   - query: names and values, not encoded; a nil value is omitted.
  public init(_ segments: String..., query: [(name: String, value: String?)] = [], fragment: String? = nil) {
    var text = segments.filter { !$0.isEmpty && $0 != "." && $0 != ".." }.map { "/" + Self.encoded($0) }
      .joined()
    if text.isEmpty { text = "/" }
    let fields = query.compactMap { name, value in value.map { "\(Self.encoded(name))=\(Self.encoded($0))" } }
    if !fields.isEmpty { text += "?" + fields.joined(separator: "&") }
    if let fragment { text += "#" + Self.encoded(fragment) }
    self.text = text
  }

  private init(text: String) { self.text = text }

  /// An anchor on the same page.
  public static func fragment(_ id: String) -> Link { Link(text: "#" + encoded(id)) }

  /// The page that the link is on, with its query.
  public static let samePage = Link(text: "")

  /// An e-mail to an address, with a subject (RFC 6068 §2).
  /// - Parameter address: as the configuration has checked it; its characters are encoded.
  public init(mailTo address: String, subject: String) {
    let parts = address.split(separator: "@", maxSplits: 1).map { Self.encoded(String($0)) }
    text = "mailto:\(parts.joined(separator: "@"))?subject=\(Self.encoded(subject))"
  }

  /// An absolute URL.
  /// - Returns: nil unless it begins with `https://`, has a host, and contains only characters that a URL may
  ///   contain.
  public init?(https text: String) {
    let scheme = "https://"
    guard text.utf8.starts(with: scheme.utf8), let first = text.utf8.dropFirst(scheme.utf8.count).first,
      PercentEncoding.Kept.unreserved.contains(first), text.utf8.count <= 2000,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}@'".utf8.contains($0) })
    else { return nil }
    self.text = text
  }

  /// A path on the same server with its query, as a browser sent it.
  /// - Returns: nil if it has a byte that a target must not contain, or would lead to another server.
  public init?(target: String) {
    guard RequestTarget.isPlain(target), let second = target.utf8.dropFirst().first ?? "?".utf8.first,
      second != UInt8(ascii: "/"), second != UInt8(ascii: "\\")
    else { return nil }
    text = target
  }

  /// A URL on the relay's public listener, from its origin and a request target.
  /// - Parameter target: begins with `/` and is kept byte for byte. The result is nil if it has a byte that a
  ///   target must not contain (RFC 9112 §3.2).
  public init?(_ origin: WebOrigin, target: String) {
    guard RequestTarget.isPlain(target) else { return nil }
    text = origin.text + target
  }

  /// The same URL with an app's custom scheme.
  public init?(_ scheme: CustomScheme, _ origin: WebOrigin, target: String) {
    guard RequestTarget.isPlain(target) else { return nil }
    text = "\(scheme.text)://\(origin.authority)\(target)"
  }

  /// An Android app, with a fallback URL if it is not installed.
  public init(_ intent: IntentURL) { text = intent.text }

  private static func encoded(_ text: String) -> String { PercentEncoding.encode(text) }
}
