// The parts of a URL as written. Matching compares each character with patterns, so the parts are not
// normalized. A value; thread-safe.

/// A web URL, or a path on a known host.
public struct LinkURL: Sendable, Equatable {
  /// The maximum length in bytes.
  public static let byteCountMax = 8_192

  /// In lower case; nil for a path only.
  public let scheme: String?
  /// In lower case, without user and port; nil for a path only.
  public let host: String?
  /// Begins with `/`, unless it is empty.
  public let path: String
  /// The part after the `?`, without the fragment; empty if there is none.
  public let query: String
  public let fragment: String

  /// - Throws: `NameFault` unless the text is a path that begins with `/`, or an http or https URL.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.byteCountMax else {
      throw NameFault("is longer than the \(Self.byteCountMax) bytes that are read")
    }
    guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
      throw NameFault("has a control character in it")
    }
    var rest = Substring(text)
    if text.utf8.first == UInt8(ascii: "/"), !text.utf8.starts(with: "//".utf8) {
      scheme = nil
      host = nil
    } else {
      guard let separator = text.firstRange(of: "://") else {
        throw NameFault(
          "is not a whole address, such as https://pay.example.com/path, nor a path, such as /path")
      }
      let scheme = text[..<separator.lowerBound].lowercased()
      guard scheme == "https" || scheme == "http" else {
        throw NameFault("is not a web address: only https (and http) addresses can open an app by its files")
      }
      rest = rest[separator.upperBound...]
      let authority = rest.prefix { !"/?#".contains($0) }
      rest = rest[authority.endIndex...]
      let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
      guard let host = WebOrigin.host(of: String(place)) else {
        throw NameFault("has no usable host")
      }
      self.scheme = scheme
      self.host = host.last == "." ? String(host.dropLast()) : host
    }
    let hash = rest.firstIndex(of: "#")
    fragment = hash.map { String(rest[rest.index(after: $0)...]) } ?? ""
    rest = hash.map { rest[..<$0] } ?? rest
    let mark = rest.firstIndex(of: "?")
    query = mark.map { String(rest[rest.index(after: $0)...]) } ?? ""
    path = String(mark.map { rest[..<$0] } ?? rest)
  }
}

// MARK: - IntentURL

// The URL with which a page on Android opens an app: `intent:` (developer.chrome.com, "Android Intents with
// Chrome"). A value; thread-safe. No argument can add another field.

/// An `intent:` URL: the https URL for the app, and the app that receives it.
///
/// Android splits the text after the last `#` at each `;`, and then decodes each value
/// (android.content.Intent.parseUri). A browser that does not find the app opens `S.browser_fallback_url`.
public struct IntentURL: Sendable, Hashable, CustomStringConvertible {
  /// The maximum length of the request target, in bytes.
  public static let targetByteCountMax = 8_192

  /// The text for an attribute before escaping, or for a header: ASCII without blanks, quotes, `<` and `>`.
  public let text: String

  public var description: String { text }

  /// - Parameters:
  ///   - origin: the origin of the URL.
  ///   - target: the path and the query, kept byte for byte; begins with `/`.
  ///   - package: the app that opens it.
  ///   - action: the intent's action; nil for Android's default, `android.intent.action.VIEW`.
  ///   - fallback: the absolute URL to open if the app is not installed.
  ///   - endsWithSemicolon: whether a `;` follows the word `end`, which Android ignores.
  /// - Returns: nil when the target is too long, is not a path, or has a byte that no browser sends in one: a
  ///   control character, a blank, `"`, `#`, `<`, `>`, or a byte beyond ASCII.
  public init?(
    origin: WebOrigin, target: String, package: PackageName, action: String? = nil, fallback: String? = nil,
    endsWithSemicolon: Bool = false
  ) {
    guard RequestTarget.isPlain(target), target.utf8.count <= Self.targetByteCountMax else { return nil }
    var text = "intent://\(origin.authority)\(target)#Intent;scheme=\(origin.scheme);"
    if let action { text += "action=\(PercentEncoding.encode(action));" }
    text += "package=\(PercentEncoding.encode(package.text));"
    if let fallback { text += "S.browser_fallback_url=\(PercentEncoding.encode(fallback));" }
    self.text = text + (endsWithSemicolon ? "end;" : "end")
  }
}

// MARK: - RequestTarget

// The request targets that may be copied unchanged. Pure; thread-safe.

/// The rule for targets that are copied byte for byte into an attribute, a header or an `intent:` URL.
public enum RequestTarget {
  /// Whether a text is a path, with or without a query, of bytes that browsers send unescaped. They send
  /// `{ } | ^ ' ;`, the backtick and the backslash in a query (WHATWG URL, query percent-encode set). They
  /// never send a control character, a blank, `"`, `<`, `>`, `#` or a byte beyond ASCII, with which a target
  /// could end the attribute or header.
  public static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.first == UInt8(ascii: "/")
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>#".utf8.contains($0) }
  }
}
