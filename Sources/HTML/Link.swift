// Addresses that a page may lead to. Pure; any thread.

public import AppLinks

/// An address that cannot be a script, whatever it is made of: a path on the same server, a whole https one,
/// or one that opens an app.
public struct Link: Sendable, Hashable {
  /// As it stands in the attribute, before escaping.
  public let text: String

  /// A place on the same server.
  /// - Parameters:
  ///   - segments: what stands between the slashes, not encoded. Empty ones and those of dots alone, which
  ///     would lead elsewhere (RFC 3986 §5.2.4, and `//` to another server), are left out.
  ///   - query: names and values, not encoded; a value that is nil is left out.
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

  /// A place on the same page.
  public static func fragment(_ id: String) -> Link { Link(text: "#" + encoded(id)) }

  /// A whole address elsewhere.
  /// - Returns: nil unless it begins with `https://`, has a host, and has only characters that an address
  ///   has.
  public init?(https text: String) {
    let scheme = "https://"
    guard text.utf8.starts(with: scheme.utf8), let first = text.utf8.dropFirst(scheme.utf8.count).first,
      URLEscapes.isUnreserved(first), text.utf8.count <= 2000,
      text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}@'".utf8.contains($0) })
    else { return nil }
    self.text = text
  }

  /// A place in the relay's public face, given by its origin and a request target.
  /// - Parameter target: begins with `/`; it is kept byte for byte, and nil comes of one that has a byte that
  ///   no target has (RFC 9112 §3.2).
  public init?(_ origin: WebOrigin, target: String) {
    guard RequestTarget.isPlain(target) else { return nil }
    text = origin.text + target
  }

  /// The same place, under an app's own scheme.
  public init?(_ scheme: CustomScheme, _ origin: WebOrigin, target: String) {
    guard RequestTarget.isPlain(target) else { return nil }
    text = "\(scheme.text)://\(origin.authority)\(target)"
  }

  /// An app on Android, and where to go where it is missing.
  public init(_ intent: IntentURL) { text = intent.text }

  private static func encoded(_ text: String) -> String { URLEscapes.encoded(text) }
}
