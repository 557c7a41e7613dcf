// The scheme under which an app takes links of its own (`exampleapp://…`), and the schemes that can never be
// one: those that run something, that fetch something, or that another program of the device answers. A
// value; any thread.

/// A URL scheme that an app may own.
///
/// The case is kept: an app may compare the scheme letter by letter, though RFC 3986 §3.1 says otherwise.
public struct CustomScheme: Sendable, Hashable, CustomStringConvertible {
  /// The longest scheme, in characters.
  public static let countMax = 63

  /// The scheme as it was written, without `:`; ASCII. It needs no escaping in a header or in HTML.
  public let text: String

  public var description: String { text }

  /// - Throws: `NameFault` for what is no scheme (RFC 3986 §3.1), is too long, or is no app's own.
  public init(_ text: String) throws(NameFault) {
    guard text.utf8.count <= Self.countMax, let first = text.utf8.first, ASCII.isLetter(first),
      text.utf8.allSatisfy({ ASCII.isLetterOrDigit($0) || "+.-".utf8.contains($0) })
    else {
      throw NameFault(
        "is not the scheme of an app, such as exampleapp (a letter followed by letters, digits, +, . and -; "
          + "at most \(Self.countMax) characters, without ://)")
    }
    let lower = text.lowercased()
    guard !Self.refused.contains(lower), !Self.refusedPrefixes.contains(where: lower.hasPrefix) else {
      throw NameFault("is a scheme that belongs to the device or the browser; use one of the app's own")
    }
    self.text = text
  }

  /// Whether a text names this scheme, whatever its case (RFC 3986 §3.1).
  public func isNamed(_ other: some StringProtocol) -> Bool { text.lowercased() == other.lowercased() }

  /// Schemes that a browser runs or reads itself, and those of the telephone, of mail and of shops.
  private static let refused: Set<String> = [
    // Code, and documents made of text.
    "javascript", "jscript", "livescript", "ecmascript", "mocha", "vbscript", "vbs", "data", "blob", "about",
    "view-source", "filesystem", "file", "jar", "mhtml", "wyciwyg", "srcdoc",
    // The network.
    "http", "https", "ws", "wss", "ftp", "ftps", "sftp", "feed", "urn", "ssh", "telnet", "smb", "ldap",
    "gopher",
    "news", "nntp", "magnet",
    // What a browser keeps for itself and its extensions.
    "chrome", "chrome-extension", "chrome-search", "moz-extension", "safari-extension",
    "safari-web-extension", "ms-browser-extension", "resource", "edge", "opera", "devtools",
    "googlechrome", "googlechromes", "firefox", "microsoft-edge", "x-safari-http", "x-safari-https",
    "search-ms",
    // What Android resolves on its own.
    "intent", "android-app", "android.resource", "content", "market", "geo",
    // What Apple's systems resolve on their own.
    "prefs", "app-prefs", "app-settings", "shortcuts", "workflow", "maps", "webcal", "calshow", "message",
    "imessage", "itunes", "x-apple-data-detectors",
    // What Windows resolves on its own.
    "res", "mk",
    // Telephone, messages and mail.
    "tel", "telprompt", "callto", "facetime", "facetime-audio", "facetime-prompt", "facetime-audio-prompt",
    "sip", "sips", "sms", "smsto", "mms", "mmsto",
    "mailto",
  ]

  /// Apple's shops (itms, itms-apps, itms-services and their like), and Microsoft's programs.
  private static let refusedPrefixes = ["itms", "ms-"]
}
