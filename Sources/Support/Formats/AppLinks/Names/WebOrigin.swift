// The public origin of the relay: scheme, host and port. A value; thread-safe.

/// An origin (RFC 6454), the base of all absolute URLs. It comes from the configuration and never from a
/// request, because the client chooses the request's Host.
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
  /// `https`, or `http` on this machine; of a page also a WebView's own scheme.
  public let scheme: String
  /// In lower case; an IPv6 address with its brackets.
  public let host: String
  /// `host` or `host:port`.
  public let authority: String

  /// `https://pay.example.com`, without a trailing slash.
  public var text: String { "\(scheme)://\(authority)" }
  public var description: String { text }

  /// - Throws: `NameFault` unless the text is `https://host` or `https://host:port` (with or without a
  ///   trailing slash), or the same with `http://` for `localhost`, 127.0.0.1 or [::1].
  public init(_ text: String) throws(NameFault) {
    try self.init(parsing: text)
    guard scheme == "https" || scheme == "http" else { throw Self.shape }
    guard scheme == "https" || Self.loopback.contains(host) else { throw Self.insecure }
  }

  /// The origin of a page, as a browser or a WebView sends it in `Origin`.
  /// - Throws: `NameFault` unless the text is as above, also with `http://` for a name below `localhost`
  ///   (RFC 6761 §6.3; Tauri's pages have one), or with a WebView's own scheme: `capacitor://localhost`.
  public init(page text: String) throws(NameFault) {
    try self.init(parsing: text)
    guard !Self.opaque.contains(scheme) else {
      throw NameFault("is not an origin: the pages of this scheme send the origin null")
    }
    guard scheme != "http" || Self.loopback.contains(host) || host.hasSuffix(".localhost") else {
      throw Self.insecure
    }
  }

  private static let loopback = ["localhost", "127.0.0.1", "[::1]"]
  /// The origins of their URLs are opaque (https://url.spec.whatwg.org/#concept-url-origin).
  private static let opaque = ["about", "blob", "data", "file", "javascript"]
  private static let insecure = NameFault("must begin with https://: devices and browsers trust nothing else")

  private init(parsing text: String) throws(NameFault) {
    guard let separator = text.firstRange(of: "://") else { throw Self.shape }
    let scheme = text[..<separator.lowerBound].lowercased()
    var authority = text[separator.upperBound...].lowercased()
    if authority.last == "/" { authority.removeLast() }
    guard scheme.utf8.first.map(ASCII.isLetterOrDigit) == true,
      scheme.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "+-.".utf8.contains($0) })
    else { throw Self.shape }
    guard let host = Self.host(of: authority),
      host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy({ !$0.isEmpty })
    else { throw Self.shape }
    self.scheme = scheme
    self.host = host
    // The default port is omitted (RFC 6454 §6.2).
    let usual = ["https": ":443", "http": ":80"][scheme] ?? ":"
    self.authority = authority.hasSuffix(usual) ? String(authority.dropLast(usual.utf8.count)) : authority
  }

  private init(host: String) {
    (scheme, self.host, authority) = ("https", host, host)
  }

  /// Stands in for an origin that could not be read. No host can have its name (RFC 6761 §6.4).
  package static let placeholder = WebOrigin(host: "missing.invalid")

  /// The host of a `Host` field or of an authority, in lower case; nil when it is invalid.
  public static func host(of authority: String) -> String? {
    let authority = authority.lowercased()
    var host = Substring(authority)
    var port: Substring?
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[...end]
      let rest = authority[authority.index(after: end)...]
      guard rest.isEmpty || rest.first == ":" else { return nil }
      port = rest.isEmpty ? nil : rest.dropFirst()
      guard
        host.utf8.dropFirst().dropLast().allSatisfy({ HexDigit.value($0) != nil || ":.".utf8.contains($0) })
      else { return nil }
    } else {
      if let colon = authority.firstIndex(of: ":") {
        host = authority[..<colon]
        port = authority[authority.index(after: colon)...]
      }
      guard host.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "-.".utf8.contains($0) }),
        host.first != ".", host.first != "-"
      else { return nil }
    }
    guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
    if let port {
      guard let number = UInt16(port), number > 0, port.utf8.allSatisfy(ASCII.isDigit) else { return nil }
    }
    return String(host)
  }

  private static let shape = NameFault(
    "must be a scheme, a host and nothing else, such as https://pay.example.com or "
      + "https://pay.example.com:8443"
  )
}
